import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AppendNews, createAppendFile } from '../../../src/session/records/append-file.ts';
import { type AppendFs, diskAppendFs } from '../../../src/session/records/append-fs.ts';

/** A disk that counts what is open. */
function countingDisk() {
  let text = '';
  let isOpen = 0;
  const fs: AppendFs = {
    open: async () => {
      isOpen += 1;
      return {
        endsClean: true,
        write: async (more) => {
          text += more;
        },
        sync: async () => undefined,
        close: async () => {
          isOpen -= 1;
        },
      };
    },
  };
  return { fs, text: () => text, isOpen: () => isOpen };
}

test('what is told after the end is written, and leaves no file open that nobody would close', async () => {
  const disk = countingDisk();
  const file = createAppendFile('session.jsonl', disk.fs, () => undefined);
  await file.append('one\n');
  expect(disk.isOpen()).toBe(1);
  const closed = file.close();
  const late = [file.append('two\n'), closed.then(() => file.append('three\n'))];
  await Promise.all([closed, ...late]);
  expect([disk.text(), disk.isOpen()]).toEqual(['one\ntwo\nthree\n', 0]);
});

const BIG = `${'x'.repeat(3_000_000)}\n`;

test.each<[string, (path: string, folder: string) => Promise<void>, string, readonly string[]]>([
  ['the file is deleted', (path) => rm(path), `one\n${BIG}two\nthree\n`, ['restored']],
  ['its folder is deleted', (_, folder) => rm(folder, { recursive: true }), `one\n${BIG}two\nthree\n`, ['restored']],
  ['its folder is moved away', (_, folder) => rename(folder, `${folder}-old`), `one\n${BIG}two\nthree\n`, ['restored']],
  [
    'another file takes its place',
    async (path) => {
      await writeFile(`${path}.repaired`, 'repaired');
      await rename(`${path}.repaired`, path);
    },
    'repaired\ntwo\nthree\n',
    [],
  ],
])('when %s, every line is on disk again with the next one', async (_, happen, text, told) => {
  const home = await mkdtemp(join(tmpdir(), 'ouro-append-'));
  const [folder, path] = [join(home, 'sessions'), join(home, 'sessions', 's.jsonl')];
  const news: string[] = [];
  const file = createAppendFile(path, diskAppendFs, ({ what }) => void news.push(what));
  await file.append('one\n');
  await file.append(BIG);
  await happen(path, folder);
  await file.append('two\n');
  await file.append('three\n');
  await file.close();
  expect((await readFile(path, 'utf8')) === text).toBe(true);
  expect(news).toEqual(told);
  await rm(home, { recursive: true });
});

test('as long as a deleted file cannot be written anew, what it held is kept', async () => {
  const home = await mkdtemp(join(tmpdir(), 'ouro-append-'));
  const [folder, path] = [join(home, 'sessions'), join(home, 'sessions', 's.jsonl')];
  const news: AppendNews[] = [];
  const file = createAppendFile(path, diskAppendFs, (one) => void news.push(one));
  await file.append('one\n');
  await rm(folder, { recursive: true });
  await writeFile(folder, 'in the way');
  await file.append('two\n');
  expect(news).toMatchObject([{ what: 'failed' }]);
  await rm(folder);
  await mkdir(folder);
  await file.append('three\n');
  await file.close();
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\nthree\n');
  expect(news.slice(1)).toEqual([{ what: 'restored' }, { what: 'works' }]);
  await rm(home, { recursive: true });
});
