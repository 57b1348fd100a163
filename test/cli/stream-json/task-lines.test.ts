import { expect, test } from 'vitest';
import { createStreamJsonTaskWriter } from '../../../src/cli/stream-json/task-lines.ts';
import type { AgentEvent } from '../../../src/contracts/event.ts';

const said = (text: string): AgentEvent => ({
  type: 'message_end',
  message: { role: 'user', id: text, origin: 'prompt', blocks: [{ type: 'text', text }] },
});
const called = (id: string): AgentEvent => ({
  type: 'block_end',
  messageId: 'm',
  index: 0,
  model: 'x',
  block: { type: 'tool_use', id, name: 'Task', input: { description: `for ${id}` } },
});
const END: AgentEvent = { type: 'agent_end', terminal: { reason: 'completed' }, durationMs: 1 };
const of = (agentId: string, callId: string, event: AgentEvent): AgentEvent => ({
  type: 'subagent',
  callId,
  agentId,
  agentType: 'Explore',
  event,
});

test('a continued sub-agent keeps its task id in a later run, and a nested one names its parent', () => {
  let ms = Date.UTC(2030, 0, 1);
  const tick = () => {
    ms += 1000;
    return ms;
  };
  const tasks = createStreamJsonTaskWriter(() => new Date(tick()));
  const events = [
    called('toolu_1'),
    of('ann', 'toolu_1', { type: 'agent_start' }),
    of('ann', 'toolu_1', said('look')),
    of('ann', 'toolu_1', called('toolu_2')),
    called('toolu_2'),
    of('bob', 'toolu_2', said('closer')),
    of('ann', 'toolu_1', END),
    of('ann', 'toolu_1', said('again')),
    of('ann', 'toolu_1', said('and hurry')),
  ];
  const lines = events.flatMap(tasks.formatEvent);
  const started = lines.filter(({ subtype }) => subtype === 'task_started');
  expect(started).toMatchObject([
    { task_id: 'ann', tool_use_id: 'toolu_1', description: 'for toolu_1', spawn_depth: 1, prompt: 'look' },
    { task_id: 'bob', tool_use_id: 'toolu_2', parent_task_id: 'ann', spawn_depth: 2, prompt: 'closer' },
    { task_id: 'ann', tool_use_id: 'toolu_1', spawn_depth: 1, prompt: 'again' },
  ]);
  const [first, , second] = started.map(({ run_id }) => String(run_id));
  expect(first).not.toBe(second);
  expect([second, first].toSorted()).toEqual([first, second]);
  expect(lines.find(({ subtype }) => subtype === 'task_notification')?.run_id).toBe(first);
});
