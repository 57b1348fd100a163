import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import root from '../../package.json' with { type: 'json' };
import manifest from '../../packages/vscode/package.json' with { type: 'json' };
import { fetch } from '../../src/lib/network/fetch.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { longTest } from '../support/long-test.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject } from '../support/temp-project.ts';
import { startExtension } from '../support/vscode-fake.ts';

const BEFORE = 'one\ntwo\nthree\n';
/** An error of the edit: the editor is asked until it has found one, or for a second. */
const FOUND = 'zwei is not English';

/** A conversation whose model reads and edits a file, and the extension in a window with its folder. */
async function editing({ folder = '' } = {}) {
  const project = await createTempProject({ 'a.txt': BEFORE, 'b.txt': 'other\n' });
  const file = join(project.dir, folder, 'a.txt');
  const turns = [
    calls(toolUse('Read', { file_path: file })),
    calls(toolUse('Edit', { file_path: file, old_string: 'two', new_string: 'zwei' })),
    says('Done.'),
  ];
  const api = await startApiServer({ turns, after: says('Yes.') });
  const locks = join(project.home, '.claude/ide');
  // Left by a window that has crashed: no process has this number.
  await project.write(
    '../home/.claude/ide/1.lock',
    JSON.stringify({ pid: 2 ** 22 + 1, ideName: 'Visual Studio Code', authToken: 'x' }),
  );
  let window = await startExtension(project, { command: join(import.meta.dirname, '../../bin/ouro') });
  const { conversation, events, close } = await composed(project, api.url, { frontend: 'screen' });
  const waiting = new Set<() => void>();
  const check = () => {
    for (const listener of waiting) listener();
  };
  const seen: string[] = [];
  conversation.agent.subscribe(check);
  conversation.editor?.subscribe((event) => {
    seen.push(event.type === 'mention' ? event.text : (event.label ?? ''));
    check();
  });
  const until = (isMet: () => boolean) =>
    new Promise<void>((resolve) => {
      const listener = () => isMet() && waiting.delete(listener) && resolve();
      waiting.add(listener);
      listener();
    });
  const countConnections = () =>
    events.filter((event) => event.type === 'notice' && event.text.endsWith('Visual Studio Code.')).length;
  conversation.editor?.start();
  await until(() => countConnections() === 1);
  return {
    project,
    file,
    conversation,
    seen,
    until,
    locks,
    window: () => window,
    lastRequest: () => JSON.stringify(api.requests().at(-1)?.body),
    async reload() {
      window.stop();
      window = await startExtension(project);
      await until(() => countConnections() === 2);
    },
    async [Symbol.asyncDispose]() {
      await close();
      window.stop();
      await api[Symbol.asyncDispose]();
      await project.remove();
    },
  };
}

test('the lock file is for its user alone, names the folder, and replaces one that a crash has left', async () => {
  await using run = await editing();
  const [name = '', ...others] = readdirSync(run.locks);
  expect(others).toEqual([]);
  expect(statSync(join(run.locks, name)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(join(run.locks, name), 'utf8'))).toMatchObject({
    pid: process.pid,
    workspaceFolders: [run.project.dir],
    transport: 'ws',
  });
  expect(run.window().variables.get('CLAUDE_CODE_SSE_PORT')).toBe(name.replace('.lock', ''));
  const refused = await fetch(`http://127.0.0.1:${name.replace('.lock', '')}/`, {
    headers: { upgrade: 'websocket', 'sec-websocket-key': 'x', 'x-claude-code-ide-authorization': 'wrong' },
  });
  expect(refused.status).toBe(401);
  run.window().stop();
  expect(readdirSync(run.locks)).toEqual([]);
});

const DECISIONS: readonly (readonly [string, (window: Window) => Promise<unknown> | unknown, string])[] = [
  ['accepted by the button', (window: Window) => window.run('ouro.acceptDiff'), 'one\nzwei\nthree\n'],
  ['changed and saved', (window: Window) => window.saveDiff((text) => `${text}vier ✓\n`), 'one\nzwei\nthree\nvier ✓\n'],
  [
    'saved after a delay, which decides nothing, and accepted by the button',
    (window: Window) => {
      window.saveDiff((text) => `${text}vier\n`, 'AfterDelay');
      return window.run('ouro.acceptDiff');
    },
    'one\nzwei\nthree\nvier\n',
  ],
  ['refused by the button', (window: Window) => window.run('ouro.rejectDiff'), BEFORE],
  ['refused by closing its tab', (window: Window) => window.closeDiff(), BEFORE],
];

test.each(someOf(DECISIONS))('a diff is %s', async (_, decide, expected) => {
  await using run = await editing();
  const window = run.window();
  const ended = run.conversation.agent.prompt('go');
  await window.until(() => window.listDiffs().length === 1);
  expect(window.listDiffs()).toEqual([expect.stringMatching(/^✻ \[ouro\] a\.txt \(\w{4}\) ⧉$/)]);
  window.setError(run.file, FOUND);
  await decide(window);
  await ended;
  expect(await run.project.read('a.txt')).toBe(expected);
  expect(window.listDiffs()).toEqual([]);
});

type Window = Awaited<ReturnType<typeof startExtension>>;

longTest('a question is listed while it waits, and an answer on the screen closes its diff', async () => {
  await using run = await editing();
  const window = run.window();
  const ended = run.conversation.agent.prompt('go');
  await window.until(() => window.listDiffs().length === 1);
  expect(await window.list('ouro.questions')).toEqual(['Change a.txt?']);
  const [request] = run.conversation.agent.state().pendingPermissions;
  window.setError(run.file, FOUND);
  run.conversation.agent.answerPermission(request?.id ?? '', { behavior: 'allow' });
  await ended;
  await window.until(() => window.listDiffs().length === 0);
  expect(await window.list('ouro.questions')).toEqual([]);
});

