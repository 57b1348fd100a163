import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Decision } from '../../../../src/contracts/permission.ts';
import { createHardenedGitEnv } from '../../../../src/git/run-git.ts';
import { decide } from '../../../../src/permissions/decide.ts';
import { diskFs } from '../../../../src/permissions/permission-fs.ts';
import {
  getExactProgramFacts,
  listKnownProgramNames,
} from '../../../../src/permissions/shell/programs/find-program-facts.ts';
import { getToolFacts } from '../../../../src/tools/tool-traits.ts';
import { longTest } from '../../../support/long-test.ts';
import { createTestReadOnlySandbox } from '../../../support/read-only-sandbox.ts';
import { isWholeRun, runs } from '../../../support/runs.ts';
import { createTempProject, type TempProject } from '../../../support/temp-project.ts';
import { policyFor } from '../../fixture.ts';

const PATH = '/usr/local/bin:/usr/bin:/bin';
const hasStrace = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true'], { env: { PATH } }).status === 0;
// A few while somebody waits, in CI a tenth, at night every line.
const { numRuns } = runs(10);
const share = numRuns >= 30 ? 1 : isWholeRun ? numRuns / 40 : 0.005;

/** Words and letters of a pattern for options, each of which may be one. */
function listWords(pattern: RegExp): readonly string[] {
  const words = pattern.source.replace(/\\[a-zA-Z]/g, ' ').match(/[a-z][\w-]+/gi) ?? [];
  const letters = [...new Set(pattern.source.match(/[a-zA-Z]/g) ?? [])];
  return [
    ...words.flatMap((word) => [`--${word}`, `--${word}=1`, `-${word}`]),
    ...letters.map((letter) => `-${letter}`),
  ];
}

const OPERANDS = ['', 'a.txt', 'x a.txt', '.', 'x .', '@p.args', './*', 'list.txt'];

