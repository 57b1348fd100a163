import { expect, test } from 'vitest';
import type { Message } from '../../../src/contracts/message.ts';
import { resumedItems } from '../../../src/ui/history/resumed-items.ts';

const turn = (at: number): readonly Message[] => [
  { role: 'user', id: `u${at}`, origin: 'prompt', blocks: [{ type: 'text', text: `prompt ${at}` }] },
  {
    role: 'assistant',
    id: `m${at}`,
    model: 'sonnet-5',
    blocks: [
      { type: 'text', text: `answer ${at}` },
      { type: 'tool_use', id: `c${at}`, name: 'Bash', input: { command: 'ls -la\nmore' } },
    ],
  },
  {
    role: 'user',
    id: `r${at}`,
    origin: 'results',
    blocks: [{ type: 'tool_result', tool_use_id: `c${at}`, content: 'no', is_error: at % 2 === 1 }],
  },
];

test('a resumed session shows its last two turns, and says how many are before them', () => {
  const items = resumedItems([0, 1, 2, 3].flatMap(turn));
  expect(items.map((item) => item.kind)).toEqual(['notice', 'prompt', 'shown', 'tools', 'prompt', 'shown', 'tools']);
  expect(items[0]).toMatchObject({ text: '… 2 earlier turns (ctrl+o)' });
  expect(items[3]).toMatchObject({ entries: [{ title: 'ls -la', state: { ending: { status: 'done' } } }] });
  expect(items[6]).toMatchObject({ entries: [{ state: { ending: { status: 'failed', text: 'no' } } }] });
});

test('a new session shows nothing', () => {
  expect(resumedItems([])).toEqual([]);
});

test('a conversation that was stopped in its answer says where it was cut off, and how it goes on', () => {
  const stopped: readonly Message[] = [
    { role: 'user', id: 'u', origin: 'prompt', blocks: [{ type: 'text', text: 'why?' }] },
    { role: 'assistant', id: 'm', model: 'sonnet-5', blocks: [{ type: 'text', text: 'Because of', cut: true }] },
    { role: 'user', id: 'i', origin: 'interrupt', blocks: [{ type: 'text', text: '[stopped]' }] },
  ];
  expect(resumedItems(stopped).slice(1)).toEqual([
    { kind: 'shown', markdown: 'Because of' },
    { kind: 'notice', level: 'warn', text: 'The answer was cut off here.' },
    { kind: 'stopped', hint: 'It was stopped here. Say what to do, or press enter to go on.' },
  ]);
});

test('a call that was refused says by whom, in their words', () => {
  const call = (id: string): Message => ({
    role: 'assistant',
    id: `m-${id}`,
    model: 'x',
    blocks: [{ type: 'tool_use', id, name: 'Bash', input: { command: 'npm install' } }],
  });
  const answered: Message = {
    role: 'user',
    id: 'r',
    origin: 'results',
    blocks: ['a', 'b', 'c'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'no', is_error: true })),
  };
  const refusal = { tool: 'Bash', input: {}, trace: ['asked', 'The answer was no: use pnpm'] };
  const refusals = [
    { ...refusal, callId: 'a', reason: 'use pnpm\nplease' },
    { ...refusal, callId: 'b', reason: 'The user refused this call. Ask what they would rather have.' },
    { ...refusal, callId: 'c', reason: 'A rule denies it.', trace: ['a rule'] },
  ];
  const items = resumedItems([call('a'), call('b'), call('c'), answered], { refusals });
  const words = items.flatMap((item) =>
    item.kind === 'tools' ? item.entries.map(({ state }) => state.status === 'ended' && state.ending.text) : [],
  );
  expect(words).toEqual(['you refused: use pnpm', 'you refused', 'not allowed: A rule denies it.']);
});