test('the selection goes along, a mention comes into the draft, new problems and unsaved files are told', async () => {
  await using run = await editing();
  const window = run.window();
  window.select(run.file, 'one\ntwo\n', [0, 2]);
  await run.until(() => run.seen.includes('a.txt:1-2'));
  window.run('ouro.mention');
  await run.until(() => run.seen.includes('@a.txt#L1-2'));
  window.setUnsaved(run.file);
  const ended = run.conversation.agent.prompt('go');
  await window.until(() => window.listDiffs().length === 1);
  const [request] = run.conversation.agent.state().pendingPermissions;
  expect(request?.reasons.join()).toContain('a.txt has unsaved changes in Visual Studio Code');
  window.setError(run.file, FOUND);
  window.run('ouro.acceptDiff');
  await ended;
  expect(run.lastRequest()).toContain('In Visual Studio Code, lines 1 to 2 of a.txt are selected.');
  expect(run.lastRequest()).toContain('a.txt:2:3 error: zwei is not English');
});

longTest(
  'after a reload of the window in the middle of a question, its diff is shown again and answers it',
  async () => {
    await using run = await editing();
    const ended = run.conversation.agent.prompt('go');
    await run.window().until(() => run.window().listDiffs().length === 1);
    await run.reload();
    const window = run.window();
    await window.until(() => window.listDiffs().length === 1);
    expect(await window.list('ouro.questions')).toEqual(['Change a.txt?']);
    await window.run('ouro.acceptDiff');
    await ended;
    expect(await run.project.read('a.txt')).toBe('one\nzwei\nthree\n');
    expect(window.listDiffs()).toEqual([]);
    window.select(join(run.project.dir, 'b.txt'), 'other\n', [0, 1]);
    await run.until(() => run.seen.includes('b.txt:1'));
  },
);

longTest('a waiting question shows its diff, or the terminal in which the session was started', async () => {
  await using run = await editing();
  const window = run.window();
  window.addTerminal('bash', 1);
  window.addTerminal('zsh', process.ppid);
  const ended = run.conversation.agent.prompt('go');
  await window.until(() => window.listDiffs().length === 1);
  await window.clickFirst('ouro.questions');
  window.run('ouro.acceptDiff');
  await ended;
  await window.run('ouro.open');
  expect(window.notes).toEqual([expect.stringMatching(/^diff ✻ \[ouro\] a\.txt \(\w{4}\) ⧉$/), 'terminal zsh']);
});

test('ouro opens in a terminal that knows the window, once, and resumes a session from the list', async () => {
  await using project = await createTempProject();
  using window = await startExtension(project, { command: '/opt/my tools/ouro' });
  await window.run('ouro.open');
  await window.run('ouro.open');
  window.run('ouro.resumeSession', { id: 'abc' });
  expect(window.typed).toEqual(['"/opt/my tools/ouro"', '"/opt/my tools/ouro" --resume abc']);
  expect(window.terminals[0]).toMatchObject({
    cwd: project.dir,
    env: { CLAUDE_CODE_SSE_PORT: window.variables.get('CLAUDE_CODE_SSE_PORT'), ENABLE_IDE_INTEGRATION: 'true' },
  });
  expect(await window.list('ouro.sessions')).toEqual([]);
});

test('the sessions are those that ouro lists', async () => {
  await using project = await createTempProject();
  const list = JSON.stringify([
    { id: '1', title: 'Fix the lexer' },
    { id: '2', title: '', lastPrompt: 'hello' },
  ]);
  const command = await project.write('../ouro.sh', `#!/bin/sh\n[ "$*" = 'sessions list --json' ] && echo '${list}'\n`);
  execFileSync('chmod', ['+x', command]);
  using window = await startExtension(project, { command });
  expect(await window.list('ouro.sessions')).toEqual(['Fix the lexer', 'hello']);
});

test('a program that is not found is named in the view of sessions', async () => {
  await using project = await createTempProject();
  using window = await startExtension(project, { command: join(project.dir, 'none') });
  expect(await window.list('ouro.sessions')).toEqual([]);
  expect(window.getMessage('ouro.sessions')).toContain('ouro.command');
});

longTest('the packed extension has the version of ouro and every file that it needs', async () => {
  await using project = await createTempProject();
  const script = join(import.meta.dirname, '../../bin/build-vsix.mjs');
  const path = execFileSync('node', [script, '--out', project.dir], { encoding: 'utf8' }).trim();
  expect(path).toBe(join(project.dir, `ouro-vscode-${root.version}.vsix`));
  const packed = readFileSync(path).toString('latin1');
  const names = [...packed.matchAll(/PK\x01\x02[\s\S]{42}((?:extension|\[Content)[\w./[\]-]+?)(?=PK)/g)].map(
    ([, name]) => name,
  );
  const sources = readdirSync(join(import.meta.dirname, '../../packages/vscode/src'));
  expect(names).toEqual(
    expect.arrayContaining([
      'extension.vsixmanifest',
      'extension/package.json',
      ...[manifest.main.slice(2), manifest.contributes.viewsContainers.activitybar[0]?.icon].map(
        (file) => `extension/${file}`,
      ),
      ...sources.map((name) => `extension/src/${name}`),
    ]),
  );
});
