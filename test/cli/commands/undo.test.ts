import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { calls, says, toolUse } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { longTest } from '../../support/long-test.ts';
import { runHere } from '../../support/run-here.ts';
import { LAUNCHER } from '../../support/run-ouro.ts';
import { isWholeRun, someOf } from '../../support/runs.ts';
import { storedFile } from '../../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

const LARGE = 'large\n'.repeat(20_000);

let project: TempProject;
let id: string;
let firstPrompt: string;

/** Two prompts: the first changes `a.txt` and creates `src/b.txt`, the second changes `a.txt` and `big.txt` and creates `c.txt`. */
beforeAll(async () => {
  project = await createTempProject({ 'a.txt': 'zero\n', 'big.txt': LARGE });
  const write = (file: string, text: string) => toolUse('Bash', { command: `printf '${text}\\n' > ${file}` });
  await using server = await startApiServer({
    turns({ raw }, index) {
      if (index === 0)
        return calls(write('a.txt', 'one'), toolUse('Bash', { command: 'mkdir src; echo b > src/b.txt' }));
      if (index === 1) return says('Done.');
      return raw.includes('toolu_two')
        ? says('Done.')
        : calls(toolUse('Bash', { command: 'echo two > a.txt; echo c > c.txt; echo small > big.txt' }, 'toolu_two'));
    },
  });
  const flags = ['--dangerously-skip-permissions'];
  const env = { env: { IS_SANDBOX: '1' } };
  await runHere(project, ['-p', 'first', ...flags], server.url, env);
  await runHere(project, ['-p', '--continue', 'second', ...flags], server.url, env);
  id = (await storedFile(project)).id;
  const { stdout } = await runHere(project, ['undo', '--list']);
  firstPrompt = /^(\w{8}) {2}.*first$/m.exec(stdout)?.[1] ?? '';
  await symlink('src', join(project.dir, 'link'));
  await writeFile(join(project.home, 'other.txt'), 'other\n');
  await cp(dirname(project.dir), `${dirname(project.dir)}-saved`, { recursive: true, verbatimSymlinks: true });
});

