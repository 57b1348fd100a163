import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { constants, openSync, readSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CallRequest, Tool } from '../../../src/contracts/tool.ts';
import { query } from '../../../src/engine/query.ts';
import { createBashTool } from '../../../src/tools/bash/bash.ts';
import { createShellRegistry } from '../../../src/tools/bash/shell-registry.ts';
import { longTest } from '../../support/long-test.ts';
import { drain } from '../../support/loop/drain.ts';
import { calls, scripted, userSays } from '../../support/loop/scripted.ts';
import { createTestReadOnlySandbox } from '../../support/read-only-sandbox.ts';
import { someOf } from '../../support/runs.ts';
import { NO_SANDBOX } from '../../support/sandbox.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';
import { ESCAPES } from './escapes.ts';

if (NO_SANDBOX !== undefined) process.stderr.write(`\n${NO_SANDBOX}\n`);

/** Commands get a `/tmp` of their own, so the projects of these tests are somewhere else. */
const PARENT = '/var/tmp';

/** What a command needs that the sandbox does not have. */
type Need = { readonly kind: 'write'; readonly path: string } | { readonly kind: 'connect'; readonly host?: string };

const SECRETS = [
  ...['.ssh/id_rsa', '.aws/credentials', '.netrc', '.git-credentials', '.newtool/login', '.config/newtool/token'],
  ...['.local/share/newtool/db', '.cache/newtool/session', '.history-of-x', '.ouro/keys.json', '.cache/ouro/x'],
];
const PROJECT_SECRETS = ['.env', 'prod.pem', 'deep/1/2/3/4/5/.env', 'private/x'];

async function plant(project: TempProject): Promise<void> {
  for (const name of [...SECRETS.map((secret) => `../home/${secret}`), ...PROJECT_SECRETS]) {
    const path = join(project.dir, name);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, 'SECRET');
  }
  await writeFile(join(project.home, 'kept'), '');
  await writeFile(join(project.home, 'outside'), '');
  await mkdir(join(project.dir, 'empty'));
  const links = {
    'to-home': project.home,
    'to-file': '/etc/hostname',
    'to-env': '.env',
    'to-key': '../home/.ssh/id_rsa',
  };
  for (const [name, target] of Object.entries(links)) await symlink(target, join(project.dir, name));
  await project.write('bin/planted', '#!/bin/sh\necho PLANTED\n');
  for (const pipe of ['pipe', 'deep/1/2/3/4/5/pipe']) spawnSync('mkfifo', [join(project.dir, pipe)]);
}

/** Everything below a folder: kinds, contents and times. */
async function takeSnapshot(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries: Record<string, string> = {};
  for (const name of (await readdir(folder, { recursive: true })).sort()) {
    const path = join(folder, name);
    const entry = await lstat(path);
    const content = entry.isFile() ? await readFile(path, 'utf8') : entry.isSymbolicLink() ? await readlink(path) : '';
    entries[name] = [entry.mode, entry.uid, entry.mtimeMs, content].join(' ');
  }
  return entries;
}

