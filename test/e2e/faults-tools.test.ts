import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ApiBlock, brokenToolUse, calls, delayed, says, toolUse } from '../support/api/reply.ts';
import { gate, startApiServer } from '../support/api/server.ts';
import { bareEnvironment, terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { expectNoProcessesLeft, processesMarked } from '../support/processes.ts';
import { runHere } from '../support/run-here.ts';
import { LAUNCHER, runOuro, startOuro } from '../support/run-ouro.ts';
import { isWholeRun, someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

const run = promisify(execFile);
// Where the kernel lets a user have mounts of their own, a disk can be made that is really full.
const ownMounts = isWholeRun && (await mayMount());
let project: TempProject;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
});

afterEach(() => project.remove());

const FREE = ['--permission-mode', 'acceptEdits', '--allowedTools', 'Bash'];

type Result = { readonly tool_use_id: string; readonly content: string; readonly is_error?: boolean };

/** The results that the last request brought, by call. */
function resultsIn(raw: string | undefined): Readonly<Record<string, string>> {
  const { messages } = JSON.parse(raw ?? '{"messages":[]}');
  const results: Result[] = messages
    .flatMap(({ content }: { readonly content: readonly object[] | string }) => content)
    .filter((block: { readonly type: string }) => block.type === 'tool_result');
  return Object.fromEntries(
    results.map((one) => [one.tool_use_id, `${one.is_error ? 'error: ' : ''}${textOf(one.content)}`]),
  );
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}

/** One reply full of calls, and what came of each. */
async function outcomesOf(blocks: readonly ApiBlock[], args: readonly string[] = FREE) {
  await using server = await startApiServer({ turns: [calls(...blocks), says('seen')] });
  const end = await runHere(project, ['-p', 'go', ...args], server.url);
  expect(end).toMatchObject({ code: 0, stdout: 'seen\n' });
  expect(server.all().flatMap(({ violation }) => violation ?? [])).toEqual([]);
  return resultsIn(server.requests()[1]?.raw);
}

longTest('invalid input is answered with the field and what was expected, and the loop continues', async () => {
  const outcomes = await outcomesOf([
    toolUse('Reed', { file_path: 'a.txt' }, 'unknown'),
    toolUse('Read', { place: 'a.txt' }, 'missing'),
    toolUse('Bash', { command: { text: 'ls' } }, 'kind'),
    toolUse('Grep', { pattern: 'x', output_mode: 'all' }, 'choice'),
    toolUse('Read', ['a.txt'], 'list'),
    brokenToolUse('Read', '{"file_path":', 'cut'),
    brokenToolUse('Read', '"a.txt"', 'text'),
    brokenToolUse('Edit', '{"file_path":"a.txt",}', 'comma'),
    toolUse('Read', { file_path: 'a.txt' }, 'good'),
  ]);
  expect(outcomes).toMatchObject({
    unknown: expect.stringMatching(/^error: .*"?Reed"?.*Read/s),
    missing: expect.stringMatching(/^error: .*"file_path"/s),
    kind: expect.stringMatching(/^error: "command" must be text/),
    choice: expect.stringMatching(/^error: .*"output_mode".*content/s),
    list: expect.stringMatching(/^error: .*object/s),
    cut: expect.stringMatching(/^error: .*JSON/s),
    text: expect.stringMatching(/^error: .*object/s),
    comma: expect.stringMatching(/^error: .*JSON/s),
    good: '1→alpha',
  });
});

