import { expect, test } from 'vitest';
import {
  buildSubAgentRegistry,
  findSubAgent,
  NO_TOKEN_USAGE,
  reduceSubAgent,
  type SubAgent,
  updateSubAgent,
} from '../../src/session/sub-agents.ts';

const agent = (id: string, more: Partial<SubAgent> = {}): SubAgent => ({
  id,
  kind: 'Explore',
  title: id,
  callId: `toolu_${id}`,
  depth: 1,
  state: 'completed',
  startedAtMs: 0,
  calls: 0,
  tokens: 0,
  usage: NO_TOKEN_USAGE,
  line: '',
  text: '',
  ...more,
});

test('the main agent can message all sub-agents, a sub-agent only its descendants', () => {
  const all = [
    agent('a', { name: 'ann' }),
    agent('b', { parent: 'a', name: 'bob' }),
    agent('c', { parent: 'b' }),
    agent('d', { name: 'bob' }),
    agent('lost', { parent: 'nobody' }),
  ];
  const roster = all.reduce(updateSubAgent, buildSubAgentRegistry([]));
  const meant = (wanted: string, of?: string) => findSubAgent(roster, wanted, of)?.id;
  expect(['a', 'ann', 'b', 'bob', 'c', 'lost', 'Bob', ''].map((wanted) => meant(wanted))).toEqual([
    'a',
    'a',
    'b',
    'd',
    'c',
    'lost',
    undefined,
    undefined,
  ]);
  expect(['a', 'b', 'bob', 'c', 'd', 'lost'].map((wanted) => meant(wanted, 'a'))).toEqual([
    undefined,
    'b',
    'b',
    'c',
    undefined,
    undefined,
  ]);
  expect(['a', 'b', 'c'].map((wanted) => meant(wanted, 'b'))).toEqual([undefined, undefined, 'c']);
});

test('its line is the current activity or the last text; blank text changes neither', () => {
  const said = (text: string) =>
    ({
      type: 'message_end',
      message: { role: 'assistant', id: 'm', model: 'x', blocks: [{ type: 'text', text }] },
    }) as const;
  const call = { callId: 'c', input: { command: 'pwd' }, messageId: 'm' };
  const events = [
    { type: 'tool_start', tool: 'Bash', title: 'pwd', ...call },
    {
      type: 'turn_end',
      turn: 1,
      model: 'x',
      durationMs: 1,
      usage: { inputTokens: 3, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0 },
    },
    said('It is 42.\nSo there.'),
    said(''),
  ] as const;
  const steps = events.map((_, at) => events.slice(0, at + 1).reduce(reduceSubAgent, agent('a')));
  expect(steps.map(({ line, calls, tokens }) => [line, calls, tokens])).toEqual([
    ['$ pwd', 1, 0],
    ['$ pwd', 1, 7],
    ['It is 42. So there.', 1, 7],
    ['It is 42. So there.', 1, 7],
  ]);
});
