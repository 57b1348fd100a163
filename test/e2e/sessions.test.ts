import { appendFile, chmod, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { picture } from '../checkpoints/disk-picture.ts';
import { calls, says, text, toolUse } from '../support/api/reply.ts';
import { type ApiServer, type Script, startApiServer } from '../support/api/server.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { storedFile, storedFiles } from '../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

let project: TempProject;
let server: ApiServer;

const SECRET = 'sk-ant-api03-abcdefghijklmnopqrstuvwx';

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
});

afterEach(async () => {
  await server?.close();
  await project.remove();
});

const SETTINGS = { env: { IS_SANDBOX: '1' } };
const ouro = (...args: readonly string[]) => runHere(project, args, server?.url, SETTINGS);

/** What one process has said and done, for others to find. */
async function talk(turns: Script['turns'], ...args: readonly string[]): Promise<void> {
  await server?.close();
  server = await startApiServer({ turns });
  const all = ['-p', ...args, '--dangerously-skip-permissions'];
  expect(await runHere(project, all, server.url, SETTINGS)).toMatchObject({ code: 0, stderr: '' });
}

test('sessions are listed, named, searched, read, exported and deleted', async () => {
  await talk(
    (_, index) =>
      index === 0
        ? calls(text('I **look**.'), toolUse('Bash', { command: 'echo "</pre><script>alert(1)</script>"' }))
        : says('The walrus was Paul.'),
    'who was the walrus?\u001b]0;evil\u0007',
  );
  const { id } = await storedFile(project);
  const listed = await ouro('sessions');
  expect(listed.stdout).toContain(id.slice(0, 8));
  expect(listed.stdout).not.toContain('\u001b');
  expect(JSON.parse((await ouro('sessions', 'list', '--json')).stdout)).toMatchObject([{ id, cwd: project.dir }]);
  expect(await ouro('sessions', 'rename', id.slice(0, 6), 'the', 'walrus')).toMatchObject({ code: 0 });
  expect((await ouro('sessions', 'list')).stdout).toContain('the walrus');
  expect((await ouro('sessions', 'search', 'walrus', 'was', 'PAUL')).stdout).toMatch(/ouro: The walrus was Paul\./);
  expect(await ouro('sessions', 'search', 'nobody said this')).toMatchObject({ code: 1 });
  expect((await ouro('sessions', 'show', 'the walrus')).stdout).toMatch(
    /# the walrus[\s\S]*## You[\s\S]*walrus[\s\S]*\*\*Bash\*\*/,
  );
  const exported = await ouro('sessions', 'export', id, '--format', 'html', '--output', 'out.html');
  expect(exported.stdout.trim()).toBe(join(project.dir, 'out.html'));
  const html = await project.read('out.html');
  expect(html).toContain('&lt;script&gt;');
  expect(html).not.toMatch(/<script|src=|href=/);
  expect((await stat(join(project.dir, 'out.html'))).mode & 0o777).toBe(0o600);
  expect(await ouro('sessions', 'export', id, '--output', 'out.html')).toMatchObject({ code: 1 });
  expect(JSON.parse((await ouro('sessions', 'export', id, '--format', 'json')).stdout).items).toHaveLength(4);
  expect(await ouro('sessions', 'delete')).toMatchObject({ code: 2 });
  expect(await ouro('sessions', 'delete', '')).toMatchObject({ code: 2 });
  expect(await storedFiles(project)).not.toEqual([]);
  expect(await ouro('sessions', 'delete', id)).toMatchObject({
    code: 0,
    stdout: `Deleted ${id.slice(0, 8)}: the walrus\n`,
  });
  expect(await storedFiles(project)).toEqual([]);
  expect((await ouro('sessions', 'nonsense')).code).toBe(2);
});

longTest('a damaged session is counted, reported, repaired with a backup, and continued', async () => {
  await talk([says('one')], 'first');
  const { id, path } = await storedFile(project);
  await appendFile(path, '\0\0\0\n{"v":1,"type":"user","uu');
  expect(await ouro('sessions', 'check')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/1 unreadable lines.*no newline at the end/),
  });
  server = await startApiServer({ turns: [says('two')] });
  const resumed = await ouro('-p', '--continue', 'second');
  expect(resumed).toMatchObject({ code: 0, stdout: 'two\n', stderr: expect.stringContaining('was damaged') });
  expect(await ouro('sessions', 'check', id, '--repair')).toMatchObject({ code: 0 });
  expect(await ouro('sessions', 'check')).toMatchObject({ code: 0, stdout: expect.stringContaining('sound') });
  expect(await readFile(`${path}.damaged`, 'utf8')).toContain('\0');
});

