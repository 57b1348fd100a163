import type { AgentEvent } from '../../contracts/event.ts';
import { isJsonObject, type JsonObject } from '../../contracts/json.ts';
import { joinTextBlocks } from '../../contracts/message.ts';

/** Converts events of sub-agents and background shells into task lines. */
type TaskLineWriter = { formatEvent(event: AgentEvent): readonly JsonObject[] };

type Background = Extract<AgentEvent, { type: 'background' }>;

const NO_USAGE = { total_tokens: 0, tool_uses: 0, duration_ms: 0 };

/** Creates the writer of task lines. */
export function createStreamJsonTaskWriter(now: () => Date): TaskLineWriter {
  /** Description the model gave each call, by call id. */
  const titles = new Map<string, string>();
  /** Running background tasks, by id. */
  const background = new Map<string, JsonObject>();

  function formatBackgroundEvent({ id, callId, kind, state, ...event }: Background): readonly JsonObject[] {
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
    // The start and end of a sub-agent are reported from its own events.
    if (kind === 'agent') return [changed];
    const task = { type: 'system', task_id: id, tool_use_id: callId };
    if (isStart) return [changed, { ...task, subtype: 'task_started', description, ...type, is_backgrounded: true }];
    const { words: summary = description, outputPath: output_file = '' } = event;
    return [{ ...task, subtype: 'task_notification', status: state, summary, output_file }, changed];
  }

  const formatSubagentEvent = createSubagentFormatter(now, {
    getTitle: (callId) => titles.get(callId),
    isInBackground: (agentId) => background.has(agentId),
  });

  return {
    formatEvent(event) {
      if (event.type === 'background') return formatBackgroundEvent(event);
      if (event.type === 'subagent') return formatSubagentEvent(event);
      if (event.type === 'block_end' && event.block.type === 'tool_use') {
        const { id, input } = event.block;
        if (isJsonObject(input) && typeof input.description === 'string') titles.set(id, input.description);
      }
      return [];
    },
  };
}

type SubagentEvent = Extract<AgentEvent, { type: 'subagent' }>;

type Progress = {
  tokens: number;
  calls: number;
  isStartReported: boolean;
  readonly startedAtMs: number;
  readonly runId: string;
};

type TaskInfo = {
  /** Returns the description the model gave the call. */
  readonly getTitle: (callId: string) => string | undefined;
  readonly isInBackground: (agentId: string) => boolean;
};

/** Creates a converter from sub-agent events to task lines: started, progress, ended. Each run has its own run id. */
function createSubagentFormatter(
  now: () => Date,
  { getTitle, isInBackground }: TaskInfo,
): (event: SubagentEvent) => readonly JsonObject[] {
  const progressByAgent = new Map<string, Progress>();
  /** The calling sub-agent by call id, and the nesting depth by agent id. */
  const callers = new Map<string, string>();
  const depths = new Map<string, number>();

  function startRun(agentId: string): Progress {
    const startedAtMs = now().getTime();
    // A resumed sub-agent is the same task with another run id; run ids of one agent sort by time.
    const runId = `${agentId}.${new Date(startedAtMs).toISOString()}`;
    const progress = { tokens: 0, calls: 0, isStartReported: false, startedAtMs, runId };
    progressByAgent.set(agentId, progress);
    return progress;
  }

  function createStartFields({ agentId, callId, agentType }: SubagentEvent, prompt: string): JsonObject {
    const parent = callers.get(callId);
    const depth = (depths.get(parent ?? '') ?? 0) + 1;
    depths.set(agentId, depth);
    return {
      subagent_type: agentType,
      subtype: 'task_started',
      description: getTitle(callId) ?? agentType,
      task_type: 'local_agent',
      is_backgrounded: isInBackground(agentId),
      spawn_depth: depth,
      ...(parent === undefined ? {} : { parent_task_id: parent }),
      prompt,
    };
  }

  return (event) => {
    const { agentId, callId, event: inner } = event;
    const nowMs = now().getTime();
    const progress = progressByAgent.get(agentId) ?? startRun(agentId);
    const task = { type: 'system', task_id: agentId, run_id: progress.runId, tool_use_id: callId };
    switch (inner.type) {
      case 'block_end':
        if (inner.block.type === 'tool_use') callers.set(inner.block.id, agentId);
        return [];
      case 'message_end': {
        if (progress.isStartReported || inner.message.role !== 'user') return [];
        progress.isStartReported = true;
        return [{ ...task, ...createStartFields(event, joinTextBlocks(inner.message.blocks, '\n')) }];
      }
      case 'turn_end':
        progress.tokens += (inner.usage?.inputTokens ?? 0) + (inner.usage?.outputTokens ?? 0);
        return [];
      case 'tool_start': {
        progress.calls += 1;
        const usage = formatUsage(progress, nowMs - progress.startedAtMs);
        const activity = { description: inner.title, last_tool_name: inner.tool };
        return [{ ...task, subagent_type: event.agentType, subtype: 'task_progress', ...activity, usage }];
      }
      case 'agent_end': {
        progressByAgent.delete(agentId);
        const { reason, words } = inner.terminal;
        const isStopped = reason === 'aborted_streaming' || reason === 'aborted_tools';
        const status = reason === 'completed' ? 'completed' : isStopped ? 'stopped' : 'failed';
        const summary = words ?? getTitle(callId) ?? event.agentType;
        const usage = formatUsage(progress, inner.durationMs);
        return [{ ...task, subtype: 'task_notification', status, summary, output_file: '', usage }];
      }
      default:
        return [];
    }
  };
}

function formatUsage({ tokens, calls }: Progress, durationMs: number): JsonObject {
  return { total_tokens: tokens, tool_uses: calls, duration_ms: durationMs };
}