describe.skipIf(NO_SANDBOX !== undefined)(`the read-only sandbox (${NO_SANDBOX ?? 'bubblewrap works here'})`, () => {
  test('there is no way out of it, and nothing is changed', async () => {
    await using project = await createTempProject({ a: '1' }, PARENT);
    await project.initGit();
    await project.git('config', 'core.fsmonitor', 'touch /tmp/hook');
    await plant(project);
    const connections: string[] = [];
    const server = createServer((socket) => {
      connections.push('tcp');
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const datagrams = createSocket('udp4', () => connections.push('udp'));
    const udpPort = await new Promise<number>((resolve) => datagrams.bind(0, () => resolve(datagrams.address().port)));
    const local = createServer(() => connections.push('unix')).listen(join(project.dir, 'sock'));
    const pipe = openSync(join(project.dir, 'pipe'), constants.O_RDONLY | constants.O_NONBLOCK);
    const env = {
      MY_TOKEN: 'a-key-of-mine',
      PROJECT_URL: 'x',
      TAR_OPTIONS: '-v',
      PATH: `${project.dir}/bin:/usr/bin:/bin`,
    };
    const { sandbox, run } = createTestReadOnlySandbox(project, { env, deny: ['Read(private/**)'] });
    expect(sandbox.canEnforceReadOnly()).toBe(true);
    const before = await takeSnapshot(join(project.dir, '..'));

    const script = Object.entries(ESCAPES).map(
      ([name, attempt]) => `( ${attempt} ) 2>/dev/null </dev/null | sed 's/^.*OUT/OUT by ${name}:/'`,
    );
    const { printed } = await run(
      `export PORT=${port} UDP_PORT=${udpPort} HOST_PID=${process.pid}\n${script.join('\n')}\necho through`,
    );

    expect(Object.keys(ESCAPES).length).toBeGreaterThan(60);
    expect(printed.split('\n').filter((line) => line !== '')).toEqual(['through']);
    expect(await takeSnapshot(join(project.dir, '..'))).toEqual(before);
    expect(connections).toEqual([]);
    expect(readPipe(pipe)).toBe(0);
    for (const one of [server, local, datagrams]) one.close();
  });

  test('it tells the truth: a network of its own works, and what is missing or hidden fails', async () => {
    await using project = await createTempProject({ 'sub/.env': 'SECRET', 'closed/x': '1', '.env': 'SECRET' }, PARENT);
    const { run } = createTestReadOnlySandbox(project, { deny: ['Read(closed/**)'] });
    const serve =
      "import socket as s; a=s.create_server(('127.0.0.1',0)); b=s.create_connection(('localhost',a.getsockname()[1])); b.sendall(b'hello'); print(a.accept()[0].recv(9))";
    expect(await run(`python3 -c "${serve}"`)).toMatchObject({ printed: "b'hello'\n", code: 0 });
    expect(
      await run(
        "node -e \"require('http').createServer((q,r)=>r.end('hi')).listen(0,function(){fetch('http://localhost:'+this.address().port).then(r=>r.text()).then(t=>{console.log(t);process.exit()})})\"",
      ),
    ).toMatchObject({ printed: 'hi\n' });
    const refused = await run('curl -sS http://127.0.0.1:65000/');
    expect(refused).toMatchObject({ code: 7, blocked: [{ kind: 'connect' }] });
    const hidden = await run('cat .env; ls closed; cat closed/x; ip addr');
    expect(hidden.printed).toMatch(
      /\.env: Permission denied\n.*'closed'.*Permission denied\n.*closed\/x: Permission denied\n/,
    );
    expect(hidden.printed).not.toContain('LOOPBACK');
    const { printed, blocked, notes } = await run('cat sub/.env README; false');
    expect([printed.split('\n')[0], blocked]).toEqual(['cat: sub/.env: Permission denied', []]);
    expect(notes).toEqual([`[hidden in the sandbox, since it may hold secrets: ${join(project.dir, 'sub/.env')}]`]);
  });

  test('processes started by a program end with it', async () => {
    await using project = await createTempProject({}, PARENT);
    const { run } = createTestReadOnlySandbox(project);
    await run(`setsid -f sleep 70.${process.pid}; nohup sleep 70.${process.pid} & disown; (sleep 70.${process.pid} &)`);
    expect(spawnSync('pgrep', ['-f', `sleep 70.${process.pid}`]).stdout.toString()).toBe('');
  });

  test('an empty file that may vanish before the command starts is not covered', async () => {
    await using project = await createTempProject({ '.env': 'SECRET', 'sub/.env': '' }, PARENT);
    const { sandbox } = createTestReadOnlySandbox(project);
    const { wrap } = sandbox.prepare({ command: 'ls', cwd: project.dir, readable: [] });
    const words = wrap([]);
    expect([words.includes(join(project.dir, '.env')), words.includes(join(project.dir, 'sub/.env'))]).toEqual([
      true,
      false,
    ]);
  });

  longTest('syntax checks find the error, run nothing and leave no files', async () => {
    const files = { 'good.js': 'touch', 'bad.js': 'if (', 'good.sh': 'touch made', 'bad.sh': 'if', 'good.py': 'x = 1' };
    await using project = await createTempProject({ ...files, 'bad.py': 'if' }, PARENT);
    const { run } = createTestReadOnlySandbox(project);
    const checks = ['sh -n good.sh', 'sh -n bad.sh'];
    for (const [program, check] of [
      ['node', 'node --check X.js'],
      ['python3', 'python3 -m py_compile X.py'],
    ] as const)
      if (spawnSync(program, ['--version']).status === 0)
        checks.push(check.replace('X', 'good'), check.replace('X', 'bad'));
    for (const [at, check] of checks.entries()) {
      const { code, blocked } = await run(`${check} 2>/dev/null`);
      expect([check, code === 0, blocked]).toEqual([check, at % 2 === 0, []]);
    }
    expect((await readdir(project.dir)).toSorted()).toEqual(['bad.py', ...Object.keys(files)].toSorted());
  });

  test('git shows the same as outside, tracked secrets included', async () => {
    await using project = await createTempProject({ a: '1', 'certs/test.pem': 'x', '.env': 'TRACKED' }, PARENT);
    await writeFile(join(project.home, '.gitconfig'), '[user]\n  name = me\n[include]\n  path = ~/.gitconfig-work\n');
    await writeFile(join(project.home, '.gitconfig-work'), '[user]\n  email = me@work.example\n');
    await project.initGit();
    await project.write('.env.local', 'SECRET');
    await project.write('a', '2');
    const { run } = createTestReadOnlySandbox(project);
    const { printed } = await run(
      'git status --short; git diff --shortstat; git log --format=%s; git config user.email',
    );
    expect(printed).toBe(
      ' M a\n?? .env.local\n 1 file changed, 1 insertion(+), 1 deletion(-)\nStart\nme@work.example\n',
    );
    expect((await run('cat .env .env.local')).printed).not.toMatch(/TRACKED|SECRET/);
    expect((await run('cd . && git grep --untracked -h SECRET; echo over')).printed).toMatch(/^(error: .*\n)*over\n$/);
  });

  test.each([
    ...[
      'git status; cat .env',
      'cat .env; git status',
      'git log | xargs -I{} cat .env',
      'git --version && grep -rh TRACKED .',
    ],
    // Later variants.
    ...['cat .env # git', 'echo git; cat .env', 'cat .env git', 'git status | cat - .env', 'cat $(git ls-files)'],
    ...[
      'cat < .env; git status',
      'sort .env; git -C . status',
      'find . -name .env -exec cat {} +; git show',
      'for f in .env; do cat $f; git status; done',
    ],
    ...[
      'timeout 5 cat .env; git diff',
      'git grep -h x || head .env',
      'env cat .env; git status',
      '/usr/bin/git status; /bin/cat .env',
    ],
  ])('a tracked secret is visible only where git is the only program: %s', async (attack) => {
    await using project = await createTempProject({ a: '1', '.env': 'TRACKED' }, PARENT);
    await project.initGit();
    const run = async () => (await createTestReadOnlySandbox(project).run(attack)).printed;
    const printed = await run().catch(String);
    expect(printed).not.toContain('TRACKED');
  });

  test('git runs beside filters that open no file, and beside a plain configuration file', async () => {
    await using project = await createTempProject(
      { a: 'one\ntwo\n', '.env': 'TRACKED', '.npmrc': 'fund=false\n' },
      PARENT,
    );
    await project.initGit();
    const { run } = createTestReadOnlySandbox(project);
    expect((await run("git ls-files | sort -r | head -2 | tr -d '.'")).printed).toBe('a\nnpmrc\n');
    expect((await run('command -v git true | wc -l')).code).toBe(0);
    expect((await run('git status --short | wc -l && git ls-files | grep -ci NPM | tail -n 1')).printed).toBe('0\n1\n');
    const attacks = [
      'head .env',
      'grep -e TRACKED .env',
      'grep .e*',
      'grep -r TRACKED',
      'grep $X',
      'grep -f .env',
      'sort -T. .env',
      'cut -c1- .env',
      'tr a b .env',
      'cat - .env',
      'wc --files0-from=.env',
      'grep -eT .env',
      'sort --files0-from .env',
    ];
    for (const attack of attacks) {
      const attempt = async () => run(`git log | ${attack}`);
      const result = await attempt().catch(String);
      expect([attack, String(JSON.stringify(result)).includes('TRACKED')]).toEqual([attack, false]);
    }
    await project.write('.npmrc', '//registry.example/:_authToken=abcdefghijklmnop\n');
    expect((await run('cat .npmrc')).printed).toBe('cat: .npmrc: Permission denied\n');
  });

  longTest('worktrees and submodules find their repository, and a forged .git file opens nothing', async () => {
    await using project = await createTempProject({ a: '1' }, PARENT);
    await project.initGit();
    const tree = join(project.home, '.trees/one');
    await project.git('worktree', 'add', '-q', tree);
    expect((await createTestReadOnlySandbox(project, { roots: [tree] }).run('git log --format=%s; pwd')).printed).toBe(
      `Start\n${tree}\n`,
    );
    const liar = join(project.home, 'liar');
    await mkdir(join(project.home, '.secret'));
    await writeFile(join(project.home, '.secret/HEAD'), 'SECRET');
    await mkdir(liar);
    await writeFile(join(liar, '.git'), `gitdir: ${project.home}/.secret\n`);
    expect((await createTestReadOnlySandbox(project, { roots: [liar] }).run('cat ../.secret/HEAD')).code).toBe(1);
  });

  test('rules open what they name: hidden files, temporary files, one secret', async () => {
    await using project = await createTempProject({ '.env': 'one', 'sub/.env': 'two' }, PARENT);
    await using other = await createTempProject({ log: 'logged' }, '/tmp');
    await mkdir(join(project.home, '.newtool'));
    await writeFile(join(project.home, '.newtool/notes'), 'noted');
    const { run } = createTestReadOnlySandbox(project, { allow: ['Read(~/.newtool/**)', `Read(/${other.dir}/*)`] });
    const opened = await run(`cat ~/.newtool/notes ${other.dir}/log .env sub/.env; echo x > /tmp/x; cat /tmp/x`, [
      join(project.dir, '.env'),
    ]);
    expect(opened).toMatchObject({ printed: 'notedloggedonecat: sub/.env: Permission denied\nx\n', code: 0 });
    const outside = await createTestReadOnlySandbox(project).run(`cat ${other.dir}/log`);
    expect(outside.blocked).toEqual([{ kind: 'read', path: join(other.dir, 'log') }]);
  });

  longTest(
    'toolchains and plain configuration of the home folder stay readable, and files with tokens do not',
    async () => {
      await using project = await createTempProject({}, PARENT);
      const files = {
        '.npmrc': '//registry.example/:_authToken=abcdefghijklmnop\n',
        '.gitconfig': '[user]\n  name = me\n',
        '.cargo/bin/tool': '#!/bin/sh\necho tool\n',
        '.cargo/credentials.toml': 'SECRET',
        '.mytool/bin/mine': '#!/bin/sh\ncat ~/.mytool/lib\n',
        '.mytool/lib': 'mine\n',
        '.config/git/ignore': '*.log\n',
        '.config/other/token': 'SECRET',
      };
      for (const [name, text] of Object.entries(files)) {
        await mkdir(join(project.home, name, '..'), { recursive: true });
        await writeFile(join(project.home, name), text, { mode: 0o755 });
      }
      const path = `${project.home}/.cargo/bin:${project.home}/.mytool/bin:/usr/bin:/bin`;
      const { run } = createTestReadOnlySandbox(project, { env: { PATH: path } });
      const { printed } = await run(
        'tool; mine; cat ~/.gitconfig ~/.npmrc ~/.cargo/credentials.toml 2>&-; ls ~/.config',
      );
      expect(printed).toBe('tool\nmine\n[user]\n  name = me\ngit\n');
    },
  );

  longTest('more secret files than can be hidden one by one are hidden by folder, or nothing runs', async () => {
    await using project = await createTempProject({ 'decoys/readme': 'x', 'last/deep/real.pem': 'SECRET' }, PARENT);
    const fill = (folder: string) =>
      Promise.all([...Array(420).keys()].map((n) => project.write(join(folder, `${n}.pem`), 'SECRET')));
    await fill('decoys');
    const { printed } = await createTestReadOnlySandbox(project).run('grep -rs SECRET .; ls decoys last/deep');
    expect(printed).toBe("ls: cannot open directory 'decoys': Permission denied\nlast/deep:\nreal.pem\n");
    await fill('.');
    await expect(async () => createTestReadOnlySandbox(project).run('ls')).rejects.toThrow('secret files');
  });

  test('a command wrongly classified as read-only does no harm, and is asked about', async () => {
    await using project = await createTempProject({ a: '1', '.env': 'SECRET' }, PARENT);
    const asked: CallRequest['blocked'][] = [];
    const run = async (command: string, answer: 'yes' | 'no') => {
      const tool = createTool(project);
      const deps = scripted([calls({ name: tool.name, input: { command } })], {
        tools: () => [tool],
        cwd: () => project.dir,
        // A rule table that takes every command for one that only reads.
        async gate({ input, blocked }) {
          if (blocked === undefined) return { behavior: 'allow', input, enforce: { kind: 'read-only', readable: [] } };
          asked.push(blocked);
          return answer === 'yes'
            ? { behavior: 'allow', input }
            : { behavior: 'deny', message: 'refused', interrupt: false };
        },
      });
      const { events } = await drain(query([userSays('go')], deps, new AbortController().signal));
      return events.flatMap((event) => (event.type === 'tool_end' ? [event.result.content] : []));
    };
    const line = 'cat a .env; echo 2 > a; echo over; false';
    expect(await run(line, 'no')).toEqual(['refused']);
    expect(await project.read('a')).toBe('1');
    expect(await run(line, 'yes')).toEqual(['1SECRETover\n[ended with exit code 1]']);
    expect(await project.read('a')).toBe('2\n');
    const path = join(project.dir, 'a');
    expect(asked).toEqual([[{ kind: 'write', path }], [{ kind: 'write', path }]]);
    expect(await run('cat a; cd /; pwd', 'no')).toEqual([expect.stringContaining('2\n/')]);
  });

  test.each(
    someOf<readonly [string, Need | undefined]>(
      [
        ['touch x', { kind: 'write', path: 'x' }],
        ['echo > sub/../y', { kind: 'write', path: 'y' }],
        ['mkdir -p "a b"', { kind: 'write', path: 'a b' }],
        ['rm a', { kind: 'write', path: 'a' }],
        ["python3 -c \"open('z', 'w')\"", { kind: 'write', path: 'z' }],
        ["node -e \"fs.writeFileSync('n', '')\"", { kind: 'write', path: 'n' }],
        ['git commit --allow-empty -m x', { kind: 'write', path: '.git/index.lock' }],
        ['curl -sS http://example.com', { kind: 'connect', host: 'example.com' }],
        ['git ls-remote https://example.com/x', { kind: 'connect', host: 'example.com' }],
        ['python3 -c "import urllib.request as u; u.urlopen(\'http://example.com\')"', { kind: 'connect' }],
        ['node -e "fetch(\'http://example.com\')"', { kind: 'connect', host: 'example.com' }],
        ['perl -MSocket -e "socket(S,1,1,0) or die qq(socket: \\$!)"', { kind: 'connect', host: 'a local service' }],
        ['cat missing', undefined],
        ['false', undefined],
        ['grep -r no-such-word sub', undefined],
      ],
      2,
    ),
  )('a command that needs more says so: %s', async (command, effect) => {
    await using project = await createTempProject({ a: '1', 'sub/b': '1' }, PARENT);
    await project.initGit();
    const { blocked, code } = await createTestReadOnlySandbox(project).run(command);
    expect(code).not.toBe(0);
    const expected =
      effect !== undefined && 'path' in effect ? { ...effect, path: join(project.dir, effect.path) } : effect;
    expect(blocked[0]).toEqual(expected);
  });
});

function createTool(project: TempProject): Tool {
  const { sandbox } = createTestReadOnlySandbox(project);
  return createBashTool({
    shells: createShellRegistry(Date.now, () => undefined),
    variables: () => ({ PATH: '/usr/bin:/bin', HOME: project.home }),
    ledger: { started: () => undefined, ended: () => undefined },
    workspaceRoots: () => [project.dir],
    setCwd: () => undefined,
    outputFolder: join(project.home, 'outputs'),
    limits: () => ({ timeoutMs: 20_000, maxTimeoutMs: 30_000 }),
    prepareReadOnly: sandbox.prepare,
    now: Date.now,
  });
}

function readPipe(descriptor: number): number {
  return readSync(descriptor, Buffer.alloc(10));
}
