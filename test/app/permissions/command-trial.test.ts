import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/contracts/json.ts';
import type { PermissionAnswer, PermissionRequest } from '../../../src/contracts/permission.ts';
import { calls, says, toolUse } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { NO_SANDBOX } from '../../support/sandbox.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

type Answer = PermissionAnswer | ((request: PermissionRequest) => Promise<PermissionAnswer>);
const YES = { behavior: 'allow' } as const;
const NO = { behavior: 'deny' } as const;

/** Runs a command with trials turned on; returns the questions and what the model read. */
async function run(
  project: TempProject,
  command: string,
  answer: Answer,
  settings: JsonObject = {},
  variables: Readonly<Record<string, string>> = {},
) {
  await project.write('../home/.ouro/settings.json', JSON.stringify({ commandTrial: 'on', ...settings }));
  await using server = await startApiServer({ turns: [calls(toolUse('Bash', { command })), says('Done.')] });
  const made = await composed(project, server.url, { frontend: 'screen' }, variables);
  const asked: PermissionRequest[] = [];
  const { agent } = made.conversation;
  agent.subscribe((event) => {
    if (event.type !== 'permission_request') return;
    asked.push(event.request);
    void (async () =>
      agent.answerPermission(event.request.id, typeof answer === 'function' ? await answer(event.request) : answer))();
  });
  await agent.prompt('go');
  await made.close();
  return { asked, result: /"tool_result".*/s.exec(server.requests().at(-1)?.raw ?? '')?.[0] ?? '' };
}

const listLines = ({ preview }: PermissionRequest) =>
  preview?.kind === 'diff'
    ? preview.hunks.flatMap(({ path = '', lines }) => lines.map(({ kind, text }) => `${path} ${kind} ${text}`))
    : [];

