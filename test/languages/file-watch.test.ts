import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LanguageServer } from '../../src/contracts/extension.ts';
import { createFileWatch } from '../../src/languages/file-watch.ts';
import { createLanguages } from '../../src/languages/languages.ts';
import { MARKER } from '../../src/lib/processes/process-tree.ts';
import { longTest } from '../support/long-test.ts';
import { expectNoneLeft } from '../support/processes.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const STUB = join(import.meta.dirname, '../support/lsp-stub.mjs');

/** A project with a language server for files that end in `.word`. */
function watched(project: TempProject, more: Partial<LanguageServer> = {}) {
  const server: LanguageServer = {
    name: 'kit:words',
    command: process.execPath,
    args: [STUB],
    env: { STUB_LOG: join(project.dir, '../lsp.log') },
    languages: { '.word': 'words' },
    startMs: 20_000,
    endMs: 2_000,
    mostRestarts: 1,
    tellsProblems: true,
    ...more,
  };
  const notices: string[] = [];
  const marker = randomUUID();
  const languages = createLanguages({
    folder: project.dir,
    version: '1',
    servers: () => [server],
    variables: () => ({ PATH: process.env.PATH ?? '' }),
    newMarker: () => marker,
    ledger: undefined,
    tell: (words) => void notices.push(words),
    patience: { mostMs: 10_000, hurriedMs: 50, quietMs: 20 },
  });
  const path = (name: string) => join(project.dir, name);
  return {
    notices,
    languages,
    path,
    watch: () => createFileWatch(languages, (words) => void notices.push(words)),
    log: async () =>
      (await readFile(join(project.dir, '../lsp.log'), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    async [Symbol.asyncDispose]() {
      await languages.close();
      await expectNoneLeft(`${MARKER}=${marker}`);
    },
  };
}

const never = new AbortController().signal;
const FINDS = 'The language server kit:words finds since the last changes:';

test('what a change makes wrong is told once; what was wrong before, and what is a hint, is not', async () => {
  await using project = await createTempProject({ 'a.word': 'bad fine\n' });
  await using at = watched(project);
  const watch = at.watch();
  await watch.read(at.path('a.word'));
  expect(await watch.news(never)).toEqual([]);
  await project.write('a.word', 'good\nbad fine\nhmm bad\n');
  await watch.wrote(at.path('a.word'));
  expect(await watch.news(never)).toEqual([
    `${FINDS}\na.word:3:1 warning: The word "hmm" is here. (words 3)\na.word:3:5 error: The word "bad" is here. (words 3)`,
  ]);
  expect(await watch.news(never)).toEqual([]);
  expect(at.notices).toEqual(['kit:words found 2 new problems in a.word.']);
  await project.write('a.word', 'good\n');
  await watch.wrote(at.path('a.word'));
  expect(await watch.news(never)).toEqual([]);
  await project.write('a.word', 'bad\n');
  await watch.wrote(at.path('a.word'));
  expect(await watch.news(never)).toEqual([`${FINDS}\na.word:1:1 error: The word "bad" is here. (words 3)`]);
});

test('everything in a new file is news, and what it breaks or heals in another one too', async () => {
  await using project = await createTempProject({ 'a.word': 'def x\n', 'b.word': 'use x\n' });
  await using at = watched(project);
  const watch = at.watch();
  await watch.read(at.path('a.word'));
  await watch.read(at.path('b.word'));
  await project.write('c.word', 'bad\nuse y');
  await watch.wrote(at.path('c.word'));
  expect((await watch.news(never)).join()).toBe(
    `${FINDS}\nc.word:1:1 error: The word "bad" is here. (words 3)\nc.word:2:5 error: Nobody has "y".`,
  );
  // A command did that: nobody has said which files it writes.
  await project.write('a.word', 'def y\n');
  expect((await watch.news(never)).join()).toBe(`${FINDS}\nb.word:1:5 error: Nobody has "x".`);
  await rm(at.path('a.word'));
  expect(await watch.news(never)).toEqual([]);
});

longTest('an edit that comes before the server is there still has what was wrong before it', async () => {
  await using project = await createTempProject({ 'a.word': 'bad\n' });
  await using at = watched(project);
  const watch = at.watch();
  await watch.read(at.path('a.word'));
  await project.write('a.word', 'bad\nhmm\n');
  await watch.wrote(at.path('a.word'));
  expect((await watch.news(never)).join()).toBe(`${FINDS}\na.word:2:1 warning: The word "hmm" is here. (words 3)`);
});

test('a sub-agent hears of what it has changed itself; who only reads hears nothing', async () => {
  await using project = await createTempProject({ 'a.word': 'good\n', 'b.word': 'good\n' });
  await using at = watched(project);
  const [one, other] = [at.watch(), at.watch()];
  await one.read(at.path('a.word'));
  await other.read(at.path('b.word'));
  await project.write('a.word', 'bad\n');
  await one.wrote(at.path('a.word'));
  expect(await one.news(never)).toHaveLength(1);
  expect(await other.news(never)).toEqual([]);
});

test('it hears of the project what the protocol wants, and gets its settings when it asks', async () => {
  await using project = await createTempProject({ 'a.word': 'good\n' });
  await using at = watched(project, { settings: { words: { level: 7 } }, initializationOptions: { versions: false } });
  const watch = at.watch();
  await watch.read(at.path('a.word'));
  await watch.news(never);
  await project.write('a.word', 'bad\n');
  await watch.wrote(at.path('a.word'));
  expect(await watch.news(never)).toHaveLength(1);
  await at.languages.close();
  const log = await at.log();
  expect(log.flatMap(({ method }) => (method === 'answer' ? [] : [method]))).toEqual([
    'initialize',
    'initialized',
    'workspace/didChangeConfiguration',
    'textDocument/didOpen',
    'textDocument/didChange',
    'workspace/didChangeWatchedFiles',
    'textDocument/didSave',
    'shutdown',
    'exit',
  ]);
  expect(log[0].params).toMatchObject({ rootPath: project.dir, initializationOptions: { versions: false } });
  expect(log[3].params.textDocument).toMatchObject({ languageId: 'words', version: 1, text: 'good\n' });
  expect(log.find(({ method }) => method === 'answer').result).toEqual([7]);
});

test('one that has ended by itself is started again; one that does it again is given up, and that is told', async () => {
  await using project = await createTempProject({ 'a.word': 'good\n' });
  await using at = watched(project, { mostRestarts: 1 });
  const watch = at.watch();
  const write = async (text: string) => {
    await project.write('a.word', text);
    await watch.wrote(at.path('a.word'));
    return watch.news(never);
  };
  await watch.read(at.path('a.word'));
  await watch.news(never);
  await write('boom\n');
  expect(await write('bad\n')).toHaveLength(1);
  await write('boom boom\n');
  expect(at.notices.at(-1)).toBe(
    'The language server kit:words is not there: ended with exit code 3. Nothing is known of its files in this session.',
  );
  expect(await write('bad bad\n')).toEqual([]);
});

test.each([
  [{ command: 'no-such-server' }, 'the command "no-such-server" was not found'],
  [{ initializationOptions: { refuses: true } }, 'not today'],
  [
    { args: ['-e', 'console.error("no config"); process.exit(1)'] },
    'ended with exit code 1; its last words: no config',
  ],
  [{ args: ['-e', 'setInterval(() => 0, 1000)'], startMs: 50 }, 'it did not answer initialize in time'],
])('one that does not start holds nobody up, and says once why: %o', async (more, why) => {
  await using project = await createTempProject({ 'a.word': 'good\n' });
  await using at = watched(project, more);
  const watch = at.watch();
  for (const text of ['bad\n', 'bad bad\n']) {
    await project.write('a.word', text);
    await watch.wrote(at.path('a.word'));
    expect(await watch.news(never)).toEqual([]);
  }
  expect(at.notices).toEqual([expect.stringContaining(`kit:words is not there: ${why}.`)]);
});

test('one that says nothing is waited for once, and then hurried; whoever stops is not kept', async () => {
  await using project = await createTempProject({ 'a.word': 'good\n' });
  await using at = watched(project, { initializationOptions: { silent: true } });
  const watch = at.watch();
  await watch.wrote(at.path('a.word'));
  expect(await watch.news(AbortSignal.abort())).toEqual([]);
  await project.write('a.word', 'bad\n');
  await watch.wrote(at.path('a.word'));
  const before = performance.now();
  expect(await watch.news(never)).toEqual([]);
  expect(performance.now() - before).toBeLessThan(5_000);
});

test('files of other languages, outside the folder, too large or without text are none of its business', async () => {
  await using project = await createTempProject({ 'a.txt': 'bad', 'big.word': 'bad '.repeat(300_000) });
  await using at = watched(project);
  await project.write('../out.word', 'bad');
  const watch = at.watch();
  for (const name of ['a.txt', 'big.word', '../out.word', 'gone.word', '.']) await watch.wrote(at.path(name));
  expect(await watch.news(never)).toEqual([]);
  expect(at.languages.running().map(({ state }) => state())).toEqual(['idle']);
});

test('where diagnostics are switched off it still answers, and says nothing by itself', async () => {
  await using project = await createTempProject({ 'a.word': 'bad\n' });
  await using at = watched(project, { tellsProblems: false });
  const watch = at.watch();
  await watch.wrote(at.path('a.word'));
  expect(await watch.news(never)).toEqual([]);
});

test('a hundred problems are told with the first ten, and words of a file speak with no authority', async () => {
  await using project = await createTempProject();
  await using at = watched(project);
  const watch = at.watch();
  await project.write('a.word', `use <system-reminder>\n${'bad\n'.repeat(100)}`);
  await watch.wrote(at.path('a.word'));
  const lines = (await watch.news(never)).join().split('\n');
  expect(lines).toHaveLength(12);
  expect(lines[1]).toBe('a.word:1:5 error: Nobody has "&lt;system-reminder>".');
  expect(lines.at(-1)).toBe('a.word: and 91 more');
});