longTest('a capsule is written to a file of its own in a terminal, and never over another file', async () => {
  await talk(() => says('fine'), 'hi');
  const { id } = await storedFile(project);
  const file = `ouro-${id.slice(0, 8)}.capsule`;
  const runInTerminal = async () => {
    await using terminal = openTerminal([LAUNCHER, 'sessions', 'capsule'], {
      cwd: project.dir,
      env: terminalEnvironment(project),
      cols: 200,
      rows: 10,
    });
    await terminal.exited;
    return terminal.screen().join('\n');
  };
  expect(await runInTerminal()).toContain(join(project.dir, file));
  const written = await project.read(file);
  expect(await ouro('replay', file)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 request identical') });
  expect(await runInTerminal()).toContain('already exist');
  expect(await project.read(file)).toBe(written);
});

const SAME = '2 requests identical; the loop took the same steps in 1 run.\n';

test('a replay and its capsule build the same bytes, without secrets; a changed record is detected', async () => {
  await project.write('.env', `API_KEY=${SECRET}\n`);
  await talk(
    (_, index) => (index === 0 ? calls(text('I look.'), toolUse('Bash', { command: 'cat .env; pwd' })) : says('done')),
    `mail me@example.com that my key is ${SECRET}`,
  );
  const { id, path } = await storedFile(project);
  expect(await ouro('replay', id)).toMatchObject({ code: 0, stdout: SAME });
  await ouro('sessions', 'capsule', id, '--output', 'bug.capsule');
  const capsule = await project.read('bug.capsule');
  expect(capsule).toContain('[secret]');
  for (const hidden of [SECRET, 'me@example.com', project.home]) expect(capsule).not.toContain(hidden);
  expect(await ouro('replay', 'bug.capsule')).toMatchObject({ code: 0, stdout: SAME });
  const whole = await readFile(path, 'utf8');
  const lines = whole.split('\n');
  const changed = lines.map((line) => (line.includes('"type":"result"') ? line.replace('API_KEY', 'OTHER') : line));
  await writeFile(path, changed.join('\n'));
  const differs = await ouro('replay', id);
  expect(differs).toMatchObject({ code: 1, stdout: expect.stringMatching(/Request 2 differs.*message 3/) });
  expect(differs.stdout).toContain('OTHER');
  await ouro('sessions', 'capsule', id, '--output', 'bug2.capsule');
  expect(await ouro('replay', 'bug2.capsule')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/Request 2 .*message 3/),
  });
  await writeFile(path, whole.replace('"reason":"next_turn"', '"reason":"follow_up"'));
  expect(await ouro('replay', id)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/Request 1 differs.*the transition after it[\s\S]*next_turn instead of follow_up/),
  });
  await writeFile(path, whole.replace('"reason":"completed"', '"reason":"refusal"'));
  expect(await ouro('replay', id, '--json')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('"completed instead of refusal"'),
  });
  await writeFile(path, whole);
});

longTest(
  'changes of a prompt are undone after -p: tools and shell, file modes and ignored files, prompt by prompt',
  async () => {
    await project.write('.gitignore', 'secret\n');
    await project.initGit();
    await project.write('secret', 'mine');
    await chmod(join(project.dir, 'secret'), 0o600);
    await mkdir(join(project.dir, 'empty'));
    const before = await picture(project.dir);
    const git = await project.git('rev-parse', 'HEAD');
    await talk(
      [
        calls(
          toolUse('Write', { file_path: 'new.txt', content: 'new' }),
          toolUse('Bash', { command: 'git clean -qfdx; rm -rf a.txt; mkdir b; echo x > b/x' }),
        ),
        says('done'),
      ],
      'tidy up',
    );
    const between = await picture(project.dir);
    await talk([calls(toolUse('Bash', { command: 'chmod 700 b; mv b c' })), says('done')], '--continue', 'again');
    expect((await ouro('undo', '--list')).stdout).toMatch(/again\n.*tidy up\n$/);
    expect(await ouro('undo')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Restored the files from before: again'),
    });
    expect(await picture(project.dir)).toEqual(between);
    expect(await ouro('undo', '--redo')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('from before the undo'),
    });
    expect(await picture(project.dir)).not.toEqual(between);
    await project.write('c/x', 'by hand');
    expect(await ouro('undo')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^Not all files could be restored from before: again/m),
    });
    expect(await ouro('undo', '--redo')).toMatchObject({ code: 0 });
    await project.write('c/x', 'x\n');
    expect((await ouro('undo')).code).toBe(0);
    expect(await picture(project.dir)).toEqual(between);
    expect((await ouro('undo')).code).toBe(0);
    expect(await picture(project.dir)).toEqual(before);
    expect(await project.git('rev-parse', 'HEAD')).toBe(git);
    expect(await ouro('undo')).toMatchObject({ code: 1, stderr: 'There are no file changes to undo.\n' });
  },
);

