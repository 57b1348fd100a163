import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Message } from '../../../src/contracts/message.ts';
import type { SessionRecordBody } from '../../../src/contracts/session.ts';
import { dropBeforeLostRewind } from '../../../src/session/records/omit-middle.ts';
import { readRecentSessionRecords, readTranscript } from '../../../src/session/records/read-transcript.ts';
import { rebuildSession } from '../../../src/session/records/rebuild-session.ts';
import { createSessionRecord } from '../../../src/session/records/session-record-writer.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

let folder = '';
beforeAll(async () => {
  folder = createTempFolder();
});

let written = 0;
async function fileOf(lines: readonly string[]): Promise<string> {
  written += 1;
  const path = join(folder, `${written}.jsonl`);
  await writeFile(path, lines.map((line) => `${line}\n`).join(''));
  return path;
}

const newId = () => crypto.randomUUID();
function line(body: SessionRecordBody, uuid: string = newId()): string {
  const head = { uuid, parentUuid: null, sessionId: 's', timestamp: '', cwd: '/', version: '0' };
  return JSON.stringify(createSessionRecord(body, head));
}

const typed = (id: string, text = id): Message & { role: 'user' } => ({
  role: 'user',
  id,
  origin: 'prompt',
  blocks: [{ type: 'text', text }],
});
const prompt = (id: string, text?: string) => line({ type: 'user', message: typed(id, text) }, id);
const title = (words: string) => line({ type: 'title', title: words, by: 'person' }, words);
const rewind = (messageId: string) => line({ type: 'system', subtype: 'rewind', data: { messageId } });
const boundary = (id: string, messages: readonly Message[] = []) => {
  const mark = { role: 'boundary', id, trigger: 'manual', preTokens: 1 } as const;
  return line({ type: 'compact-boundary', boundary: mark, messages, postTokens: 1 }, id);
};
/** A turn: what is said, a call of so many bytes, and its result. */
const turn = (id: string, bytes = 1_000): readonly string[] => {
  const block = { type: 'tool_use', id: `c-${id}`, name: 'Read', input: {} } as const;
  const result = { type: 'tool_result', tool_use_id: block.id, content: 'x'.repeat(bytes) } as const;
  const answers: Message & { role: 'user' } = { role: 'user', id: `a-${id}`, origin: 'results', blocks: [] };
  return [
    line({ type: 'assistant', messageId: id, model: 'm', index: 0, block }),
    line({ type: 'reply', messageId: id, model: 'm', kept: [0], stopReason: 'tool_use' }),
    line({ type: 'result', callId: block.id, tool: 'Read', result, status: 'done', durationMs: 1 }),
    line({ type: 'user', message: answers, results: [block.id] }),
  ];
};

const messagesIn = (records: Parameters<typeof rebuildSession>[0]) =>
  rebuildSession(records).messages.map(({ id }) => id);

test('everything after the last boundary is read, before it only small records', async () => {
  const path = await fileOf([
    prompt('old'),
    title('named'),
    boundary('b1'),
    prompt('mid'),
    boundary('b2'),
    prompt('new'),
  ]);
  const idsOf = ({ records }: { readonly records: readonly { readonly uuid: string }[] }) =>
    records.map(({ uuid }) => uuid);
  expect(idsOf(await readTranscript(path))).toEqual(['old', 'named', 'b1', 'mid', 'b2', 'new']);
  expect(idsOf(await readRecentSessionRecords(path, 'from-boundary'))).toEqual(['named', 'b2', 'new']);
});

const LONG = [
  ...[prompt('p1'), ...turn('t1'), title('named'), prompt('p2'), prompt('long', 'x'.repeat(9_000)), ...turn('t2')],
  ...[...turn('t3', 3_000), prompt('p3'), ...turn('t4'), ...turn('t5')],
];
const ROOM = 6_000;

