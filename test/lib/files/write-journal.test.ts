import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { recordTemporaryFile, recoverUnfinishedWrites, writeInPlace } from '../../../src/lib/files/write-journal.ts';
import { getProcessIdentity } from '../../../src/lib/processes/process-info.ts';
import { runs } from '../../support/runs.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

let base = '';
let folder = '';
beforeEach(async () => {
  base = createTempFolder();
  folder = join(base, 'unfinished');
  await mkdir(folder);
});

const dead = { ...getProcessIdentity(), pid: spawnSync('true').pid, startTime: '1' };

async function left(what: object, ...contents: readonly Buffer[]): Promise<void> {
  await writeFile(
    join(folder, 'x'),
    Buffer.concat([Buffer.from(`${JSON.stringify({ ...dead, ...what })}\n`), ...contents]),
  );
}

test('an in-place write cut off at any byte by a kill is reverted; completed and later ones stay', async () => {
  const content = fc.uint8Array({ maxLength: 40, max: 3 }).map((bytes) => Buffer.from(bytes));
  await fc.assert(
    fc.asyncProperty(content, content, fc.double({ min: 0, max: 1, noNaN: true }), async (old, fresh, part) => {
      const target = join(base, 'f');
      const head = Math.floor(part * fresh.length);
      const half = Buffer.concat([fresh.subarray(0, head), old.subarray(head)]);
      const states = [
        [half, half.equals(fresh) ? fresh : old],
        [fresh, fresh],
        [Buffer.concat([fresh, Buffer.from('theirs')]), Buffer.concat([fresh, Buffer.from('theirs')])],
      ] as const;
      for (const [now, wanted] of states) {
        await writeFile(target, now);
        await left({ target, oldBytes: old.length }, old, fresh);
        recoverUnfinishedWrites(folder);
        expect(await readFile(target)).toEqual(wanted);
        expect(await readdir(folder)).toEqual([]);
      }
    }),
    runs(100),
  );
});

test('a temporary file of a killed process is removed, one of a running process or another machine stays', async () => {
  const draft = join(base, '.0123.tmp');
  await writeFile(draft, 'half');
  const done = recordTemporaryFile(folder, draft);
  recoverUnfinishedWrites(folder);
  expect(await readFile(draft, 'utf8')).toBe('half');
  done();
  await left({ draft, host: 'elsewhere' });
  recoverUnfinishedWrites(folder);
  expect(await readFile(draft, 'utf8')).toBe('half');
  await left({ draft });
  recoverUnfinishedWrites(folder);
  expect(await readdir(base)).toEqual(['unfinished']);
  expect(await readdir(folder)).toEqual([]);
});

test('a partial journal entry is removed, and a failing write restores the old content', async () => {
  await writeFile(join(folder, 'torn'), '{"pid":');
  recoverUnfinishedWrites(folder);
  const target = join(base, 'f');
  await writeFile(target, 'old');
  writeInPlace(folder, target, Buffer.from('newer'));
  expect([await readFile(target, 'utf8'), await readdir(folder)]).toEqual(['newer', []]);
  expect(() => writeInPlace(folder, join(base, 'missing'), Buffer.from('x'))).toThrow('ENOENT');
});
