import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WriterRole } from '../../support/file-writer.ts';
import { longTest } from '../../support/long-test.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

type Writer = Omit<WriterRole, 'name' | 'ouroHome'>;

let folder = '';
let ouroHome = '';
const children = new Set<ReturnType<typeof start>>();

beforeEach(() => {
  folder = createTempFolder();
  ouroHome = createTempFolder();
});

afterEach(async () => {
  for (const { child } of children) child.kill('SIGKILL');
  await Promise.all([...children].map(({ ended }) => ended));
  children.clear();
});

const MAIN = join(import.meta.dirname, '../../support/file-writer.ts');

function start(role: WriterRole) {
  const child = spawn(process.execPath, ['--no-env-file', MAIN, JSON.stringify(role)], {
    env: { ...process.env, TMPDIR: role.ouroHome },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return { child, ready: once(child.stdout, 'data'), ended: once(child, 'exit').then(([code]) => code) };
}

/** Lets processes change the lines of a text file all at once; returns how they ended, and the text. */
async function changeAtOnce(text: (lines: readonly string[]) => string, writers: readonly Writer[]) {
  const roles = writers.map((writer, at) => ({ ...writer, name: `w${at}`, ouroHome }));
  const lines = roles.flatMap(({ name, count }) => Array.from({ length: count }, (_, at) => `${name}-${at} open`));
  const file = writers[0]?.file ?? '';
  await writeFile(file, text(lines));
  const running = roles.map(start);
  for (const one of running) children.add(one);
  await Promise.all(running.map(({ ready }) => ready));
  for (const { child } of running) child.stdin.write('go\n');
  const codes = await Promise.all(running.map(({ ended }) => ended));
  const wanted = text(lines.map((line) => line.replace('open', 'done')));
  return { codes, isComplete: (await readFile(file, 'utf8')) === wanted };
}

const asText = (lines: readonly string[]) => `${lines.join('\n')}\n`;
const allDone = (writers: readonly Writer[]) => ({ codes: writers.map(() => 0), isComplete: true });

test('processes that edit different lines of a file at the same time lose no edit', async () => {
  const file = join(folder, 'a.txt');
  const writers = Array.from({ length: 3 }, () => ({ tool: 'Edit', file, count: 8 }) as const);
  expect(await changeAtOnce(asText, writers)).toEqual(allDone(writers));
  expect(await readdir(folder)).toEqual(['a.txt']);
  expect(await readdir(join(ouroHome, 'locks'))).toEqual([]);
});

longTest.each(['Edit', 'MultiEdit', 'Write', 'rename', 'undo'] as const)(
  'six processes with %s lose no change',
  async (tool) => {
    const file = join(folder, 'a.txt');
    const writers = Array.from({ length: 6 }, () => ({ tool, file, count: 15 }));
    expect(await changeAtOnce(asText, writers)).toEqual(allDone(writers));
  },
);

longTest('processes with different tools lose no change of each other', async () => {
  const file = join(folder, 'a.txt');
  const tools = ['Edit', 'MultiEdit', 'Write', 'rename', 'undo'] as const;
  const writers = tools.map((tool) => ({ tool, file, count: 15 }));
  expect(await changeAtOnce(asText, writers)).toEqual(allDone(writers));
});

longTest('processes that edit different cells of a notebook lose no edit', async () => {
  const asNotebook = (lines: readonly string[]) => {
    const cells = lines.map((source) => ({ cell_type: 'markdown', id: source.split(' ')[0], metadata: {}, source }));
    return JSON.stringify({ nbformat: 4, nbformat_minor: 5, cells }, null, 1);
  };
  const file = join(folder, 'a.ipynb');
  const writers = Array.from({ length: 4 }, () => ({ tool: 'NotebookEdit', file, count: 10 }) as const);
  expect(await changeAtOnce(asNotebook, writers)).toEqual(allDone(writers));
});

test.each([
  ['a link to the file', (from: string, to: string) => symlink(from, to)],
  ['a hard link', (from: string, to: string) => link(from, to)],
])('processes that reach a file by its name and by %s lose no edit', async (_, connect) => {
  const file = join(folder, 'a.txt');
  const other = join(folder, 'sub', 'b.txt');
  await mkdir(join(folder, 'sub'));
  await writeFile(file, '');
  await connect(file, other);
  const writers = [file, other, file, other].map((path) => ({ tool: 'Edit', file: path, count: 6 }) as const);
  expect(await changeAtOnce(asText, writers)).toEqual(allDone(writers));
});

test('where the home folder cannot be written, processes lose no edit either', async () => {
  const file = join(folder, 'a.txt');
  await writeFile(join(ouroHome, 'locks'), '');
  const writers = Array.from({ length: 3 }, () => ({ tool: 'Edit', file, count: 8 }) as const);
  expect(await changeAtOnce(asText, writers)).toEqual(allDone(writers));
});
