import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import { createAnswerJournal, readOpenWords } from '../../../src/session/running/answer-journal.ts';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ouro-test-'));
});

afterEach(() => rm(dir, { recursive: true, force: true }));

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
  const soon = (work: () => void) => void waiting.push(work);
  const { hear } = createAnswerJournal({ dir, sessionId: 's', left: 'nothing', soon });
  return { waiting, hear };
}

test('words wait for the timer however many come; what is then open is on disk, and gone when the reply has ended', async () => {
  const { hear, waiting } = journal();
  await hear(begins);
  await hear(ends(0));
  for (let at = 0; at < 1000; at += 1) await hear(grows('ab', 1));
  expect(waiting).toHaveLength(1);
  expect(await readOpenWords(dir, 's')).toBeUndefined();
  waiting.pop()?.();
  const open = { messageId: 'm', model: 'a', index: 1, text: 'ab'.repeat(1000) };
  await vi.waitUntil(async () => (await readOpenWords(dir, 's')) !== undefined);
  expect(await readOpenWords(dir, 's')).toEqual(open);
  await hear(over);
  expect(await readdir(join(dir, 'answers'))).toEqual([]);
});

test('words whose block has ended are not written any more', async () => {
  const { hear, waiting } = journal();
  await hear(begins);
  await hear(grows('all of it'));
  await hear(ends(0));
  waiting.pop()?.();
  await hear(over);
  expect(await readdir(dir)).toEqual([]);
});
