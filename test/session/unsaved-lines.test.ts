import { appendFile, chmod, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { type AppendHandle, diskAppendFs } from '../../src/lib/files/append-fs.ts';
import { type AppendFileStatus, createAppendFile } from '../../src/session/records/append-file.ts';
import {
  createUnsavedFolders,
  deleteUnsavedFiles,
  findUnsavedFiles,
  listUnsavedDirs,
  listUnsavedFolders,
  listUnsavedSessions,
  openUnsavedLines,
  readUnsavedLines,
} from '../../src/session/unsaved-lines.ts';
import { createTempFolder } from '../support/temp-folder.ts';

let parent = '';
let dir = '';
let path = '';

beforeEach(async () => {
  parent = createTempFolder();
  dir = join(createTempFolder(), 'projects', 'blocked');
  path = join(dir, 's.jsonl');
  await mkdir(join(dir, '..'));
});

test('what one disk refuses is stored on another, and moved when possible', async () => {
  const parents = [join(parent, 'gone'), parent];
  const news: AppendFileStatus[] = [];
  const open = () =>
    createAppendFile(path, diskAppendFs, (status) => void news.push(status), openUnsavedLines(path, parents));
  await writeFile(dir, 'in the way');
  const killed = open();
  await killed.append('one\n');
  await killed.append('two\n');
  expect(readUnsavedLines(path, parents)).toEqual(['one', 'two']);
  expect(news).toEqual<AppendFileStatus[]>([
    { type: 'failed', problem: expect.any(String), fallbackPath: expect.stringContaining(parent) },
  ]);
  const next = open();
  await next.append('three\n');
  expect(readUnsavedLines(path, parents)).toEqual(['one', 'two', 'three']);
  await rm(dir);
  await next.append('four\n');
  await next.close();
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\nthree\nfour\n');
  expect(readUnsavedLines(path, parents)).toEqual([]);
  expect(await readdir(parent)).toEqual([]);
});

test('the other copy stays until the lines are on the disk', async () => {
  let isSyncing = false;
  const handle: AppendHandle = {
    endsWithNewline: true,
    write: async () => undefined,
    sync: async () => {
      if (!isSyncing) throw new Error('ENOSPC: no space left on device');
    },
    close: async () => undefined,
  };
  await openUnsavedLines(path, [parent]).save('one\n');
  const file = createAppendFile(path, { open: async () => handle }, () => undefined, openUnsavedLines(path, [parent]));
  await file.append('two\n');
  expect(readUnsavedLines(path, [parent])).toEqual(['one']);
  isSyncing = true;
  await file.append('three\n');
  expect(readUnsavedLines(path, [parent])).toEqual([]);
});

test('lines that a kill left in both files are read once', async () => {
  await openUnsavedLines(path, [parent]).save('two\nthree\n');
  await mkdir(dir);
  await writeFile(path, 'one\ntwo\n');
  expect(readUnsavedLines(path, [parent])).toEqual(['three']);
  await appendFile(path, `three\n${'later\n'.repeat(1_000)}`);
  expect(readUnsavedLines(path, [parent])).toEqual([]);
});

test('lines of sessions with the same id in other folders are apart, and each folder lists its own', async () => {
  const other = join(dir, '..', '..', '..', 'projects', 'blocked', 's.jsonl');
  await openUnsavedLines(path, [parent]).save('one\n');
  await openUnsavedLines(other, [parent]).save('two\n');
  expect([readUnsavedLines(path, [parent]), readUnsavedLines(other, [parent])]).toEqual([['one'], ['two']]);
  const folders = listUnsavedFolders([parent]);
  expect(listUnsavedDirs(join(dir, '..'), folders)).toEqual([dir]);
  expect(listUnsavedSessions(dir, folders)).toEqual([path]);
  deleteUnsavedFiles(path, [parent]);
  expect([readUnsavedLines(path, [parent]), readUnsavedLines(other, [parent])]).toEqual([[], ['two']]);
  expect(listUnsavedDirs(join(dir, '..'), folders)).toEqual([]);
});

test('lines follow those that are stored already, on whichever disk that is', async () => {
  const [first, second] = [join(parent, 'first'), join(parent, 'second')];
  await mkdir(first);
  await mkdir(second);
  await openUnsavedLines(path, [second]).save('one\n');
  await openUnsavedLines(path, [first, second]).save('two\n');
  expect(readUnsavedLines(path, [first, second])).toEqual(['one', 'two']);
  expect(findUnsavedFiles(path, listUnsavedFolders([first]))).toEqual([]);
});

test('files that another user could have created are not read', async () => {
  await openUnsavedLines(path, [parent]).save('one\n');
  const [folder = ''] = await readdir(parent);
  expect(readUnsavedLines(path, [parent])).toEqual(['one']);
  await chmod(join(parent, folder), 0o777);
  expect([readUnsavedLines(path, [parent]), createUnsavedFolders(path, [parent])]).toEqual([[], []]);
  await rename(join(parent, folder), join(parent, 'real'));
  await chmod(join(parent, 'real'), 0o700);
  await symlink(join(parent, 'real'), join(parent, folder));
  expect([readUnsavedLines(path, [parent]), createUnsavedFolders(path, [parent])]).toEqual([[], []]);
});

test('lines of version 0.2, whose files were named by the session only, are read first', async () => {
  await openUnsavedLines(path, [parent]).save('two\n');
  const [folder = ''] = await readdir(parent);
  await writeFile(join(parent, folder, 's.jsonl'), 'one\n');
  expect(readUnsavedLines(path, [parent])).toEqual(['one', 'two']);
});
