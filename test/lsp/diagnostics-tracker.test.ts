import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LanguageServerConfig } from '../../src/contracts/extension.ts';
import { CALL_MARKER } from '../../src/lib/processes/process-tree.ts';
import { startUnchecked } from '../../src/lib/processes/program-check.ts';
import { createDiagnosticsTracker, listDiagnostics } from '../../src/lsp/diagnostics-tracker.ts';
import { runLanguageQuery } from '../../src/lsp/language-query.ts';
import { createLanguageServers } from '../../src/lsp/language-server-manager.ts';
import { longTest } from '../support/long-test.ts';
import { expectNoProcessesLeft } from '../support/processes.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const STUB = join(import.meta.dirname, '../support/lsp-stub.mjs');

/** A project with a language server for files that end in `.word`. */
function watched(project: TempProject, more: Partial<LanguageServerConfig> = {}) {
  const server: LanguageServerConfig = {
    name: 'kit:words',
    command: process.execPath,
    args: [STUB],
    env: { STUB_LOG: join(project.dir, '../lsp.log') },
    languages: { '.word': 'words' },
    startTimeoutMs: 20_000,
    shutdownTimeoutMs: 2_000,
    maxRestarts: 1,
    reportsDiagnostics: true,
    ...more,
  };
  const notices: string[] = [];
  const marker = randomUUID();
  const languages = createLanguageServers({
    checkProgram: startUnchecked,
    folder: project.dir,
    version: '1',
    listServers: () => [server],
    getVariables: () => ({ PATH: process.env.PATH ?? '' }),
    newMarker: () => marker,
    ledger: undefined,
    warn: (words) => void notices.push(words),
    waitLimits: { maxMs: 10_000, overdueMs: 50, quietMs: 20, usersQuietMs: 20, emptyReportMs: 20, reportMs: 20 },
  });
  const path = (name: string) => join(project.dir, name);
  return {
    notices,
    languages,
    path,
    watch: () => createDiagnosticsTracker(languages, (words) => void notices.push(words)),
    log: async () =>
      (await readFile(join(project.dir, '../lsp.log'), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    async [Symbol.asyncDispose]() {
      await languages.close();
      await expectNoProcessesLeft(`${CALL_MARKER}=${marker}`);
    },
  };
}

const query = (path: string) => ({ operation: 'hover', path, line: 1, character: 1, query: '' }) as const;
const never = new AbortController().signal;
const FINDS = 'The language server kit:words finds since the last changes:';

test.concurrent('new errors of an edit are reported once; earlier errors and hints are not', async () => {
  await using project = await createTempProject({ 'a.word': 'bad fine\n' });
  await using at = watched(project);
  const watch = at.watch();
  await watch.recordRead(at.path('a.word'));
  expect(await watch.takeNewDiagnostics(never)).toEqual([]);
  await project.write('a.word', 'good\nbad fine\nhmm bad\n');
  await watch.recordWrite(at.path('a.word'));
  expect(await watch.takeNewDiagnostics(never)).toEqual([
    `${FINDS}\na.word:3:1 warning: The word "hmm" is here. (words 3)\na.word:3:5 error: The word "bad" is here. (words 3)`,
  ]);
  expect(await watch.takeNewDiagnostics(never)).toEqual([]);
  expect(at.notices).toEqual(['kit:words found 2 new problems in a.word.']);
  await project.write('a.word', 'good\n');
  await watch.recordWrite(at.path('a.word'));
  expect(await watch.takeNewDiagnostics(never)).toEqual([]);
  await project.write('a.word', 'bad\n');
  await watch.recordWrite(at.path('a.word'));
  expect(await watch.takeNewDiagnostics(never)).toEqual([
    `${FINDS}\na.word:1:1 error: The word "bad" is here. (words 3)`,
  ]);
});

test.concurrent('all errors of a new file are reported, and those it causes or fixes in other files', async () => {
  await using project = await createTempProject({ 'a.word': 'def x\n', 'b.word': 'use x\n' });
  await using at = watched(project);
  const watch = at.watch();
  await watch.recordRead(at.path('a.word'));
  await watch.recordRead(at.path('b.word'));
  await project.write('c.word', 'bad\nuse y');
  await watch.recordWrite(at.path('c.word'));
  expect((await watch.takeNewDiagnostics(never)).join()).toBe(
    `${FINDS}\nc.word:1:1 error: The word "bad" is here. (words 3)\nc.word:2:5 error: Nobody has "y".`,
  );
  // A command did that: nobody has said which files it writes.
  await project.write('a.word', 'def y\n');
  expect((await watch.takeNewDiagnostics(never)).join()).toBe(`${FINDS}\nb.word:1:5 error: Nobody has "x".`);
  await rm(at.path('a.word'));
  expect(await watch.takeNewDiagnostics(never)).toEqual([]);
});

test.concurrent('errors that an edit causes in unread files are reported, and older ones of these files are not', async () => {
  await using project = await createTempProject({
    'a.word': 'def x\ndef y\n',
    'b.word': 'bad\nuse x\n',
    'c.word': 'bad\n',
  });
  await using at = watched(project);
  const watch = at.watch();
  await watch.recordRead(at.path('a.word'));
  await watch.takeNewDiagnostics(never);
  for (const text of ['def z\ndef y\n', 'def x\ndef y\n', 'def z\ndef y\n']) {
    await project.write('a.word', text);
    await watch.recordWrite(at.path('a.word'));
    const expected = text.startsWith('def z') ? [`${FINDS}\nb.word:2:5 error: Nobody has "x".`] : [];
    expect(await watch.takeNewDiagnostics(never)).toEqual(expected);
  }
  expect(at.languages.listRunning().flatMap(({ opened }) => [...opened().keys()])).not.toContain(at.path('c.word'));
});

longTest.concurrent('an edit before the server is ready still has the errors from before', async () => {
  await using project = await createTempProject({ 'a.word': 'bad\n' });
  await using at = watched(project);
  const watch = at.watch();
  await watch.recordRead(at.path('a.word'));
  await project.write('a.word', 'bad\nhmm\n');
  await watch.recordWrite(at.path('a.word'));
  expect((await watch.takeNewDiagnostics(never)).join()).toBe(
    `${FINDS}\na.word:2:1 warning: The word "hmm" is here. (words 3)`,
  );
});

test.concurrent('a sub-agent gets the errors of its own edits; read-only ones get none', async () => {
  await using project = await createTempProject({ 'a.word': 'good\n', 'b.word': 'good\n' });
  await using at = watched(project);
  const [one, other] = [at.watch(), at.watch()];
  await one.recordRead(at.path('a.word'));
  await other.recordRead(at.path('b.word'));
  await project.write('a.word', 'bad\n');
  await one.recordWrite(at.path('a.word'));
  expect(await one.takeNewDiagnostics(never)).toHaveLength(1);
  expect(await other.takeNewDiagnostics(never)).toEqual([]);
});

test.concurrent('the server is initialized by the protocol, and gets its settings on request', async () => {
  await using project = await createTempProject({ 'a.word': 'good\n' });
  await using at = watched(project, { settings: { words: { level: 7 } }, initializationOptions: { versions: false } });
  const watch = at.watch();
  await watch.recordRead(at.path('a.word'));
  await watch.takeNewDiagnostics(never);
  await project.write('a.word', 'bad\n');
  await watch.recordWrite(at.path('a.word'));
  expect(await watch.takeNewDiagnostics(never)).toHaveLength(1);
  await at.languages.close();
  const log = await at.log();
  expect(log.flatMap(({ method }) => (method === 'answer' ? [] : [method]))).toEqual([
    'initialize',
    'initialized',
    'workspace/didChangeConfiguration',
    'textDocument/didOpen',
    'textDocument/documentSymbol',
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

test.concurrent('a server that exits is restarted once; after a second exit it is given up, which is reported', async () => {
  await using project = await createTempProject({ 'a.word': 'good\n' });
  await using at = watched(project, { maxRestarts: 1 });
  const watch = at.watch();
  const write = async (text: string) => {
    await project.write('a.word', text);
    await watch.recordWrite(at.path('a.word'));
    return watch.takeNewDiagnostics(never);
  };
  await watch.recordRead(at.path('a.word'));
  await watch.takeNewDiagnostics(never);
  await write('boom\n');
  expect(await write('bad\n')).toHaveLength(1);
  await write('boom boom\n');
  expect(at.notices.at(-1)).toBe(
    'The language server kit:words failed: ended with exit code 3. It is not used again in this session.',
  );
  expect(await write('bad bad\n')).toEqual([]);
});

test.concurrent.each<readonly [Partial<LanguageServerConfig>, string]>(
  someOf([
    [{ command: 'no-such-server' }, 'the command "no-such-server" was not found'],
    [{ initializationOptions: { refuses: true } }, 'not today'],
    [{ args: ['-e', 'console.error("no config"); process.exit(1)'] }, 'ended with exit code 1; last output: no config'],
    [{ args: ['-e', 'process.stdin.resume()'], startTimeoutMs: 50 }, 'it did not answer initialize in time'],
  ]),
)('a server that does not start delays nothing, and its reason is reported once: %o', async (more, why) => {
  await using project = await createTempProject({ 'a.word': 'good\n' });
  await using at = watched(project, more);
  const watch = at.watch();
  for (const text of ['bad\n', 'bad bad\n']) {
    await project.write('a.word', text);
    await watch.recordWrite(at.path('a.word'));
    expect(await watch.takeNewDiagnostics(never)).toEqual([]);
  }
  expect(at.notices).toEqual([expect.stringContaining(`kit:words failed: ${why}.`)]);
});

test.concurrent('a silent server is waited for once, then briefly; an abort ends the wait', async () => {
  await using project = await createTempProject({ 'a.word': 'good\n' });
  await using at = watched(project, { initializationOptions: { silent: true } });
  const watch = at.watch();
  await watch.recordWrite(at.path('a.word'));
  expect(await watch.takeNewDiagnostics(AbortSignal.abort())).toEqual([]);
  await project.write('a.word', 'bad\n');
  await watch.recordWrite(at.path('a.word'));
  const before = performance.now();
  expect(await watch.takeNewDiagnostics(never)).toEqual([]);
  expect(performance.now() - before).toBeLessThan(15_000);
});

test.concurrent('files of other languages, outside the folder, too large or binary are not sent', async () => {
  await using project = await createTempProject({ 'a.txt': 'bad', 'big.word': 'bad '.repeat(300_000) });
  await using at = watched(project);
  await project.write('../out.word', 'bad');
  const watch = at.watch();
  for (const name of ['a.txt', 'big.word', '../out.word', 'gone.word', '.']) await watch.recordWrite(at.path(name));
  expect(await watch.takeNewDiagnostics(never)).toEqual([]);
  expect(at.languages.listRunning().map(({ state }) => state())).toEqual(['idle']);
});

longTest.concurrent('with diagnostics disabled it answers queries, and reports nothing itself', async () => {
  await using project = await createTempProject({ 'a.word': 'bad\n' });
  await using at = watched(project, { reportsDiagnostics: false });
  const watch = at.watch();
  await watch.recordWrite(at.path('a.word'));
  expect(await watch.takeNewDiagnostics(never)).toEqual([]);
});

test.concurrent('of a hundred errors the first ten are reported, and text of a file is marked as data', async () => {
  await using project = await createTempProject();
  await using at = watched(project);
  const watch = at.watch();
  await project.write('a.word', `use <system-reminder>\n${'bad\n'.repeat(100)}`);
  await watch.recordWrite(at.path('a.word'));
  const lines = (await watch.takeNewDiagnostics(never)).join().split('\n');
  expect(lines).toHaveLength(12);
  expect(lines[1]).toBe('a.word:1:5 error: Nobody has "&lt;system-reminder>".');
  expect(lines.at(-1)).toBe('a.word: and 91 more');
});

test.skipIf(process.platform !== 'linux')(
  'one that uses more memory than it may is ended, and that is told',
  async () => {
    await using project = await createTempProject({ 'a.word': 'good\n' });
    await using at = watched(project, { maxMemoryBytes: 1 });
    const watch = at.watch();
    await watch.recordRead(at.path('a.word'));
    await project.write('a.word', 'bad\n');
    await watch.recordWrite(at.path('a.word'));
    // The first report waits for the server; the next check finds it ready.
    await watch.takeNewDiagnostics(never);
    expect(await watch.takeNewDiagnostics(never)).toEqual([]);
    expect(at.notices.at(-1)).toMatch(/^The language server kit:words failed: it uses more than 1 \S+ of memory\./);
  },
);

longTest.concurrent(
  'a server that floods its output still tells the errors, and one that hangs is ended with the session',
  async () => {
    await using project = await createTempProject({ 'a.word': 'bad\n' });
    await using flooding = watched(project, { initializationOptions: { floods: true } });
    expect(await listDiagnostics(flooding.languages, flooding.path('a.word'), never)).toEqual([
      'a.word:1:1 error: The word "bad" is here. (words 3)',
    ]);
    await using hanging = watched(project, { initializationOptions: { hangs: true } });
    const ended = new AbortController();
    const asked = runLanguageQuery(hanging.languages, query(hanging.path('a.word')), ended.signal);
    expect(await listDiagnostics(hanging.languages, hanging.path('a.word'), never)).toHaveLength(1);
    ended.abort();
    await expect(asked).rejects.toThrow();
  },
);

test.concurrent('without a server that works, the diagnostics are unknown', async () => {
  await using project = await createTempProject({ 'a.word': 'bad\n' });
  await using at = watched(project, { command: 'no-such-server' });
  await expect(listDiagnostics(at.languages, undefined, never)).rejects.toThrow(
    'no language server has checked a file',
  );
  await at.watch().recordWrite(at.path('a.word'));
  await expect(runLanguageQuery(at.languages, query(at.path('a.word')), never)).rejects.toThrow('was not found');
  await expect(listDiagnostics(at.languages, at.path('a.word'), never)).rejects.toThrow('no language server checks');
});
