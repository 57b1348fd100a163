import type { AgentEvent } from '../../contracts/event.ts';
import { isJsonObject, type JsonObject } from '../../contracts/json.ts';
import { createSubagentLines } from './subagent-lines.ts';

/** Sub-agents, and shells in the background, as hosts list them: started, what they do now, how they ended. */
export type TaskLines = { linesOf(event: AgentEvent): readonly JsonObject[] };

type Background = Extract<AgentEvent, { type: 'background' }>;

const NO_USAGE = { total_tokens: 0, tool_uses: 0, duration_ms: 0 };

export function createTaskLines(now: () => Date): TaskLines {
  /** What each call of the Task tool is about, in the model's words. */
  const titles = new Map<string, string>();
  /** What goes on while no call waits for it, by id. */
  const background = new Map<string, JsonObject>();

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

  const subagentLines = createSubagentLines(now, {
    titleOf: (callId) => titles.get(callId),
    isBehind: (agentId) => background.has(agentId),
  });

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
