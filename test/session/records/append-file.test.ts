import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AppendFs, diskAppendFs } from '../../../src/lib/files/append-fs.ts';
import { type AppendFileStatus, createAppendFile } from '../../../src/session/records/append-file.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

/** A disk that counts what is open. */
function countingDisk() {
  let text = '';
  let isOpen = 0;
  const fs: AppendFs = {
    open: async () => {
      isOpen += 1;
      return {
        endsWithNewline: true,
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

test('a record after the end is written, and leaves no file open', async () => {
  const disk = countingDisk();
  const file = createAppendFile('session.jsonl', disk.fs, () => undefined);
  await file.append('one\n');
  expect(disk.isOpen()).toBe(1);
  const closed = file.close();
  const late = [file.append('two\n'), closed.then(() => file.append('three\n'))];
  await Promise.all([closed, ...late]);
  expect([disk.text(), disk.isOpen()]).toEqual(['one\ntwo\nthree\n', 0]);
});

test('a file is not closed while it is written to the disk', async () => {
  const { promise: synced, resolve: endSync } = Promise.withResolvers<void>();
  const steps: string[] = [];
  const fs: AppendFs = {
    open: async () => ({
      endsWithNewline: true,
      write: async () => undefined,
      sync: () => synced.then(() => void steps.push('synced')),
      close: async () => void steps.push('closed'),
    }),
  };
  const file = createAppendFile('session.jsonl', fs, () => undefined);
  await file.append('one\n');
  const ends = [file.sync(), file.close()];
  setImmediate(endSync);
  await Promise.all(ends);
  expect(steps).toEqual(['synced', 'closed']);
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
])('when %s, every line is written again with the next one', async (_, happen, text, reported) => {
  const home = createTempFolder();
  const [folder, path] = [join(home, 'sessions'), join(home, 'sessions', 's.jsonl')];
  const news: string[] = [];
  const file = createAppendFile(path, diskAppendFs, ({ type }) => void news.push(type));
  await file.append('one\n');
  await file.append(BIG);
  await happen(path, folder);
  await file.append('two\n');
  await file.append('three\n');
  await file.close();
  expect((await readFile(path, 'utf8')) === text).toBe(true);
  expect(news).toEqual(reported);
});

test('the content of a deleted file is kept until it can be recreated', async () => {
  const home = createTempFolder();
  const [folder, path] = [join(home, 'sessions'), join(home, 'sessions', 's.jsonl')];
  const news: AppendFileStatus[] = [];
  const file = createAppendFile(path, diskAppendFs, (one) => void news.push(one));
  await file.append('one\n');
  await rm(folder, { recursive: true });
  await writeFile(folder, 'in the way');
  await file.append('two\n');
  expect(news.map(({ type }) => type)).toEqual(['failed']);
  await rm(folder);
  await mkdir(folder);
  await file.append('three\n');
  await file.close();
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\nthree\n');
  expect(news.slice(1)).toEqual<AppendFileStatus[]>([{ type: 'restored' }, { type: 'works' }]);
});
