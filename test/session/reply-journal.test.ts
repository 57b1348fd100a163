import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/event.ts';
import { createReplyJournal, readUnfinishedReplyText } from '../../src/session/reply-journal.ts';
import { createTempFolder } from '../support/temp-folder.ts';

let dir: string;

beforeEach(async () => {
  dir = createTempFolder();
});

const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
const begins: AgentEvent = { type: 'message_start', messageId: 'm', role: 'assistant', model: 'a', usage };
const grows = (delta: string, index = 0): AgentEvent => {
  return { type: 'message_update', messageId: 'm', index, kind: 'text', delta };
};
const ends = (index: number): AgentEvent => {
  return { type: 'block_end', messageId: 'm', index, model: 'a', block: { type: 'text', text: 'x' } };
};
const over: AgentEvent = { type: 'turn_end', turn: 1, model: 'a', durationMs: 1 };

function journal() {
  const waiting: (() => void)[] = [];
  const schedule = (save: () => void) => void waiting.push(save);
  const { onEvent } = createReplyJournal({ dir, sessionId: 's', leftover: 'nothing', schedule });
  return { waiting, receive: onEvent };
}

test('deltas are written at intervals; the open reply is stored, and removed when it has ended', async () => {
  const { receive, waiting } = journal();
  await receive(begins);
  await receive(ends(0));
  for (let at = 0; at < 1000; at += 1) await receive(grows('ab', 1));
  expect(waiting).toHaveLength(1);
  expect(await readUnfinishedReplyText(dir, 's')).toBeUndefined();
  waiting.pop()?.();
  const open = { messageId: 'm', model: 'a', index: 1, text: 'ab'.repeat(1000) };
  await expect.poll(() => readUnfinishedReplyText(dir, 's')).toBeDefined();
  expect(await readUnfinishedReplyText(dir, 's')).toEqual(open);
  await receive(over);
  expect(await readdir(join(dir, 'answers'))).toEqual([]);
});

test('deltas of an ended block are not written', async () => {
  const { receive, waiting } = journal();
  await receive(begins);
  await receive(grows('all of it'));
  await receive(ends(0));
  waiting.pop()?.();
  await receive(over);
  expect(await readdir(dir)).toEqual([]);
});