test('of a conversation that is too long its end is read from a prompt on, plus earlier prompts', async () => {
  const { records, omittedBytes } = await readRecentSessionRecords(await fileOf(LONG), 'from-boundary', {
    maxBytes: ROOM,
  });
  const gone = `left-out-${omittedBytes}`;
  expect(messagesIn(records)).toEqual(['p1', 'p2', gone, 'p3', 't4', 'a-t4', 't5', 'a-t5']);
  expect(rebuildSession(records).title?.title).toBe('named');
  expect(rebuildSession(records).dangling).toEqual([]);
});

test.each([
  ['short', () => 'go on'],
  ['long', () => 'x'.repeat(7_000)],
  ['of three bytes a character', () => '字'.repeat(1_500)],
  ['mixed', (index: number) => 'y'.repeat((index * 37) % 5_000)],
])('of many earlier prompts, %s, the newest 200,000 characters are kept', async (_, textOf) => {
  const prompts = Array.from({ length: 4_000 }, (_, index) => prompt(`p${index}`, textOf(index)));
  const { records } = await readRecentSessionRecords(await fileOf([...prompts, ...turn('last')]), 'all', {
    maxBytes: 2_000,
  });
  let chars = 0;
  const newest = prompts.map((text) => JSON.parse(text).message).toReversed();
  const kept = newest.filter(({ id }) => records.some((record) => record.type === 'user' && record.message.id === id));
  for (const message of kept) chars += JSON.stringify(message).length;
  expect(kept).toEqual(newest.slice(newest.indexOf(kept[0]), newest.indexOf(kept[0]) + kept.length));
  expect(newest.indexOf(kept[0])).toBeLessThan(20);
  expect(chars).toBeGreaterThan(192_000);
  expect(chars).toBeLessThanOrEqual(202_000);
});

test('if one prompt led to all of that, it starts with a reply', async () => {
  const lines = [prompt('p1'), ...turn('t1', 9_000), ...turn('t2'), ...turn('t3')];
  const { records, omittedBytes } = await readRecentSessionRecords(await fileOf(lines), 'from-boundary', {
    maxBytes: 3_000,
  });
  expect(messagesIn(records)).toEqual(['p1', `left-out-${omittedBytes}`, 't3', 'a-t3']);
});

test('a summary stays, whatever is omitted after it', async () => {
  const lines = [prompt('p0'), boundary('b', [typed('kept')]), ...LONG];
  const { records, omittedBytes } = await readRecentSessionRecords(await fileOf(lines), 'from-boundary', {
    maxBytes: ROOM,
  });
  const gone = `left-out-${omittedBytes}`;
  expect(messagesIn(records)).toEqual(['kept', 'p1', 'p2', gone, 'p3', 't4', 'a-t4', 't5', 'a-t5']);
});

test('pages of NUL bytes lose no record', async () => {
  const { records, omittedBytes } = await readRecentSessionRecords(
    await fileOf([...LONG, '\0'.repeat(1_000_000)]),
    'all',
    {
      maxBytes: 100_000,
    },
  );
  expect([omittedBytes, messagesIn(records).length]).toEqual([
    0,
    messagesIn((await readTranscript(await fileOf(LONG))).records).length,
  ]);
});

test('after a rewind to an earlier prompt, later messages are gone', async () => {
  const { records } = await readRecentSessionRecords(await fileOf([...LONG, rewind('p2'), prompt('p4')]), 'all', {
    maxBytes: ROOM,
  });
  expect(messagesIn(records)).toEqual(['p1', 'p4']);
});

test('after a rewind to an omitted message, nothing earlier is left', async () => {
  const { records } = await readRecentSessionRecords(await fileOf([...LONG, rewind('long'), prompt('p4')]), 'all', {
    maxBytes: ROOM,
  });
  expect(rebuildSession(records).incomplete).toBe(true);
  expect(messagesIn(dropBeforeLostRewind(records))).toEqual(['p4']);
});