longTest(
  'empty files left by a kill do not interfere, and a session with a destroyed beginning is still found',
  async () => {
    await talk(() => says('The walrus was Paul.'), 'who was the walrus?');
    const { path, id } = await storedFile(project);
    const dir = dirname(path);
    const fileOf = (digit: string) => join(dir, `${digit.repeat(8)}-0000-4000-8000-000000000000.jsonl`);
    await writeFile(fileOf('1'), '');
    await writeFile(fileOf('2'), (await readFile(path, 'utf8')).slice(0, 30));
    await mkdir(join(dir, 'drafts'), { recursive: true });
    await writeFile(join(dir, 'drafts', 'old.json'), '{}');
    expect(await ouro('sessions', 'check')).toMatchObject({ code: 0, stdout: expect.not.stringContaining('11111111') });
    expect(JSON.parse((await ouro('sessions', 'list', '--json')).stdout)).toMatchObject([{ id }]);
    await talk(() => says('Again.'), 'go on', '--session-id', basename(fileOf('2'), '.jsonl'));
    expect((await ouro('sessions', 'list')).stdout).toMatch(/22222222.*go on/);

    const bytes = await readFile(path);
    await writeFile(path, bytes.fill(0, 0, 9_000));
    expect((await ouro('sessions', 'list')).stdout).toContain(id.slice(0, 8));
    const resumed = await ouro('-p', 'and now?', '--resume', id);
    expect(resumed).toMatchObject({ code: 0, stderr: expect.stringContaining('Lines: 1 unreadable.') });
    expect(await ouro('sessions', 'check', id)).toMatchObject({ code: 1 });

    const old = new Date(Date.now() - 40 * 86_400_000);
    for (const one of [fileOf('1'), fileOf('2'), join(dir, 'drafts', 'old.json')]) await utimes(one, old, old);
    await talk(() => says('Fine.'), 'and now?', '--settings', '{"cleanupPeriodDays": 30}');
    const left = await readdir(dir, { recursive: true });
    expect(left).not.toContain(basename(fileOf('1')));
    expect(left).not.toContain(basename(fileOf('2')));
    expect(left).not.toContain(join('drafts', 'old.json'));
    expect(left).toContain(basename(path));
    // Its first request cannot be built anew: what it was made of is destroyed.
    await rm(path);
  },
);

longTest('a part of the title finds a session, an exact title first, and hook output is in no title', async () => {
  const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: 'echo HOOK-TEXT' }] }] };
  await talk(() => says('Done.'), 'fix the lexer', '--trust', '--settings', JSON.stringify({ hooks }));
  expect(server.requests()[0]?.raw).toContain('HOOK-TEXT');
  await talk(() => says('Done.'), 'write a Parser');
  const titles = JSON.parse((await ouro('sessions', 'list', '--json')).stdout).map(({ title }: never) => title);
  expect(titles.toSorted()).toEqual(['fix the lexer', 'write a Parser']);
  expect(await ouro('-p', 'and now?', '-r', 'LEXER')).toMatchObject({ code: 0, stdout: 'Done.\n' });
  expect(server.requests().at(-1)?.raw).toContain('fix the lexer');
  expect((await ouro('sessions', 'show', 'parser')).stdout).toContain('# write a Parser');
  expect((await ouro('-p', 'x', '-r', 'er')).stderr).toMatch(/"er" matches several sessions/);
  await ouro('sessions', 'rename', 'parser', 'lexer');
  expect((await ouro('sessions', 'show', 'lexer')).stdout).toContain('# lexer\n');
});

longTest('a session without a prompt cannot be forked', async () => {
  await talk(() => says('Done.'), 'hello');
  const before = await storedFiles(project);
  const { stdout, stderr } = await ouro('-p', '/fork');
  expect(`${stdout}${stderr}`).toContain('There is nothing to fork yet');
  expect(await storedFiles(project)).toHaveLength(before.length);
});
