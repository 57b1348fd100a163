import { readdir, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, says, text, toolUse } from '../support/api/reply.ts';
import { type ApiServer, gate, type Script, startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { startOuro } from '../support/run-ouro.ts';
import { someOf } from '../support/runs.ts';
import { cutAfter, replayAll, storedFile, storedFiles } from '../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

let project: TempProject;
let server: ApiServer | undefined;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n', 'CLAUDE.md': 'Say please.\n' });
});

afterEach(async () => {
  await server?.close();
  server = undefined;
  await project.remove();
});

async function serve(turns: Script['turns']): Promise<ApiServer> {
  await server?.close();
  server = await startApiServer({ turns });
  return server;
}

const ouro = (args: readonly string[], stdin?: string) =>
  runHere(project, ['-p', '--trust', ...args], server?.url, {
    env: { IS_SANDBOX: '1' },
    ...(stdin === undefined ? {} : { stdin }),
  });

const plain = (value: unknown) => JSON.stringify(value).replaceAll(/,"cache_control":\{[^}]*\}/g, '');
const lastSaid = () => JSON.stringify(server?.requests().at(-1)?.body.messages?.at(-1));

test('a resume repeats every byte although instructions, repository and files have changed; the changes are reported', async () => {
  await project.initGit();
  await project.write('CLAUDE.md', 'Say please.\n');
  const path = join(project.dir, 'a.txt');
  await serve((_, index) => (index === 0 ? calls(text('I look.'), toolUse('Read', { file_path: path })) : says('ok')));
  await ouro(['look', '--dangerously-skip-permissions']);
  const sent = server?.requests().at(-1)?.body;
  await project.write('CLAUDE.md', 'Say thanks.\n');
  await project.write('a.txt', 'changed by somebody\n');
  await project.git('checkout', '-qb', 'other');
  await serve(() => says('fine'));
  await ouro(['--continue', 'and now?', '--dangerously-skip-permissions']);
  const again = server?.requests()[0]?.body;
  expect(plain(again?.system)).toBe(plain(sent?.system));
  expect(plain(again?.tools)).toBe(plain(sent?.tools));
  expect(again?.messages?.slice(0, 3).map(plain)).toEqual(sent?.messages?.map(plain));
  expect(lastSaid()).toContain('Say thanks.');
  expect(lastSaid()).toMatch(/a\.txt has changed on disk/);
  await serve(() => says('fine'));
  await ouro(['--continue', 'once more', '--dangerously-skip-permissions']);
  expect(lastSaid()).not.toContain('Say thanks.');
  expect(await replayAll(project)).toEqual({ requests: 4, different: [] });
});

test.each(
  someOf([
    ['instructions of the project', {}],
    [
      'instructions with imports and rules',
      { 'CLAUDE.md': 'Say please.\n\n@more.md\n', 'more.md': 'And thanks.\n', '.claude/rules/tests.md': 'Test it.\n' },
    ],
    ['instructions of the person too', { '../home/.claude/CLAUDE.md': 'Be kind.\n' }],
  ]),
)('when nothing has changed, a resume adds nothing but the prompt: %s', async (_what, files) => {
  for (const [path, text] of Object.entries(files)) await project.write(path, text);
  await serve(() => says('ok'));
  await ouro(['look']);
  for (const prompt of ['and now?', 'once more']) {
    await serve(() => says('fine'));
    await ouro(['--continue', prompt]);
    expect(plain(server?.requests()[0]?.body.messages?.at(-1))).toBe(
      JSON.stringify({ role: 'user', content: [{ type: 'text', text: prompt }] }),
    );
  }
});

test('todos, plan, model, mode and folder are restored', async () => {
  await project.write('sub/x', '');
  await serve((_, index) =>
    index === 0
      ? calls(
          toolUse('TodoWrite', { todos: [{ content: 'first', status: 'in_progress', activeForm: 'Doing first' }] }),
          toolUse('Bash', { command: 'cd sub' }),
        )
      : says('ok'),
  );
  await ouro(['go', '--model', 'claude-haiku-4-5', '--allowedTools', 'Bash']);
  await serve((_, index) => (index === 0 ? calls(toolUse('Bash', { command: 'pwd' })) : says('ok')));
  const { stdout } = await ouro(['--continue', 'where?', '--allowedTools', 'Bash', '--output-format', 'json']);
  expect(server?.requests()[0]?.body.model).toBe('claude-haiku-4-5');
  expect(lastSaid()).toContain(join(project.dir, 'sub'));
  expect(JSON.parse(stdout)).toMatchObject({ is_error: false });
  const { records } = await storedFile(project);
  expect(JSON.stringify(records)).toContain('Doing first');
});

