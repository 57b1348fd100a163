import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readRecords } from '../../../src/session/records/read-records.ts';
import { readTranscript } from '../../../src/session/records/read-transcript.ts';
import { rebuild } from '../../../src/session/records/rebuild.ts';
import { exchanges, memoryDisk, openTest, plain, tellConversation } from '../conversation-events.ts';

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ouro-transcript-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const short = tellConversation([
  {
    prompt: 'list the files',
    replies: [
      { text: 'I look.', calls: 2, fate: 'kept' },
      { text: 'Done.', calls: 0, fate: 'kept' },
    ],
  },
]);

async function recordAll(events: typeof short.events, fs = memoryDisk()) {
  const { transcript, told } = openTest({ ouroHome: home, fs: fs.fs });
  for (const event of events) await transcript.record(event);
  await transcript.close();
  return { text: fs.text(), told, transcript };
}

test('a recorded conversation is rebuilt as it was, word for word', async () => {
  await fc.assert(
    fc.asyncProperty(exchanges, async (said) => {
      const { events, messages } = tellConversation(said);
      const { text } = await recordAll(events);
      const { records, damaged } = readRecords(text);
      expect(damaged).toBe(0);
      expect(plain(rebuild(records).messages)).toEqual(messages);
    }),
    { numRuns: 60 },
  );
});

test('nothing is on disk before the first user message, and everything before it afterwards', async () => {
  const { transcript } = openTest({ ouroHome: home });
  await transcript.append({ type: 'system', subtype: 'live', data: { model: 'm' } });
  const path = transcript.path ?? '';
  await expect(stat(path)).rejects.toThrow('ENOENT');
  for (const event of short.events.slice(0, 1)) await transcript.record(event);
  const { records } = await readTranscript(path);
  expect(records.map(({ type }) => type)).toEqual(['system', 'user']);
  await transcript.close();
});

test('a user message is on disk when its record resolves', async () => {
  const { transcript } = openTest({ ouroHome: home });
  const [prompt] = short.events;
  if (prompt !== undefined) await transcript.record(prompt);
  expect(await readFile(transcript.path ?? '', 'utf8')).toContain('list the files');
  await transcript.close();
});

test('files are private and folders too', async () => {
  const { transcript } = openTest({ ouroHome: home });
  for (const event of short.events) await transcript.record(event);
  await transcript.close();
  const path = transcript.path ?? '';
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
  expect((await stat(join(home, 'projects'))).mode & 0o777).toBe(0o700);
});

test('a planted link is not followed and the refusal is told', async () => {
  const first = openTest({ ouroHome: home }).transcript;
  for (const event of short.events) await first.record(event);
  await first.close();
  const path = first.path ?? '';
  const other = join(home, 'other');
  await writeFile(other, '');
  await rm(path);
  await symlink(other, path);
  const { transcript, told } = openTest({ ouroHome: home });
  for (const event of short.events) await transcript.record(event);
  await transcript.close();
  expect(await readFile(other, 'utf8')).toBe('');
  expect(told).toHaveLength(1);
});

test('a session in memory writes nothing', async () => {
  const { transcript } = openTest({ ouroHome: home, persistence: 'memory' });
  for (const event of short.events) await transcript.record(event);
  await transcript.close();
  expect(transcript.path).toBeUndefined();
  await expect(stat(join(home, 'projects'))).rejects.toThrow('ENOENT');
});

test('a disk that fails at any one write is told once and loses nothing', async () => {
  const all = (await recordAll(short.events)).text.trim().split('\n').length;
  for (let n = 1; n <= all + 1; n += 1) {
    for (const upTo of [0, 1, 40, 100_000]) {
      const disk = memoryDisk((write) => (write === n ? upTo : undefined));
      const { text, told, transcript } = await recordAll(short.events, disk);
      const { records, damaged } = readRecords(text);
      expect(plain(rebuild(records).messages)).toEqual(short.messages);
      expect(damaged).toBe(0);
      expect(told.filter((line) => line.startsWith('error')).length).toBeLessThanOrEqual(1);
      expect(transcript.waiting()).toBe(0);
    }
  }
});

test('a disk that fails for ever is told once, and what waits is counted', async () => {
  const { told, transcript, text } = await recordAll(
    short.events,
    memoryDisk(() => 0),
  );
  expect(text.trim()).toBe('');
  expect(told).toEqual([expect.stringContaining('The session could not be saved (ENOSPC: no space left on device)')]);
  expect(transcript.waiting()).toBeGreaterThan(5);
});

test('lines that come while a write is under way are not lost', async () => {
  const { transcript } = openTest({ ouroHome: home });
  await transcript.record(short.events[0] ?? { type: 'agent_start' });
  const writes: Promise<void>[] = [];
  for (let at = 0; at < 50; at += 1) {
    writes.push(transcript.append({ type: 'title', title: `${at}`, by: 'person' }));
    if (at % 7 === 0) await Promise.resolve();
    if (at % 11 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(writes);
  await transcript.close();
  const { records } = await readTranscript(transcript.path ?? '');
  const titles = records.flatMap((record) => (record.type === 'title' ? [record.title] : []));
  expect(titles).toEqual(Array.from({ length: 50 }, (_, at) => `${at}`));
});

test('a sub-agent has a file of its own', async () => {
  const { transcript } = openTest({ ouroHome: home });
  for (const event of short.events) {
    await transcript.record({ type: 'subagent', callId: 'c', agentId: 'a1', agentType: 'general', event });
  }
  await transcript.close();
  const { records } = await readTranscript(join(transcript.folder, 'subagents', 'agent-a1.jsonl'));
  expect(plain(rebuild(records).messages)).toEqual(short.messages);
  await expect(stat(transcript.path ?? '')).rejects.toThrow('ENOENT');
});

test('the title is written again when it has drifted from the end of the file', async () => {
  const { transcript } = openTest({ ouroHome: home, title: { type: 'title', title: 'My name', by: 'person' } });
  const [prompt] = short.events;
  if (prompt !== undefined) await transcript.record(prompt);
  await transcript.append({ type: 'system', subtype: 'filler', data: { text: 'x'.repeat(9_000) } });
  await transcript.record({ type: 'agent_end', terminal: { reason: 'completed' }, durationMs: 1 });
  await transcript.close();
  const { records } = await readTranscript(transcript.path ?? '');
  expect(records.at(-1)).toMatchObject({ type: 'title', title: 'My name' });
});