/** Every option of a row, each with every kind of operand; the gate decides which of these lines run unasked. */
function listLines(name: string): readonly string[] {
  const { readOnlyOptions, readOnlySubcommands = {}, versionArg, versionQuery } = getExactProgramFacts(name);
  const short = [...(readOnlyOptions?.short ?? '').matchAll(/([A-Za-z0-9.])([:=@]?)/g)].flatMap(([, letter, kind]) =>
    kind === '' ? [`-${letter}`] : [`-${letter} ${kind === '@' ? 'a.txt' : '1'}`, `-${letter}1`],
  );
  const long = (readOnlyOptions?.long ?? '').split(' ').flatMap((entry) => {
    const [, option = '', kind = ''] = /^([\w-]+)([=#@?]?)$/.exec(entry) ?? [];
    if (option === '') return [];
    return kind === '' ? [`--${option}`] : [`--${option}=${kind === '@' ? 'a.txt' : '1'}`, `--${option}`];
  });
  const subcommands = Object.entries(readOnlySubcommands).flatMap(([sub, options]) => [
    sub,
    ...listWords(options).map((option) => `${sub} ${option}`),
  ]);
  const asked = [versionArg, versionQuery?.arg].flatMap((arg) => (arg === undefined ? [] : listWords(arg)));
  const heads = ['', '--version', '--help', ...asked, ...short, ...long, ...subcommands];
  return heads.flatMap((head) =>
    OPERANDS.map((operand) => [name, head, operand].filter((part) => part !== '').join(' ')),
  );
}

const GIT_LINES = [
  'status',
  'log',
  'show',
  'diff',
  'blame',
  'grep x',
  'ls-files',
  'branch',
  'tag',
  'describe --always',
  'stash list',
].flatMap((sub) =>
  ['', '-p', '--stat', '-s', '-v', '-n 1', '--all', '--cached', '-z', 'HEAD', 'a.txt', '-- a.txt'].map((option) =>
    `git ${sub} ${option}`.trim(),
  ),
);

/** A folder in which every file that a program could run, follow or ask a host for is planted. */
async function createHostileFolder(): Promise<TempProject> {
  const project = await createTempProject({ 'a.txt': 'one two\n', 'list.txt': '.env\n', 'src/b.txt': 'b\n' });
  const evil = `#!/bin/sh\ntouch ${project.dir}/planted\n`;
  const plant = (path: string, text: string) => {
    mkdirSync(join(project.dir, path, '..'), { recursive: true });
    writeFileSync(join(project.dir, path), text);
    chmodSync(join(project.dir, path), 0o755);
  };
  plant('.env', 'TOKEN=planted\n');
  plant('p.args', `--plugin=${project.dir}/evil.so\n.env\n`);
  plant('.npmrc', 'registry=http://127.0.0.1:9/\u0024{HOME}\nscript-shell=./evil\nnode-options=--require ./evil.cjs\n');
  plant('.corepack.env', 'COREPACK_NPM_REGISTRY=http://127.0.0.1:9\n');
  plant('.yarnrc', 'yarn-path "./evil"\n');
  plant('.tool-versions', 'node 1.0.0\npython 1.0.0\n');
  plant('package.json', '{"name":"x","packageManager":"yarn@9.9.9","scripts":{"x":"./evil"}}');
  plant('go.mod', 'module x\n\ngo 1.99\n\ntoolchain go1.99.9\n');
  plant('rust-toolchain', '9.9.9\n');
  plant('.cargo/config.toml', `[build]\nrustc-wrapper = "${project.dir}/evil"\n`);
  plant('.gitattributes', '* filter=evil diff=evil\n');
  plant('.shellcheckrc', 'external-sources=true\n');
  plant('Makefile', 'all:\n\t./evil\n');
  plant('evil.cjs', `require('node:fs').writeFileSync('${project.dir}/planted', '')\n`);
  for (const name of ['evil', 'ls', 'cat', 'less', 'git', 'sh', 'gzip', 'grep', 'node']) plant(name, evil);
  await project.initGit();
  return project;
}

const CHANGES =
  'creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat';

/** Runs a line outside any sandbox, and returns what it did besides reading. */
function trace(project: TempProject, line: string): readonly string[] {
  const log = join(project.home, 'trace');
  const env = { PATH, HOME: project.home, LANG: 'C.UTF-8', PAGER: 'cat', ...createHardenedGitEnv() };
  const shell = ['/bin/bash', '--noprofile', '--norc', '-c', line];
  const args = ['-f', '-qq', '-s', '200', '-e', `trace=execve,connect,openat,open,${CHANGES}`, '-o', log, ...shell];
  spawnSync('strace', args, { cwd: project.dir, env, timeout: 10_000, stdio: 'ignore' });
  const calls = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
  rmSync(log, { force: true });
  const { startsPrograms = [] } = getExactProgramFacts(line.split(' ')[0] ?? '');
  const known = [line.split(' ')[0] ?? '', 'bash', ...startsPrograms];
  return calls.filter((call) => isEffect(call, known) && !/ = -1 /.test(call));
}

function isEffect(call: string, known: readonly string[]): boolean {
  const [, name = '', rest = ''] = /^\d+ +(\w+)\((.*)$/.exec(call) ?? [];
  if (name === '' || name === 'resumed') return false;
  if (name === 'execve')
    return !known.some((program) =>
      new RegExp(`^"/(?:usr/|usr/local/)?bin/${program.replace(/\W/g, '\\$&')}"`).test(rest),
    );
  if (name === 'connect') return /AF_INET/.test(rest);
  if (name === 'open' || name === 'openat')
    return /O_WRONLY|O_RDWR|O_CREAT/.test(rest) && !/"\/dev\/(?:null|tty)"/.test(rest);
  return true;
}

function decideIn({ dir, home }: TempProject, command: string): Decision {
  const policy = { ...policyFor({ home, ws: dir, outside: home }), searchPath: PATH.split(':') };
  return decide(getToolFacts('Bash', { command }, dir), policy, diskFs);
}

/** The lines of all rows that run unasked here. */
function listUnasked(project: TempProject): readonly string[] {
  const isInstalled = (name: string) => PATH.split(':').some((folder) => existsSync(join(folder, name)));
  // These wait for input, or for time to pass.
  const names = listKnownProgramNames().filter((name) => isInstalled(name) && !['sleep', 'watch'].includes(name));
  const lines = [...new Set([...names.flatMap(listLines), ...GIT_LINES])];
  const step = Math.max(1, Math.round(1 / share));
  return lines.filter((line, index) => index % step === 0 && decideIn(project, line).verdict === 'allow');
}

// Without strace, what a program does cannot be seen.
if (!hasStrace) console.log('Skipped: strace cannot be run, so the effects of options are not seen.');

test.skipIf(!hasStrace)(
  'no option of a row without sandbox writes, connects or starts another program',
  { timeout: 900_000 },
  async () => {
    await using project = await createHostileFolder();
    const lines = listUnasked(project).filter((line) => {
      const policy = {
        ...policyFor({ home: project.home, ws: project.dir, outside: project.home }),
        searchPath: PATH.split(':'),
      };
      const { canEnforceReadOnly: _, ...none } = policy;
      return decide(getToolFacts('Bash', { command: line }, project.dir), none, diskFs).verdict === 'allow';
    });
    expect(lines.length).toBeGreaterThan(share * 100);
    expect(lines.flatMap((line) => trace(project, line).map((call) => `${line}: ${call}`))).toEqual([]);
    expect(existsSync(join(project.dir, 'planted'))).toBe(false);
  },
);

test.runIf(hasStrace && isWholeRun)(
  'no option of any row does harm in the read-only sandbox',
  { timeout: 900_000 },
  async () => {
    await using project = await createHostileFolder();
    const box = createTestReadOnlySandbox(project);
    if (!box.sandbox.canEnforceReadOnly())
      return console.log('Skipped: there is no read-only sandbox on this machine.');
    const before = spawnSync('find', [project.dir, '-printf', '%p %s %T@\\n'], { encoding: 'utf8' }).stdout;
    // The kernel keeps these from harm, so fewer of them are tried than of those above.
    const lines = listUnasked(project).filter(
      (line, index) => index % (share === 1 ? 1 : 8) === 0 && decideIn(project, line).enforce !== undefined,
    );
    const printed: string[] = [];
    for (const line of lines) {
      // A line that runs git beside other programs is refused, because git tracks the secret file.
      const run = async () => (await box.run(`{ ${line}; } < /dev/null`)).printed;
      if ((await run().catch(String)).includes('TOKEN=planted')) printed.push(line);
    }
    expect(printed).toEqual([]);
    expect(spawnSync('find', [project.dir, '-printf', '%p %s %T@\\n'], { encoding: 'utf8' }).stdout).toBe(before);
    expect(lines.length).toBeGreaterThan(share * 10);
  },
);

longTest('a row that is wrong on purpose does no harm in the read-only sandbox', async () => {
  await using project = await createHostileFolder();
  const box = createTestReadOnlySandbox(project);
  if (!box.sandbox.canEnforceReadOnly()) return console.log('Skipped: there is no read-only sandbox on this machine.');
  const wrong = [
    './evil',
    'touch planted',
    'cat .env',
    'rm a.txt',
    'cp .env /tmp/x && cat /tmp/x',
    'echo x > a.txt',
    'exec 3<>/dev/tcp/127.0.0.1/9',
  ];
  for (const line of wrong) {
    const { printed } = await box.run(line);
    expect([line, printed.includes('TOKEN=planted')]).toEqual([line, false]);
  }
  expect([existsSync(join(project.dir, 'planted')), await project.read('a.txt')]).toEqual([false, 'one two\n']);
});
