import { readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { parseSessionRecords } from '../../../src/session/records/parse-session-records.ts';
import { readTranscript } from '../../../src/session/records/read-transcript.ts';
import { rebuildSession } from '../../../src/session/records/rebuild-session.ts';
import { createTempFolder } from '../../support/temp-folder.ts';
import { buildConversation, exchanges, memoryDisk, openTest, plain } from '../conversation-events.ts';

let home = '';
beforeEach(async () => {
  home = createTempFolder();
});

const short = buildConversation([
  {
    prompt: 'list the files',
    replies: [
      { text: 'I look.', calls: 2, fate: 'kept' },
      { text: 'Done.', calls: 0, fate: 'kept' },
    ],
  },
]);

async function recordAll(events: typeof short.events, fs = memoryDisk()) {
  const { transcript, reported } = openTest({ ouroHome: home, fs: fs.fs });
  for (const event of events) await transcript.recordEvent(event);
  await transcript.close();
  return { text: fs.text(), reported, transcript };
}

test('a recorded conversation is rebuilt exactly', async () => {
  await fc.assert(
    fc.asyncProperty(exchanges, async (said) => {
      const { events, messages } = buildConversation(said);
      const { text } = await recordAll(events);
      const { records, damaged } = parseSessionRecords(text);
      expect(damaged).toBe(0);
      expect(plain(rebuildSession(records).messages)).toEqual(messages);
    }),
    { numRuns: 60 },
  );
});

test('nothing is stored before the first user message, and everything before it afterwards', async () => {
  const { transcript } = openTest({ ouroHome: home });
  await transcript.append({ type: 'system', subtype: 'live', data: { model: 'm' } });
  const path = transcript.path ?? '';
  await expect(stat(path)).rejects.toThrow('ENOENT');
  for (const event of short.events.slice(0, 1)) await transcript.recordEvent(event);
  const { records } = await readTranscript(path);
  expect(records.map(({ type }) => type)).toEqual(['system', 'user']);
  await transcript.close();
});

test('a user message is stored when its record resolves', async () => {
  const { transcript } = openTest({ ouroHome: home });
  const [prompt] = short.events;
  if (prompt !== undefined) await transcript.recordEvent(prompt);
  expect(await readFile(transcript.path ?? '', 'utf8')).toContain('list the files');
  await transcript.close();
});

test('what arrives after the end is dropped: another run may own the session by then', async () => {
  const disk = memoryDisk();
  const { transcript, text } = await recordAll(short.events, disk);
  await transcript.append({ type: 'title', title: 'Late', by: 'model' });
  for (const event of short.events) await transcript.recordEvent(event);
  expect(disk.text()).toBe(text);
});

test('files and folders are private', async () => {
  const { transcript } = openTest({ ouroHome: home });
  for (const event of short.events) await transcript.recordEvent(event);
  await transcript.close();
  const path = transcript.path ?? '';
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
  expect((await stat(join(home, 'projects'))).mode & 0o777).toBe(0o700);
});

test('a planted symlink is not followed and the refusal is reported', async () => {
  const first = openTest({ ouroHome: home }).transcript;
  for (const event of short.events) await first.recordEvent(event);
  await first.close();
  const path = first.path ?? '';
  const other = join(home, 'other');
  await writeFile(other, '');
  await rm(path);
  await symlink(other, path);
  const { transcript, reported } = openTest({ ouroHome: home });
  for (const event of short.events) await transcript.recordEvent(event);
  await transcript.close();
  expect(await readFile(other, 'utf8')).toBe('');
  expect(reported).toHaveLength(1);
});

test('an in-memory session writes nothing', async () => {
  const { transcript } = openTest({ ouroHome: home, persistence: 'memory' });
  for (const event of short.events) await transcript.recordEvent(event);
  await transcript.close();
  expect(transcript.path).toBeUndefined();
  await expect(stat(join(home, 'projects'))).rejects.toThrow('ENOENT');
});

test('a disk that fails at any one write is reported once and loses nothing', async () => {
  const all = (await recordAll(short.events)).text.trim().split('\n').length;
  for (let n = 1; n <= all + 1; n += 1) {
    for (const upTo of [0, 1, 40, 100_000]) {
      const disk = memoryDisk((write) => (write === n ? upTo : undefined));
      const { text, reported, transcript } = await recordAll(short.events, disk);
      const { records, damaged } = parseSessionRecords(text);
      expect(plain(rebuildSession(records).messages)).toEqual(short.messages);
      expect(damaged).toBe(0);
      expect(reported.filter((line) => line.startsWith('error')).length).toBeLessThanOrEqual(1);
      expect(transcript.countPending()).toBe(0);
    }
  }
});

test('a disk that fails for ever is reported once, and pending lines are counted', async () => {
  const { reported, transcript, text } = await recordAll(
    short.events,
    memoryDisk(() => 0),
  );
  expect(text.trim()).toBe('');
  expect(reported).toEqual([
    expect.stringContaining('The session could not be saved (ENOSPC: no space left on device)'),
  ]);
  expect(transcript.countPending()).toBeGreaterThan(5);
});

test('lines added during a write are not lost', async () => {
  const { transcript } = openTest({ ouroHome: home });
  await transcript.recordEvent(short.events[0] ?? { type: 'agent_start' });
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

test('a sub-agent has its own file', async () => {
  const { transcript } = openTest({ ouroHome: home });
  for (const event of short.events) {
    await transcript.recordEvent({ type: 'subagent', callId: 'c', agentId: 'a1', agentType: 'general', event });
  }
  await transcript.close();
  const { records } = await readTranscript(join(transcript.folder, 'subagents', 'agent-a1.jsonl'));
  expect(plain(rebuildSession(records).messages)).toEqual(short.messages);
  await expect(stat(transcript.path ?? '')).rejects.toThrow('ENOENT');
});

test('the title is written again when it is far from the end of the file', async () => {
  const { transcript } = openTest({ ouroHome: home, title: { type: 'title', title: 'My name', by: 'person' } });
  const [prompt] = short.events;
  if (prompt !== undefined) await transcript.recordEvent(prompt);
  await transcript.append({ type: 'system', subtype: 'filler', data: { text: 'x'.repeat(9_000) } });
  await transcript.recordEvent({ type: 'agent_end', terminal: { reason: 'completed' }, durationMs: 1 });
  await transcript.close();
  const { records } = await readTranscript(transcript.path ?? '');
  expect(records.at(-1)).toMatchObject({ type: 'title', title: 'My name' });
});