describe.skipIf(NO_SANDBOX !== undefined)('commands in a throw-away layer', () => {
  test('what changes nothing stands, and nobody is asked', async () => {
    await using project = await createTempProject({ 'a.mjs': 'console.log(6 * 7)\n' }, '/var/tmp');
    const { asked, result } = await run(project, 'node a.mjs', NO);
    expect(asked).toEqual([]);
    expect(result).toContain('42');
  });

  test('what changes something is asked about with its diff; yes makes the changes without a second run', async () => {
    await using project = await createTempProject({ 'a.txt': 'one\n', 'b/c.txt': 'x\n', 'b/d.txt': 'x\n' }, '/var/tmp');
    const script = `node -e "fs.appendFileSync('a.txt','two '+Math.random()+'\\n');fs.mkdirSync('new');fs.writeFileSync('new/f','f',{mode:0o700});fs.rmSync('b/c.txt');fs.symlinkSync('a.txt','l');console.log('ran')"`;
    const { asked, result } = await run(project, script, async () => {
      expect(await readFile(join(project.dir, 'a.txt'), 'utf8')).toBe('one\n');
      expect(existsSync(join(project.dir, 'new'))).toBe(false);
      return YES;
    });
    expect(asked).toHaveLength(1);
    const lines = asked.flatMap(listLines);
    const added = lines.find((line) => line.startsWith('a.txt add two '))?.slice('a.txt add '.length);
    expect(await readFile(join(project.dir, 'a.txt'), 'utf8')).toBe(`one\n${added}\n`);
    expect((await lstat(join(project.dir, 'new/f'))).mode & 0o777).toBe(0o700);
    expect(existsSync(join(project.dir, 'b/c.txt'))).toBe(false);
    expect(existsSync(join(project.dir, 'b/d.txt'))).toBe(true);
    expect(await readlink(join(project.dir, 'l'))).toBe('a.txt');
    expect(asked[0]?.printed).toEqual(['ran']);
    expect(result).toContain('ran');
  });

  test('no keeps nothing', async () => {
    await using project = await createTempProject({ 'a.txt': 'one\n' }, '/var/tmp');
    const { asked } = await run(project, `node -e "fs.writeFileSync('a.txt','two')"`, NO);
    expect(asked.flatMap(listLines)).toContain('a.txt add two');
    expect(await readFile(join(project.dir, 'a.txt'), 'utf8')).toBe('one\n');
  });

  const node = (code: string) => `node -e "${code}"`;

  test.each([
    [
      'a server of this machine',
      node(`require('net').connect(9,'127.'+'0.0.1').on('error',()=>0)`),
      'reach the network',
    ],
    ['the network', node(`require('net').connect(80,'192.0.2.1').on('error',()=>0)`), 'reach the network'],
    ['the network by IPv6', node(`require('net').connect(80,'2001:db8::1').on('error',()=>0)`), 'reach the network'],
    ['a name', node(`require('dns').resolve('example.org',()=>0)`), 'reach the network'],
    ['the home folder', node(`fs.writeFileSync(os.homedir()+'/.net'+'rc','x')`), 'wrote ~/.netrc'],
    [
      'a folder of the home folder',
      node(`fs.mkdirSync(os.homedir()+'/x');fs.writeFileSync(os.homedir()+'/x/y','x')`),
      'wrote ~/x/y',
    ],
    ['hard links', node(`fs.linkSync('a.txt','b.txt')`), 'made hard links: '],
    ['a hard link to a new file', node(`fs.writeFileSync('n','');fs.linkSync('n','m')`), 'made hard links: '],
    ['a named pipe', node(`require('child_process').execSync('mkfifo p')`), 'neither a file nor a folder'],
    ['a large file', node(`fs.writeFileSync('large',Buffer.alloc(30e6))`), 'a file has'],
    ['many files', node(`for(let n=0;n<2100;n++)fs.writeFileSync('f'+n,'')`), 'changed more than'],
    [
      'a new name for a folder',
      node(`fs.mkdirSync('x');fs.rmdirSync('x');fs.renameSync('d','e')`),
      'could not rename a folder',
    ],
    ['a time without end', node(`setInterval(()=>0,1e3)`), 'did not end within 5 s'],
  ])('what uses %s is asked about as a command, and nothing of it is kept', async (_, command, why) => {
    await using project = await createTempProject({ 'a.txt': 'one\n', 'd/x': '' }, '/var/tmp');
    const { asked } = await run(project, command, NO);
    expect(asked.map(({ reasons }) => reasons[0])).toEqual([expect.stringContaining(why)]);
    expect(asked[0]?.preview).toBeUndefined();
    expect((await readdir(project.dir)).toSorted()).toEqual(['a.txt', 'd']);
    expect(existsSync(join(project.home, '.netrc'))).toBe(false);
  });

  test.each([
    ['git hooks', '.git/hooks/post-commit'],
    ['settings of ouro', '.ouro/settings.json'],
    ['settings of an editor', '.vscode/tasks.json'],
    ['a program of the shell', '.envrc'],
    ['a denied file', 'denied/file'],
  ])('%s are changed only with the question or the refusal that an edit gets', async (_, path) => {
    await using project = await createTempProject(
      { 'denied/old': '', '.git/HEAD': 'ref: refs/heads/main\n' },
      '/var/tmp',
    );
    const hidden = Buffer.from(path).toString('base64');
    const command = node(
      `const p=Buffer.from('${hidden}','base64')+'';fs.mkdirSync(require('path').dirname(p),{recursive:true});fs.writeFileSync(p,'x')`,
    );
    const { asked, result } = await run(project, command, NO, { permissions: { deny: ['Edit(denied/**)'] } });
    if (path.startsWith('denied')) expect(result).toContain('is denied by Edit(denied/**)');
    else expect(asked.map(({ danger, canRemember }) => [danger, canRemember])).toEqual([['breaker', 'never']]);
    expect(existsSync(join(project.dir, path))).toBe(false);
  });

  test('caches that a command fills are left out', async () => {
    await using project = await createTempProject({ 'node_modules/a/index.js': '' }, '/var/tmp');
    const command = node(
      `for(const d of ['__pycache__','node_modules/.cache'])fs.mkdirSync(d,{recursive:true}),fs.writeFileSync(d+'/x','x');fs.mkdirSync(os.homedir()+'/.cache/x',{recursive:true});fs.writeFileSync(os.homedir()+'/.cache/x/y','y')`,
    );
    const { asked } = await run(project, command, NO);
    expect(asked.map(({ reasons }) => reasons)).toEqual([]);
  });

  test('a cache that a command deletes is asked about', async () => {
    await using project = await createTempProject({ '__pycache__/a.pyc': 'x' }, '/var/tmp');
    const { asked } = await run(project, 'rm -rf __pycache__', YES);
    expect(asked.map(({ preview }) => preview?.kind)).toEqual(['diff']);
    expect(await readdir(project.dir)).toEqual([]);
  });

  test('what changed while the question was open is left alone, and the model reads so', async () => {
    await using project = await createTempProject({ 'a.txt': 'one\n' }, '/var/tmp');
    const { result } = await run(
      project,
      node(`fs.writeFileSync('a.txt','two');fs.writeFileSync('b','')`),
      async () => {
        await writeFile(join(project.dir, 'a.txt'), 'of the user\n');
        return YES;
      },
    );
    expect(result).toContain('Nothing was changed: a.txt changed while the question was open.');
    expect(await readFile(join(project.dir, 'a.txt'), 'utf8')).toBe('of the user\n');
    expect(existsSync(join(project.dir, 'b'))).toBe(false);
  });

  test('changes follow no link that took the place of a folder', async () => {
    await using project = await createTempProject({ 'd/a.txt': 'one\n' }, '/var/tmp');
    await project.write('../outside/a.txt', 'one\n');
    const outside = join(project.dir, '../outside');
    await run(project, node(`fs.writeFileSync('d/a.txt','two');fs.writeFileSync('d/new','')`), async () => {
      await rm(join(project.dir, 'd'), { recursive: true });
      await symlink(outside, join(project.dir, 'd'));
      return YES;
    });
    expect(await readFile(join(outside, 'a.txt'), 'utf8')).toBe('one\n');
    expect(await readdir(outside)).toEqual(['a.txt']);
  });

  test('folders become files and files folders; a folder made anew has lost what it held', async () => {
    await using project = await createTempProject({ 'd/a/b': 'x', f: 'x', 'e/old': 'x', 'e/keep/x': 'x' }, '/var/tmp');
    const code = `fs.rmSync('d',{recursive:true});fs.writeFileSync('d','now a file');fs.rmSync('f');fs.mkdirSync('f');fs.writeFileSync('f/x','y');fs.rmSync('e',{recursive:true});fs.mkdirSync('e');fs.writeFileSync('e/new','n')`;
    const { asked } = await run(project, node(code), YES);
    expect(asked).toHaveLength(1);
    expect(await readFile(join(project.dir, 'd'), 'utf8')).toBe('now a file');
    expect(await readFile(join(project.dir, 'f/x'), 'utf8')).toBe('y');
    expect(await readdir(join(project.dir, 'e'))).toEqual(['new']);
  });

  test('names of any kind, modes, times and hard links are kept', async () => {
    await using project = await createTempProject({ one: 'x' }, '/var/tmp');
    await link(join(project.dir, 'one'), join(project.dir, 'two'));
    await chmod(join(project.dir, 'one'), 0o640);
    const code = `fs.appendFileSync('one','y');const n='a:b,c d\\n\\\\e';fs.writeFileSync(n,n);fs.utimesSync(n,1e9,1e9);fs.writeFileSync(Buffer.from([0x66,0xff]),'bytes')`;
    const { asked } = await run(project, node(code), YES);
    expect(asked).toHaveLength(1);
    expect(await readFile(join(project.dir, 'two'), 'utf8')).toBe('xy');
    expect((await lstat(join(project.dir, 'one'))).mode & 0o777).toBe(0o640);
    const name = (await readdir(project.dir)).find((entry) => entry.startsWith('a:')) ?? '';
    expect((await lstat(join(project.dir, name))).mtimeMs).toBe(1e12);
    expect(await readFile(Buffer.concat([Buffer.from(`${project.dir}/f`), Buffer.from([0xff])]), 'utf8')).toBe('bytes');
  });

  test('secret files are not visible, and other modes and settings of projects try nothing', async () => {
    await using project = await createTempProject(
      { '.env': 'TOKEN=geheim\n', 'a.mjs': `console.log(require('fs'))` },
      '/var/tmp',
    );
    const reads = await run(
      project,
      node(`try{console.log(fs.readFileSync('.e'+'nv','utf8'))}catch(e){console.log(e.code)}`),
      NO,
    );
    expect(reads.result).toContain('EACCES');
    expect(reads.result).not.toContain('geheim');
    await project.write('.ouro/settings.json', JSON.stringify({ commandTrial: 'on' }));
    const { asked } = await run(project, 'node --version; node a.mjs', NO, { commandTrial: 'off' });
    expect(asked).toHaveLength(1);
    for (const defaultMode of ['plan', 'dontAsk']) {
      const { result } = await run(project, node(`console.log('tried')`), NO, { permissions: { defaultMode } });
      expect(result).not.toContain('tried\\n');
    }
  });

  test('a workspace in the home folder has a layer, one that holds the home folder has none', async () => {
    await using project = await createTempProject({ 'a.txt': 'one\n' }, '/var/tmp');
    const command = node(`fs.writeFileSync('a.txt','two')`);
    const inside = await run(project, command, NO, {}, { HOME: dirname(project.dir) });
    expect(inside.asked.flatMap(listLines)).toContain('a.txt add two');
    const around = await run(project, command, NO, {}, { HOME: join(project.dir, 'home') });
    await mkdir(join(project.dir, 'home'));
    const held = await run(project, command, NO, {}, { HOME: join(project.dir, 'home') });
    expect([around, held].map(({ asked }) => asked[0]?.reasons[0])).toEqual([
      expect.stringContaining('the home folder lies in the workspace'),
      expect.stringContaining('the home folder lies in the workspace'),
    ]);
    expect(await readFile(join(project.dir, 'a.txt'), 'utf8')).toBe('one\n');
  });

  test.each([
    'curl http://127.0.0.1:1/',
    'npm install left-pad',
    'docker run --rm x',
    'psql -c 1',
    'npm run dev',
    'node server.mjs & sleep 1',
    'git push',
    'ssh host',
    'sudo make',
    'node --watch a.mjs',
    'gh pr create',
    'echo x > /etc/x',
    'cat ~/.ssh/id_rsa | node a.mjs',
  ])('%s is not tried', async (command) => {
    await using project = await createTempProject({ 'a.mjs': '' }, '/var/tmp');
    const { asked } = await run(project, command, NO);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.preview).toBeUndefined();
    expect(asked[0]?.reasons.join(' ')).not.toContain('copy of the workspace');
  });

  test('what fails for a file outside, which the layer does not show, is asked about', async () => {
    await using project = await createTempProject({}, '/var/tmp');
    await project.write('../outside.mjs', 'console.log(1)');
    const { asked } = await run(project, 'node ../outside.mjs', NO);
    expect(asked[0]?.reasons[0]).toContain(`it tried to read ${join(project.dir, '../outside.mjs')}`);
  });

  test.skipIf(process.getuid?.() !== 0)('a workspace of another user has no layer', async () => {
    await using project = await createTempProject({}, '/var/tmp');
    await chown(project.dir, 1, 1);
    const { asked } = await run(project, node(`fs.writeFileSync('a.txt','two')`), NO);
    expect(asked[0]?.reasons[0]).toContain('belongs to another user');
  });
});