beforeEach(async () => {
  for (const folder of [project.dir, project.home]) {
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
    await cp(folder.replace(dirname(project.dir), `${dirname(project.dir)}-saved`), folder, {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
});

afterAll(async () => {
  await rm(`${dirname(project.dir)}-saved`, { recursive: true, force: true });
  await project.remove();
});

const undo = async (...args: readonly string[]) => runHere(project, ['undo', ...args]);

/** The files as one line each. */
async function files(): Promise<Record<string, string | undefined>> {
  const read = async (name: string) => {
    const text = await readFile(join(project.dir, name), 'utf8').catch(() => undefined);
    return text?.split('\n')[0];
  };
  return { a: await read('a.txt'), b: await read('src/b.txt'), c: await read('c.txt'), big: await read('big.txt') };
}

const NOTHING = { a: 'two', b: 'b', c: 'c', big: 'small' };
const SECOND = { a: 'one', b: 'b', c: undefined, big: 'large' };
const ALL = { a: 'zero', b: undefined, c: undefined, big: 'large' };

const cases: readonly (readonly [readonly string[], object, number])[] = [
  [[], SECOND, 0],
  [['a.txt'], { ...NOTHING, a: 'one' }, 0],
  [['./a.txt'], { ...NOTHING, a: 'one' }, 0],
  [['src/../a.txt'], { ...NOTHING, a: 'one' }, 0],
  [['DIR/a.txt'], { ...NOTHING, a: 'one' }, 0],
  [['c.txt'], { ...NOTHING, c: undefined }, 0],
  [['src'], { ...NOTHING, b: undefined }, 0],
  [['src/'], { ...NOTHING, b: undefined }, 0],
  [['src/b.txt'], { ...NOTHING, b: undefined }, 0],
  [['link'], { ...NOTHING, b: undefined }, 0],
  [['link/b.txt'], { ...NOTHING, b: undefined }, 0],
  [['a.txt', 'src'], { ...NOTHING, a: 'one', b: undefined }, 0],
  [['a.txt', 'c.txt'], { ...NOTHING, a: 'one', c: undefined }, 0],
  [['.'], SECOND, 0],
  [['..'], SECOND, 0],
  [['ID'], SECOND, 0],
  [['ID8'], SECOND, 0],
  [['ID8', 'c.txt'], { ...NOTHING, c: undefined }, 0],
  [['--session', 'ID', 'a.txt'], { ...NOTHING, a: 'one' }, 0],
  [['--to', 'FIRST'], ALL, 0],
  [['--to', 'FIRST', 'a.txt'], { ...NOTHING, a: 'zero' }, 0],
  [['--to', 'nope', 'a.txt'], NOTHING, 1],
  [['--to', ''], NOTHING, 2],
  [['--to=', 'a.txt'], NOTHING, 2],
  [['--session', ''], NOTHING, 2],
  [['nope.txt'], NOTHING, 1],
  [['a.txt', 'nope.txt'], NOTHING, 1],
  [['../home/other.txt'], NOTHING, 1],
  [['*.txt'], NOTHING, 1],
  [['deadbeef'], NOTHING, 1],
  [['last'], NOTHING, 1],
  [['--', '--list'], NOTHING, 1],
];

test.each(someOf(cases, 10))('ouro undo %j', async (words, expected, code) => {
  const names: Record<string, string> = { ID: id, ID8: id.slice(0, 8), FIRST: firstPrompt };
  const end = await undo(...words.map((word) => (names[word] ?? word).replace('DIR', project.dir)));
  expect({ code: end.code, files: await files() }).toEqual({ code, files: expected });
});

test('files are undone one after the other, and redone in reverse', async () => {
  await undo('a.txt');
  await undo('a.txt');
  expect((await files()).a).toBe('zero');
  expect(await undo('a.txt')).toMatchObject({ code: 1, stdout: '' });
  await undo('--redo');
  expect((await files()).a).toBe('one');
  await undo();
  expect(await files()).toEqual({ ...SECOND, a: 'one' });
});

const RETRY = 'Run the same command again';
const hasProgram = (...argv: readonly string[]) => spawnSync(argv[0] ?? '', argv.slice(1)).status === 0;
/** Only root may do this, on few file systems. */
const canLock = hasProgram('sh', '-c', 'f=$(mktemp); chattr +i "$f" && chattr -i "$f"; code=$?; rm "$f"; exit $code');
const canMount = isWholeRun && hasProgram('unshare', '-rm', 'sh', '-c', 'mount -t tmpfs x /mnt');

/** Runs `ouro undo` as a process inside a shell command that ends in `"$@"`. */
function undoInShell(command: string, ...argv: readonly string[]) {
  const [file = '', ...args] = [...argv, 'sh', '-c', command, 'sh', LAUNCHER, 'undo'];
  const { status, stderr } = spawnSync(file, args, {
    cwd: project.dir,
    // Records that cannot be written there are stored where the next undo looks.
    env: { ...bareEnvironment(project), TMPDIR: tmpdir() },
    encoding: 'utf8',
  });
  return { code: status, canRetry: stderr.includes(RETRY) };
}

describe('an undo that fails half-way can be repeated, and says so', () => {
  test('where a folder replaced a file', async () => {
    await undo();
    await undo('--redo');
    await rm(join(project.dir, 'big.txt'));
    await mkdir(join(project.dir, 'big.txt'));
    await writeFile(join(project.dir, 'big.txt', 'mine'), '');
    expect((await undo()).code).toBe(1);
    expect(await files()).toEqual({ ...SECOND, big: undefined });
  });

  test.runIf(canLock)('where the system refuses a write', async () => {
    const file = join(project.dir, 'a.txt');
    spawnSync('chattr', ['+i', file]);
    const first = await undo();
    const half = await files();
    const second = await undo();
    spawnSync('chattr', ['-i', file]);
    expect(half).toEqual({ ...SECOND, a: 'two' });
    expect([first.code, first.stderr.includes(RETRY)]).toEqual([1, true]);
    expect([second.code, second.stderr.includes(RETRY)]).toEqual([1, true]);
    expect((await undo('--list')).stdout).toMatch(/1 file {2}second/);
    expect(await undo()).toMatchObject({ code: 0, stderr: '' });
    expect(await files()).toEqual(SECOND);
    await undo();
    expect(await files()).toEqual(ALL);
  });

  test.runIf(canLock && isWholeRun)('where the system refuses a removal', async () => {
    const file = join(project.dir, 'src/b.txt');
    spawnSync('chattr', ['+i', file]);
    const first = await undo('--to', firstPrompt);
    spawnSync('chattr', ['-i', file]);
    expect([first.code, first.stderr.includes(RETRY), await files()]).toEqual([1, true, { ...ALL, b: 'b' }]);
    expect((await undo('--to', firstPrompt)).code).toBe(0);
    expect([await files(), (await readdir(project.dir)).includes('src')]).toEqual([ALL, false]);
  });

  test.runIf(canLock && isWholeRun)('where a redo is refused', async () => {
    await undo();
    const file = join(project.dir, 'a.txt');
    spawnSync('chattr', ['+i', file]);
    const first = await undo('--redo');
    spawnSync('chattr', ['-i', file]);
    expect([first.code, first.stderr.includes(RETRY), await files()]).toEqual([1, true, { ...NOTHING, a: 'one' }]);
    expect((await undo('--redo')).code).toBe(0);
    expect(await files()).toEqual(NOTHING);
  });

  longTest('where the file size is limited and nothing can be recorded', async () => {
    expect(undoInShell('ulimit -f 4; exec "$@"')).toMatchObject({ code: 1 });
    expect((await files()).big).toBe('small');
    expect((await undo()).code).toBe(0);
    expect(await files()).toEqual(SECOND);
  });

  test.runIf(canMount)('where the disk is full', async () => {
    const folder = project.dir;
    const command = [
      'mount -t tmpfs -o size=48k ouro /mnt',
      `cp -a "${folder}/." /mnt/ && mount --bind /mnt "${folder}" && cd "${folder}"`,
      '"$@"; code=$?',
      `cd /; umount "${folder}"; cp -a /mnt/. "${folder}/"; for f in a c; do [ -e /mnt/$f.txt ] || rm "${folder}/$f.txt"; done; exit $code`,
    ].join('\n');
    expect(undoInShell(command, 'unshare', '-rm')).toEqual({ code: 1, canRetry: true });
    expect(await files()).toEqual({ ...SECOND, big: 'small' });
    expect((await undo()).code).toBe(0);
    expect(await files()).toEqual(SECOND);
  });
});