test('calls interrupted by a kill are reported as such, with the files that changed since', async () => {
  await serve([
    calls(
      text('I write.'),
      toolUse('Bash', { command: 'echo beta > a.txt' }, 'toolu_1'),
      toolUse('Read', { file_path: 'a.txt' }, 'toolu_2'),
    ),
    says('ok'),
  ]);
  await ouro(['go', '--dangerously-skip-permissions']);
  const file = await storedFile(project);
  await cutAfter(
    file,
    file.records.findIndex(({ type }) => type === 'result'),
  );
  await serve(() => says('fine'));
  await ouro(['--continue', 'go on']);
  const messages = server?.requests()[0]?.body.messages;
  expect(messages).toHaveLength(3);
  expect(lastSaid()).toMatch(
    /toolu_1.*interrupted; it may or may not have run.*changed since the call: a\.txt.*toolu_2.*go on/,
  );
  await serve(() => says('fine'));
  await ouro(['--continue', 'again']);
  expect(server?.requests()[0]?.body.messages?.slice(0, 3).map(plain)).toEqual(messages?.map(plain));
  expect(server?.requests()[0]?.violation).toBeUndefined();
});

longTest('--continue takes the session with the latest prompt, also when the clock was set back', async () => {
  await serve(() => says('ok'));
  await ouro(['one']);
  const [{ path = '' } = {}] = await storedFiles(project);
  await ouro(['two']);
  const later = Date.now() / 1000 + 36_000;
  await utimes(path, later, later);
  await ouro(['--continue', 'three']);
  expect(JSON.stringify(server?.requests().at(-1)?.body.messages)).toMatch(/two.*three/);
});

longTest('a session that is open elsewhere is continued in a copy, which is reported', async () => {
  await serve(() => says('first'));
  await ouro(['hello']);
  const { closed, open } = gate();
  await serve([says('waits', { faults: [{ at: 1, do: 'wait', until: closed, pings: 'pings' }] }), says('copy')]);
  const holder = startOuro(project, ['-p', '--continue', 'hold it'], server?.url);
  await server?.waitForRequest(1);
  const second = await ouro(['--continue', 'me too', '--output-format', 'stream-json', '--verbose']);
  expect(second.stderr + second.stdout).toMatch(/open in another ouro/);
  open();
  expect((await holder.ended).code).toBe(0);
  const files = await storedFiles(project);
  expect(files).toHaveLength(2);
  const said = files.map(({ records }) => JSON.stringify(records));
  expect(said.filter((one) => one.includes('me too'))).toHaveLength(1);
});

longTest('a fork leaves the original unchanged; a wrong id, a used id and a missing folder are reported', async () => {
  await serve(() => says('ok'));
  await ouro(['one']);
  const before = await storedFile(project);
  await ouro(['--continue', '--fork-session', 'two']);
  const files = await storedFiles(project);
  expect(files.find(({ id }) => id === before.id)?.records).toEqual(before.records);
  expect(JSON.stringify(files.find(({ id }) => id !== before.id)?.records)).toContain('"two"');
  expect(await ouro(['--resume', 'nothing-like-it', 'x'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no session'),
  });
  expect(await ouro(['--session-id', before.id, 'x'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('already'),
  });
});

longTest('a session continues in its own file, wherever it is resumed from, also when its folder is gone', async () => {
  await serve(() => says('ok'));
  await ouro(['one']);
  const { id } = await storedFile(project);
  const elsewhere = join(project.home, 'elsewhere');
  await rename(project.dir, elsewhere);
  const { code } = await runHere(project, ['-p', '--resume', id.slice(0, 8), 'two'], server?.url, { cwd: elsewhere });
  expect(code).toBe(0);
  expect(server?.requests().at(-1)?.body.messages).toHaveLength(3);
  expect((await storedFile(project)).id).toBe(id);
  await rm(elsewhere, { recursive: true });
});

test('--no-session-persistence leaves no files', async () => {
  await serve(() => says('ok'));
  await ouro(['one', '--no-session-persistence']);
  expect(await storedFiles(project)).toEqual([]);
  expect(await readdir(join(project.ouroHome, 'running'))).toEqual([]);
});