test('reads that could hang or flood are refused at once', async () => {
  await run('mkfifo', [join(project.dir, 'fifo')]);
  await project.write('huge', '');
  await truncate(join(project.dir, 'huge'), 5 * 1024 ** 3);
  const read = (path: string, id: string) => toolUse('Read', { file_path: join(project.dir, path) }, id);
  const outcomes = await outcomesOf([read('fifo', 'fifo'), read('.', 'folder'), read('huge', 'huge')]);
  expect(outcomes).toMatchObject({
    fifo: expect.stringMatching(/^error: .*FIFO/),
    folder: expect.stringMatching(/\/\n(?:.*\n)*a\.txt\nfifo\nhuge$/),
    huge: expect.stringMatching(/^error: .*too large \(5 GB/),
  });
});

test('a large result is stored whole: the model gets head, tail and path, and may read it', async () => {
  await project.write('many.txt', Array.from({ length: 4000 }, (_, at) => `found ${at}`).join('\n'));
  const input = { pattern: 'found', path: 'many.txt', output_mode: 'content', head_limit: 0 };
  await using server = await startApiServer({
    turns: ({ raw }, index) => {
      const kept = /in (\/[^;]+\.txt);/.exec(raw)?.[1] ?? '';
      const look = toolUse('Read', { file_path: kept, offset: 2000, limit: 1 }, 'look');
      return [calls(toolUse('Grep', input, 'big')), calls(look), says('seen')][index];
    },
  });
  await runHere(project, ['-p', 'go'], server.url);
  const { big = '', look } = resultsIn(server.requests()[2]?.raw);
  expect(look).toContain('2000→2000:found 1999');
  expect(big.length).toBeLessThan(30_000);
  expect(big).toContain('found 0\n');
  expect(big).toContain('found 3999');
  const path = /in (\/.+\.txt);/.exec(big)?.[1] ?? '';
  expect(path.startsWith(project.ouroHome)).toBe(true);
  expect((await readFile(path, 'utf8')).split('\n').length).toBeGreaterThanOrEqual(4000);
});

/** More than the program may hold. */
const FLOOD = isWholeRun
  ? { words: 'a gigabyte', bytes: 1_000_000_000 }
  : { words: 'hundreds of megabytes', bytes: 300_000_000 };

longTest(`${FLOOD.words} of output: bounded memory, head, tail and a path`, async () => {
  const { closed, open } = gate();
  await using server = await startApiServer({
    turns: (_request, index) =>
      index === 0
        ? calls(toolUse('Bash', { command: `echo first; head -c ${FLOOD.bytes} /dev/zero; echo; echo last` }, 'big'))
        : delayed(closed, says('seen')),
  });
  await using running = startOuro(project, ['-p', 'go', ...FREE], server.url);
  const { raw } = await server.waitForRequest(2);
  const peak = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${running.child.pid}/status`, 'utf8'))?.[1];
  open();
  expect(await running.ended).toMatchObject({ code: 0 });
  expect(Number(peak)).toBeLessThan(300_000);
  const { big = '' } = resultsIn(raw);
  expect(big).toMatch(/^first\n/);
  expect(big).toMatch(/last$/);
  expect(big).toContain(project.ouroHome);
  expect(big.length).toBeLessThan(40_000);
});

describe('no process is left running', () => {
  const STUBBORN = '(trap "" TERM HUP INT; setsid sleep 4001 & sleep 4002) & exec >/dev/null 2>&1; sleep 4003';

  // What ignores its end is waited for in both, so both wait at the same time.
  longTest('after a command ran out of time, and after one that was left in the background', async () => {
    const outcomeOf = async (id: string, input: object) => {
      await using own = await createTempProject();
      await using server = await startApiServer({ turns: [calls(toolUse('Bash', input, id)), says('seen')] });
      const { code } = await runOuro(own, ['-p', 'go', ...FREE], server.url);
      expect(code).toBe(0);
      await expectNoProcessesLeft(own.marker);
      return resultsIn(server.requests()[1]?.raw)[id];
    };
    const both = [
      outcomeOf('late', { command: STUBBORN, timeout: 1000 }),
      outcomeOf('behind', { command: STUBBORN, run_in_background: true }),
    ];
    expect(await Promise.all(both)).toEqual([
      expect.stringMatching(/^error: .*the limit of .* is reached/),
      expect.stringMatching(/background as shell_/),
    ]);
  });

  longTest('after SIGTERM during a command', async () => {
    await using server = await startApiServer({
      turns: [calls(toolUse('Bash', { command: `echo > up; ${STUBBORN}` }))],
    });
    await using running = startOuro(project, ['-p', 'go', ...FREE], server.url);
    await vi.waitFor(() => expect(existsSync(join(project.dir, 'up'))).toBe(true));
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 143 });
    await expectNoProcessesLeft(project.marker);
  });

  longTest('after ESC, while ouro itself continues', async () => {
    await using server = await startApiServer({
      turns: [calls(toolUse('Bash', { command: STUBBORN, description: 'wait for ever' })), says('Gone on.')],
    });
    await using terminal = openTerminal([LAUNCHER, ...FREE], {
      cwd: project.dir,
      env: terminalEnvironment(project, server.url),
    });
    const sleeping = async () =>
      (await processesMarked(project.marker)).filter(({ command }) => command.startsWith('sleep')).length;
    await terminal.waitForText(/^[▌|]/m);
    terminal.type('go');
    terminal.press('enter');
    await vi.waitFor(async () => expect(await sleeping()).toBe(3));
    terminal.press('esc');
    await terminal.waitForText(/Stopped\. Type what to do instead/);
    await vi.waitFor(async () => expect(await sleeping()).toBe(0));
    terminal.type('and on');
    terminal.press('enter');
    await terminal.waitForText(/Gone on\./);
    expect(server.all().flatMap(({ violation }) => violation ?? [])).toEqual([]);
  });
});

test.skipIf(process.getuid?.() === 0)(
  'in a read-only folder new files are refused, and others overwritten, which is said',
  async () => {
    await project.write('locked/a.txt', 'old\n');
    await chmod(join(project.dir, 'locked'), 0o555);
    const inFolder = (name: string) => join(project.dir, 'locked', name);
    const outcomes = await outcomesOf([
      toolUse('Read', { file_path: inFolder('a.txt') }, 'read'),
      toolUse('Write', { file_path: inFolder('b.txt'), content: 'new\n' }, 'new'),
      toolUse('Edit', { file_path: inFolder('a.txt'), old_string: 'old', new_string: 'new' }, 'old'),
    ]);
    expect(outcomes).toMatchObject({
      new: expect.stringMatching(/^error: .*no permission/),
      old: expect.stringMatching(/^Replaced .* It was overwritten in place: its folder or owner allows no new file/),
    });
    expect(await project.read('locked/a.txt')).toBe('new\n');
    expect(await readdir(join(project.dir, 'locked'))).toEqual(['a.txt']);
  },
);

describe('a file that cannot be written keeps its old content', () => {
  test.runIf(ownMounts)('on a full disk', async () => {
    await project.write('full/.keep', '');
    const file_path = join(project.dir, 'full/a.txt');
    const long = 'x'.repeat(200_000);
    await using server = await startApiServer({
      turns: [
        calls(toolUse('Read', { file_path }, 'read')),
        calls(
          toolUse('Write', { file_path, content: long }, 'write'),
          toolUse('Edit', { file_path, old_string: 'old', new_string: long }, 'edit'),
        ),
        says('seen'),
      ],
    });
    const line = `mount -t tmpfs -o size=64k none full && echo old > full/a.txt
      "$0" -p go --permission-mode acceptEdits </dev/null; cat full/a.txt; ls -A full`;
    const { stdout } = await run('unshare', ['-rm', 'sh', '-c', line, LAUNCHER], {
      cwd: project.dir,
      env: bareEnvironment(project, server.url),
    });
    expect(stdout).toBe('seen\nold\na.txt\n');
    expect(resultsIn(server.requests()[2]?.raw)).toMatchObject({
      write: expect.stringMatching(/^error: .*was not written and is unchanged: the disk is full/),
      edit: expect.stringMatching(/^error: .*was not written and is unchanged: the disk is full/),
    });
  });

  test.runIf(ownMounts).each(
    someOf<[string, string, string, number]>([
      [
        'full',
        'size=1m',
        'head -c 2m /dev/zero >"$OURO_HOME/fill" 2>/dev/null; truncate -s -4096 "$OURO_HOME/fill"',
        2,
      ],
      [
        'out of inodes',
        'size=9m,nr_inodes=200',
        'i=0; while touch "$OURO_HOME/fill$i"; do i=$((i+1)); done 2>/dev/null',
        0,
      ],
    ]),
  )('a compaction and later messages are restored when the disk of the sessions was %s', async (...row) => {
    const [, limits, fill, refused] = row;
    await using server = await startApiServer({
      turns: ({ raw }) => says(raw.includes('<summary>') ? '<summary>ALL OF IT</summary>' : 'y'.repeat(3_000)),
    });
    // What could not be written is kept in /tmp: here one of its own, gone with the mounts.
    const line = `mkdir -p "$OURO_HOME" && mount -t tmpfs -o ${limits} none "$OURO_HOME" && mkdir "$TMPDIR" && mount -t tmpfs none "$TMPDIR"
      ask() { "$0" -p "$@" </dev/null >/dev/null; }
      ask 'PROMPT 1'; ask -c 'PROMPT 0'; ${fill}; ask -c /compact; ask -c 'PROMPT 2'; rm "$OURO_HOME"/fill*; ask -c 'PROMPT 3'
      "$0" sessions check; find "$TMPDIR"`;
    const { stdout, stderr } = await run('unshare', ['-rm', 'sh', '-c', line, LAUNCHER], {
      cwd: project.dir,
      env: { ...bareEnvironment(project, server.url), TMPDIR: join(project.home, 'tmp') },
    });
    // What is there already needs no new inode.
    expect(stderr.match(/could not be saved .*ENOSPC.* is kept in /g) ?? []).toHaveLength(refused);
    const last = server.requests().at(-1)?.raw ?? '';
    expect(['ALL OF IT', 'PROMPT 1', 'PROMPT 2', 'PROMPT 3'].filter((words) => !last.includes(words))).toEqual([]);
    expect(stdout).toMatch(/sound/);
    expect(stdout).not.toMatch(/jsonl/);
  });
});

function mayMount(): Promise<boolean> {
  return run('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs -o size=64k none /mnt']).then(
    () => true,
    () => false,
  );
}
