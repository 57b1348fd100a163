import type { AgentEvent } from '../../contracts/event.ts';
import type { JsonObject } from '../../contracts/json.ts';

type SubagentEvent = Extract<AgentEvent, { type: 'subagent' }>;

type Work = { tokens: number; calls: number; isTold: boolean; readonly startedAtMs: number; readonly runId: string };

type Sources = {
  /** What the call is about, in the model's words. */
  readonly titleOf: (callId: string) => string | undefined;
  /** Does nobody wait for it? */
  readonly isBehind: (agentId: string) => boolean;
};

/** What hosts are told of sub-agents: started, what they do now, how they ended; each run of one under an id of its own. */
export function createSubagentLines(
  now: () => Date,
  { titleOf, isBehind }: Sources,
): (event: SubagentEvent) => readonly JsonObject[] {
  const works = new Map<string, Work>();
  /** The sub-agent whose call it is, and how deep each one is. */
  const callers = new Map<string, string>();
  const depths = new Map<string, number>();

  function begun(agentId: string): Work {
    const startedAtMs = now().getTime();
    // A sub-agent that goes on is the same task in another run; the runs of one sort by their ids.
    const runId = `${agentId}.${new Date(startedAtMs).toISOString()}`;
    const work = { tokens: 0, calls: 0, isTold: false, startedAtMs, runId };
    works.set(agentId, work);
    return work;
  }

  function startLine({ agentId, callId, agentType }: SubagentEvent, prompt: string): JsonObject {
    const parent = callers.get(callId);
    const depth = (depths.get(parent ?? '') ?? 0) + 1;
    depths.set(agentId, depth);
    return {
      subagent_type: agentType,
      subtype: 'task_started',
      description: titleOf(callId) ?? agentType,
      task_type: 'local_agent',
      is_backgrounded: isBehind(agentId),
      spawn_depth: depth,
      ...(parent === undefined ? {} : { parent_task_id: parent }),
      prompt,
    };
  }

  return (event) => {
    const { agentId, callId, event: inner } = event;
    const nowMs = now().getTime();
    const work = works.get(agentId) ?? begun(agentId);
    const task = { type: 'system', task_id: agentId, run_id: work.runId, tool_use_id: callId };
    switch (inner.type) {
      case 'block_end':
        if (inner.block.type === 'tool_use') callers.set(inner.block.id, agentId);
        return [];
      case 'message_end': {
        if (work.isTold || inner.message.role !== 'user') return [];
        work.isTold = true;
        const words = inner.message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
        return [{ ...task, ...startLine(event, words.join('\n')) }];
      }
      case 'turn_end':
        work.tokens += (inner.usage?.inputTokens ?? 0) + (inner.usage?.outputTokens ?? 0);
        return [];
      case 'tool_start': {
        work.calls += 1;
        const usage = usageOf(work, nowMs - work.startedAtMs);
        const doing = { description: inner.title, last_tool_name: inner.tool };
        return [{ ...task, subagent_type: event.agentType, subtype: 'task_progress', ...doing, usage }];
      }
      case 'agent_end': {
        works.delete(agentId);
        const { reason, words } = inner.terminal;
        const stopped = reason === 'aborted_streaming' || reason === 'aborted_tools';
        const status = reason === 'completed' ? 'completed' : stopped ? 'stopped' : 'failed';
        const summary = words ?? titleOf(callId) ?? event.agentType;
        const usage = usageOf(work, inner.durationMs);
        return [{ ...task, subtype: 'task_notification', status, summary, output_file: '', usage }];
      }
      default:
        return [];
    }
  };
}

function usageOf({ tokens, calls }: Work, durationMs: number): JsonObject {
  return { total_tokens: tokens, tool_uses: calls, duration_ms: durationMs };
}
