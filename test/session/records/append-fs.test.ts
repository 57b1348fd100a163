import { beforeEach, expect, test } from 'vitest';
import type { AppendFs } from '../../../src/lib/files/append-fs.ts';
import { parseSessionRecords } from '../../../src/session/records/parse-session-records.ts';
import { rebuildSession } from '../../../src/session/records/rebuild-session.ts';
import { someOf } from '../../support/runs.ts';
import { createTempFolder } from '../../support/temp-folder.ts';
import { buildConversation, openTest, plain } from '../conversation-events.ts';

let home = '';
beforeEach(async () => {
  home = createTempFolder();
});

const { events, messages } = buildConversation([
  {
    prompt: 'list the files',
    replies: [
      { text: 'I look.', calls: 2, fate: 'kept' },
      { text: 'Not this.', calls: 1, fate: 'tombstoned' },
      { text: 'Done.', calls: 0, fate: 'kept' },
    ],
  },
  {
    prompt: 'and é again',
    replies: [
      { text: 'Sure.', calls: 1, fate: 'kept' },
      { text: 'So.', calls: 0, fate: 'kept' },
    ],
  },
]);

type Operation = 'open' | 'write' | 'sync' | 'close';

/** A disk in memory whose n-th operation fails, as often as it is told to, after taking part of what it was given. */
function failingDisk(code: string, from: number, times: number, share: number) {
  let text = '';
  let count = 0;
  const failed: Operation[] = [];
  function attempt(operation: Operation): void {
    count += 1;
    if (count < from || count >= from + times) return;
    failed.push(operation);
    throw Object.assign(new Error(`${code}: it does not work`), { code });
  }
  const fs: AppendFs = {
    open: async () => {
      attempt('open');
      return {
        endsWithNewline: text === '' || text.endsWith('\n'),
        write: async (more) => {
          const before = text;
          text += more.slice(0, Math.floor(more.length * share));
          attempt('write');
          text = before + more;
        },
        sync: async () => attempt('sync'),
        close: async () => attempt('close'),
      };
    },
  };
  return { fs, text: () => text, failed: () => failed, count: () => count };
}

async function play(disk: ReturnType<typeof failingDisk>) {
  const { transcript, reported } = openTest({ ouroHome: home, fs: disk.fs });
  for (const event of events) await transcript.recordEvent(event);
  await transcript.close();
  return { reported, waiting: transcript.countPending() };
}

async function operations(): Promise<number> {
  const disk = failingDisk('', Number.POSITIVE_INFINITY, 0, 0);
  await play(disk);
  return disk.count();
}

test.each(
  someOf([
    ['ENOSPC', 1, 0.5],
    ['EIO', 3, 0],
    ['EACCES', 1, 1],
  ]),
)('%s at any operation, %d times: reported once, nothing lost, nothing duplicated', async (code, times, share) => {
  for (let at = 1; at <= (await operations()) - 1; at += 1) {
    const disk = failingDisk(code, at, times, share);
    const { reported, waiting } = await play(disk);
    const { records } = parseSessionRecords(disk.text());
    const kept = plain(rebuildSession(records).messages);
    // What fails at the very end has no later write that could bring it after.
    if (waiting === 0) expect(kept).toEqual(messages);
    else expect(at).toBeGreaterThan((await operations()) - times - 2);
    expect(new Set(records.map(({ uuid }) => uuid)).size).toBe(records.length);
    if (disk.failed().some((operation) => operation !== 'close')) {
      expect(reported.filter((words) => words.includes(`could not be saved (${code}`)).length).toBeGreaterThan(0);
    }
  }
});

test('a disk that never works is reported once, lines stay in memory, and work continues', async () => {
  const disk = failingDisk('ENOSPC', 1, Number.POSITIVE_INFINITY, 0);
  const { reported, waiting } = await play(disk);
  expect(reported).toEqual([expect.stringMatching(/could not be saved \(ENOSPC.*free some space/)]);
  expect(waiting).toBeGreaterThan(10);
});

test('a disk that works again gets everything, and that is reported', async () => {
  const disk = failingDisk('ENOSPC', 4, 12, 0.3);
  const { reported, waiting } = await play(disk);
  expect(waiting).toBe(0);
  expect(reported).toEqual([expect.stringContaining('could not be saved'), 'info: The session is being saved again.']);
  expect(plain(rebuildSession(parseSessionRecords(disk.text()).records).messages)).toEqual(messages);
});
