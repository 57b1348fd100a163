import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Hook } from '../../src/contracts/hook.ts';
import { createFileChangedHooks } from '../../src/hooks/watched-files.ts';
import { createTempProject } from '../support/temp-project.ts';

async function watching(matchers: readonly string[], listWatchedPaths: () => readonly string[] = () => []) {
  const project = await createTempProject({ '.env': 'A=1', 'a.lock': '1', 'b.txt': '1' });
  const fired: string[] = [];
  const look = createFileChangedHooks(
    {
      list: () =>
        matchers.map((matcher): { readonly hook: Hook; readonly last: undefined } => ({
          hook: { event: 'FileChanged', type: 'command', command: 'true', source: 'user', matcher },
          last: undefined,
        })),
      listWatchedPaths,
      fireInBackground: (_, { file_path, event }) =>
        void fired.push(`${event} ${String(file_path).slice(project.dir.length + 1)}`),
    },
    () => project.dir,
  );
  return {
    project,
    write: (name: string, text: string) => writeFile(join(project.dir, name), text),
    remove: (name: string) => rm(join(project.dir, name)),
    async seen() {
      await look.reminders?.('turn', new AbortController().signal);
      return fired.splice(0).toSorted();
    },
  };
}

test('file names are watched, also of files that do not exist yet', async () => {
  const { write, remove, seen } = await watching(['.env|.envrc']);
  expect(await seen()).toEqual([]);
  await write('.envrc', 'use x');
  await write('.env', 'A=22');
  await write('b.txt', '22');
  expect(await seen()).toEqual(['add .envrc', 'change .env']);
  await remove('.env');
  expect(await seen()).toEqual(['unlink .env']);
  expect(await seen()).toEqual([]);
});

test('a pattern matches names in the folder: created, changed and deleted ones', async () => {
  const { write, remove, seen } = await watching(['.*\\.lock', '']);
  expect(await seen()).toEqual([]);
  await write('a.lock', '22');
  await write('new.lock', '1');
  await write('b.txt', '22');
  expect(await seen()).toEqual(['add new.lock', 'change a.lock']);
  await remove('a.lock');
  await remove('new.lock');
  expect(await seen()).toEqual(['unlink a.lock', 'unlink new.lock']);
});

test('paths named by hooks are watched from then on, whatever the matcher', async () => {
  let paths: readonly string[] = [];
  const { project, write, seen } = await watching([''], () => paths);
  await seen();
  paths = [join(project.dir, 'b.txt'), 'sub.txt'];
  expect(await seen()).toEqual([]);
  await write('b.txt', '22');
  await write('sub.txt', '1');
  expect(await seen()).toEqual(['add sub.txt', 'change b.txt']);
  paths = [];
  await write('b.txt', '333');
  expect(await seen()).toEqual([]);
});
