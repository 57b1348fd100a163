import { expect, test } from 'vitest';
import type { Message } from '../../src/contracts/message.ts';
import { admitReceivedBlock, ensureUniqueMessageId } from '../../src/engine/streaming-reply-state.ts';
import { userSays } from '../support/loop/scripted.ts';

const reply = (id: string, callId: string): Message => ({
  role: 'assistant',
  id,
  model: 'a',
  blocks: [{ type: 'tool_use', id: callId, name: 'Echo', input: {} }],
});
const prompt = userSays('go');
const given = { type: 'tool_use', id: 'toolu_1', name: 'Echo', input: {} } as const;

/** What becomes of the id of a message and of a call that were both given before. */
function idsIn(history: readonly Message[]) {
  const facts = { history, newId: () => 'fresh' };
  const block = admitReceivedBlock(given, new Map(), facts);
  return [ensureUniqueMessageId('msg_1', [], facts), block?.type === 'tool_use' ? block.id : undefined];
}

test('ids stay unique as a conversation grows, is rewound, and starts anew', () => {
  const first = reply('msg_1', 'toolu_1');
  expect(idsIn([prompt])).toEqual(['msg_1', 'toolu_1']);
  expect(idsIn([prompt, first])).toEqual(['fresh', 'toolu_fresh']);
  expect(idsIn([prompt, first, reply('msg_2', 'toolu_2')])).toEqual(['fresh', 'toolu_fresh']);
  expect(idsIn([prompt, reply('msg_2', 'toolu_2')])).toEqual(['msg_1', 'toolu_1']);
  expect(idsIn([first])).toEqual(['fresh', 'toolu_fresh']);
  expect(idsIn([])).toEqual(['msg_1', 'toolu_1']);
});
