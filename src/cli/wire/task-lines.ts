import type { AgentEvent } from '../../contracts/event.ts';
import { isJsonObject, type JsonObject } from '../../contracts/json.ts';

/** Sub-agents, and shells in the background, as hosts list them: started, what they do now, how they ended. */
export type TaskLines = { linesOf(event: AgentEvent): readonly JsonObject[] };

type Background = Extract<AgentEvent, { type: 'background' }>;

type Work = { tokens: number; calls: number; readonly startedAtMs: number };

const NO_USAGE = { total_tokens: 0, tool_uses: 0, duration_ms: 0 };

export function createTaskLines(now: () => Date): TaskLines {
  /** What each call of the Task tool is about, in the model's words. */
  const titles = new Map<string, string>();
  const works = new Map<string, Work>();
  /** What goes on while no call waits for it, by id. */
  const background = new Map<string, JsonObject>();

  function usageOf({ tokens, calls }: Work, durationMs: number): JsonObject {
    return { total_tokens: tokens, tool_uses: calls, duration_ms: durationMs };
  }

  function subagentLines(event: Extract<AgentEvent, { type: 'subagent' }>): readonly JsonObject[] {
    const inner = event.event;
    const nowMs = now().getTime();
    const work = works.get(event.agentId) ?? { tokens: 0, calls: 0, startedAtMs: nowMs };
    works.set(event.agentId, work);
    const task = { type: 'system', task_id: event.agentId, tool_use_id: event.callId };
    const kind = { subagent_type: event.agentType };
    switch (inner.type) {
      case 'agent_start': {
        const description = titles.get(event.callId) ?? event.agentType;
        const is_backgrounded = background.has(event.agentId);
        const started = { subtype: 'task_started', description, task_type: 'local_agent', is_backgrounded };
        return [{ ...task, ...kind, ...started }];
      }
      case 'turn_end':
        work.tokens += (inner.usage?.inputTokens ?? 0) + (inner.usage?.outputTokens ?? 0);
        return [];
      case 'tool_start': {
        work.calls += 1;
        const usage = usageOf(work, nowMs - work.startedAtMs);
        const doing = { description: inner.title, last_tool_name: inner.tool };
        return [{ ...task, ...kind, subtype: 'task_progress', ...doing, usage }];
      }
      case 'agent_end': {
        works.delete(event.agentId);
        const { reason, words } = inner.terminal;
        const stopped = reason === 'aborted_streaming' || reason === 'aborted_tools';
        const status = reason === 'completed' ? 'completed' : stopped ? 'stopped' : 'failed';
        const summary = words ?? titles.get(event.callId) ?? event.agentType;
        const usage = usageOf(work, inner.durationMs);
        return [{ ...task, subtype: 'task_notification', status, summary, output_file: '', usage }];
      }
      default:
        return [];
    }
  }

  function backgroundLines({ id, callId, kind, state, ...event }: Background): readonly JsonObject[] {
    const description = titles.get(callId) ?? event.title;
    const type = { task_type: kind === 'agent' ? 'local_agent' : 'local_bash' };
    if (state === 'printed') {
      const line = { subtype: 'task_progress', description, last_line: event.words ?? '' };
      return [{ type: 'system', task_id: id, tool_use_id: callId, ...line, usage: NO_USAGE }];
    }
    const isStart = state === 'started';
    if (isStart) background.set(id, { task_id: id, ...type, description });
    else background.delete(id);
    const changed = { type: 'system', subtype: 'background_tasks_changed', tasks: [...background.values()] };
    // A sub-agent begins and ends in events of its own.
    if (kind === 'agent') return [changed];
    const task = { type: 'system', task_id: id, tool_use_id: callId };
    if (isStart) return [changed, { ...task, subtype: 'task_started', description, ...type, is_backgrounded: true }];
    const { words: summary = description, outputPath: output_file = '' } = event;
    return [{ ...task, subtype: 'task_notification', status: state, summary, output_file }, changed];
  }

  return {
    linesOf(event) {
      if (event.type === 'background') return backgroundLines(event);
      if (event.type === 'subagent') return subagentLines(event);
      if (event.type === 'block_end' && event.block.type === 'tool_use') {
        const { id, input } = event.block;
        if (isJsonObject(input) && typeof input.description === 'string') titles.set(id, input.description);
      }
      return [];
    },
  };
}
