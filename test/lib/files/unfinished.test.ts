import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { finishUnfinished, noteDraft, writeInPlace } from '../../../src/lib/files/unfinished.ts';
import { markOf } from '../../../src/lib/processes/process-mark.ts';
import { runs } from '../../support/runs.ts';

let base = '';
let folder = '';
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'ouro-unfinished-'));
  folder = join(base, 'unfinished');
  await mkdir(folder);
});
afterEach(() => rm(base, { recursive: true, force: true }));

const dead = { ...markOf(), pid: spawnSync('true').pid, startTime: '1' };

async function left(what: object, ...contents: readonly Buffer[]): Promise<void> {
  await writeFile(
    join(folder, 'x'),
    Buffer.concat([Buffer.from(`${JSON.stringify({ ...dead, ...what })}\n`), ...contents]),
  );
}

test('a write in place that a kill cut off at any byte is taken back; a finished one and a later one of others stay', async () => {
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
        finishUnfinished(folder);
        expect(await readFile(target)).toEqual(wanted);
        expect(await readdir(folder)).toEqual([]);
      }
    }),
    runs(100),
  );
});

test('a draft of a killed process goes, one of a living process and one of another machine stay', async () => {
  const draft = join(base, '.0123.tmp');
  await writeFile(draft, 'half');
  const done = noteDraft(folder, draft);
  finishUnfinished(folder);
  expect(await readFile(draft, 'utf8')).toBe('half');
  done();
  await left({ draft, host: 'elsewhere' });
  finishUnfinished(folder);
  expect(await readFile(draft, 'utf8')).toBe('half');
  await left({ draft });
  finishUnfinished(folder);
  expect(await readdir(base)).toEqual(['unfinished']);
  expect(await readdir(folder)).toEqual([]);
});

test('a note that a kill tore is cleared away, and a write that fails brings the old content back', async () => {
  await writeFile(join(folder, 'torn'), '{"pid":');
  finishUnfinished(folder);
  const target = join(base, 'f');
  await writeFile(target, 'old');
  writeInPlace(folder, target, Buffer.from('newer'));
  expect([await readFile(target, 'utf8'), await readdir(folder)]).toEqual(['newer', []]);
  expect(() => writeInPlace(folder, join(base, 'missing'), Buffer.from('x'))).toThrow('ENOENT');
});
