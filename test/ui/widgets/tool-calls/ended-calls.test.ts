import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../../src/contracts/event.ts';
import { asked, begins, ends, grows, opens, over, starts } from '../screen/events.ts';
import { openStage } from '../screen/stage-screen.ts';

/** The rows that calls leave in the history of a terminal of 120 columns. */
async function rowsOf(...events: readonly AgentEvent[]): Promise<readonly string[]> {
  const screen = openStage({ cols: 120, rows: 40 });
  screen.emit(begins(), asked('go'), ...events);
  await screen.settled();
  const all = [...screen.scrollback(), ...screen.screen()];
  screen.close();
  screen.dispose();
  const from = all.indexOf('▌ go');
  return all
    .slice(
      from + 2,
      all.findLastIndex((row) => row.startsWith('▌')),
    )
    .filter((row) => row !== '');
}

const output = (text: string, exitCode = 0) =>
  ({ kind: 'output', command: 'x', output: text, exitCode, hiddenLines: 0 }) as const;

test('an output of one line of 25 KB takes at most three rows', async () => {
  const rows = await rowsOf(
    starts('c1', 'Bash', 'make x'),
    ends('c1', 'Bash', { display: output('x'.repeat(25_000)) }),
  );
  expect(rows).toHaveLength(3);
  expect(rows[2]).toMatch(/… .* {2}ctrl\+o/);
});

test('a failure shows the lines with the reason, in at most eight rows', async () => {
  const lines = Array.from({ length: 90 }, (_, at) => `ok ${at}`).toSpliced(40, 1, 'not ok 41 takes the discount once');
  const display = output(`${lines.join('\n')}\n# pass 89\n# fail 1`, 1);
  const rows = await rowsOf(starts('c1', 'Bash', 'npm test'), ends('c1', 'Bash', { status: 'failed', display }));
  expect(rows[0]).toBe('✗ $ npm test  exit 1  1 of 90 fail');
  expect(rows).toContain('│ ✗ takes the discount once');
  expect(rows.length).toBeLessThanOrEqual(9);
});

test('with test counts a failure shows the failures and no passed tests; without counts, its end', async () => {
  const lines = Array.from({ length: 90 }, (_, at) => (at % 9 === 4 ? `not ok ${at} broken ${at}` : `ok ${at}`));
  const failed = async (text: string) => {
    const display = output(text, 1);
    return rowsOf(starts('c1', 'Bash', 'npm test'), ends('c1', 'Bash', { status: 'failed', display }));
  };
  const counted = await failed(`${lines.join('\n')}\n# pass 80\n# fail 10`);
  expect(counted.slice(1)).toEqual([
    ...[4, 13, 22, 31, 40, 49, 58].map((at) => `│ ✗ broken ${at}`),
    '│ … 3 more fail, 92 lines  ctrl+o',
  ]);
  const silent = await failed(`${lines.map((_, at) => `line ${at}`).join('\n')}\n# pass 80\n# fail 10`);
  expect(silent.slice(-2)).toEqual(['│ # pass 80', '│ # fail 10']);
});

test('a failed test takes one row, with its values and its location', async () => {
  const block = [
    ...[
      '  ---',
      "  location: '/shop/test/cart.test.mjs:14:1'",
      '  error: |-',
      '    Expected values to be strictly equal:',
    ],
    ...['', '    19990 !== 18000', '', "  code: 'ERR_ASSERTION'", '  expected: 18000', '  actual: 19990', '  ...'],
  ];
  const text = ['ok 1 - adds up', 'not ok 2 - ten percent off', ...block, '# pass 1', '# fail 1'].join('\n');
  const rows = await rowsOf(
    starts('c1', 'Bash', 'node --test'),
    ends('c1', 'Bash', { status: 'failed', display: output(text, 1) }),
  );
  expect(rows.slice(1)).toEqual([
    '│ ✗ ten percent off   Expected 18000, got 19990 · /shop/test/cart.test.mjs:14',
    '│ … 15 lines  ctrl+o',
  ]);
});

test('a command is shown whole, a script with its further lines, and its exit code once', async () => {
  const command = `cd src && ${'node check.mjs --all && '.repeat(6)}true`;
  const ended = { ...output('boom', 1), exitCode: null, end: 'ended by signal SIGKILL' };
  const rows = await rowsOf(
    starts('c1', 'Bash', `${command.slice(0, 59)}…`, { command }),
    ends('c1', 'Bash', { display: output('') }),
    starts('c2', 'Bash', 'set -e', { command: 'set -e\nnode a.mjs\nnode b.mjs\n' }),
    ends('c2', 'Bash', { status: 'failed', display: ended }),
  );
  expect(rows.join('').startsWith(`✓ $ ${command}`)).toBe(true);
  expect(rows.slice(-4)).toEqual(['✗ $ set -e  ended by signal SIGKILL', '│ node a.mjs', '│ node b.mjs', '│ boom']);
});

test('cut output keeps meaningful rows', async () => {
  const lines = ['1', '2', '3', '4', '5'].join('\n\n');
  const display = output(`\n> build\n\n${lines}\nbuilt\n\n`);
  const rows = await rowsOf(starts('c1', 'Bash', 'npm run build'), ends('c1', 'Bash', { display }));
  expect(rows.slice(1)).toEqual(['│ > build', expect.stringMatching(/^│ … \d+ lines {2}ctrl\+o$/), '│ built']);
});

test('three lines or fewer are never hidden, in an output, a script or a new file', async () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`);
  const shown = async (count: number, command = 'npm run build') => {
    const display = output(numbers(count).join('\n\n'));
    return rowsOf(starts('c1', 'Bash', command, { command }), ends('c1', 'Bash', { display }));
  };
  expect(await shown(5)).toHaveLength(6);
  expect(await shown(6)).toHaveLength(4);
  expect(await shown(0, ['x', ...numbers(6)].join('\n'))).toHaveLength(7);
  expect(await shown(0, ['x', ...numbers(7)].join('\n'))).toHaveLength(5);
});

test('output of a command of the user is shown whole up to twenty rows', async () => {
  const shown = async (count: number) => {
    const display = output(Array.from({ length: count }, (_, at) => `line ${at}`).join('\n'));
    return rowsOf({ ...starts('c1', 'Bash', 'ls'), messageId: '' }, ends('c1', 'Bash', { display }));
  };
  expect((await shown(20)).slice(0, 3)).toEqual(['✓ ! ls', '│ line 0', '│ line 1']);
  expect([(await shown(20)).length, (await shown(22)).length, (await shown(40)).length]).toEqual([21, 23, 21]);
});

test('commands that only show something join the lookups', async () => {
  const commands = ['ls -la', 'cat a.ts', 'git log --oneline -5', 'git status', 'git diff --stat', 'rg x | head -5'];
  const others = ['git diff', 'ls; rm x', 'cat a > b', 'ls $(rm x)', 'ls | xargs rm', 'npm test'];
  const events = (command: string, at: number): readonly AgentEvent[] => [
    starts(`c${at}`, 'Bash', command, { command }),
    ends(`c${at}`, 'Bash', { display: output('one\ntwo') }),
  ];
  const read = [starts('r', 'Read', 'Read a.ts'), ends('r', 'Read', { display: found('a.ts') })];
  const [line] = await rowsOf(...read, ...commands.flatMap(events), over());
  expect(line).toBe(
    '✓ Looked  Read a.ts · $ ls -la 2, cat a.ts 2, git log --oneline -5 2, git status 2, git diff --stat 2, rg x | head -5 2',
  );
  const rows = await rowsOf(...others.flatMap(events));
  expect(rows.filter((row) => row.startsWith('✓'))).toEqual(others.map((command) => `✓ $ ${command}`));
});

const found = (path: string) => ({ kind: 'file', path: `/home/me/proj/${path}`, lines: 9, partial: false }) as const;

test('lookups of several turns share a line, until another call or text', async () => {
  const turn = (at: number): readonly AgentEvent[] => [
    { type: 'turn_start', turn: at, model: 'm' },
    starts(`r${at}`, 'Read', `Read a${at}.ts`),
    ends(`r${at}`, 'Read', { display: found(`a${at}.ts`) }),
    { type: 'turn_end', turn: at, model: 'm', durationMs: 1 },
  ];
  const rows = await rowsOf(...turn(1), ...turn(2), opens('text'), grows('Now I know.'), ...turn(3), over());
  expect(rows.slice(0, 3)).toEqual(['✓ Read a1.ts, a2.ts', 'Now I know.', '✓ Read a3.ts']);
});

test('a notice is below the lookups before it', async () => {
  const read = [starts('r1', 'Read', 'Read a.ts'), ends('r1', 'Read', { display: found('a.ts') })];
  const rows = await rowsOf(...read, { type: 'notice', level: 'info', text: 'By the way.' });
  expect(rows.slice(0, 2)).toEqual(['✓ Read a.ts', 'By the way.']);
});

test('a session of 21 calls takes at most 80 rows', async () => {
  const read = (name: string) => ({ kind: 'file', path: `/home/me/proj/${name}`, lines: 9, partial: false }) as const;
  const long = Array.from({ length: 60 }, (_, at) => `line ${at}`).join('\n');
  const events = Array.from({ length: 7 }, (_, at) => [
    starts(`r${at}`, 'Read', `Read a${at}.ts`),
    starts(`g${at}`, 'Grep', `Grep word${at}`),
    starts(`b${at}`, 'Bash', `npm test ${at}`),
    ends(`r${at}`, 'Read', { display: read(`a${at}.ts`) }),
    ends(`g${at}`, 'Grep', { display: { kind: 'list', summary: '7 matches', items: [], total: 7 } }),
    ends(`b${at}`, 'Bash', { status: at % 2 === 0 ? 'failed' : 'done', display: output(long, at % 2 === 0 ? 1 : 0) }),
  ]).flat();
  const rows = await rowsOf(...events, over());
  expect(rows.length).toBeLessThanOrEqual(80);
  expect(rows[0]).toBe('✓ Looked  Read a0.ts · Grep word0 7');
  expect(rows.at(-1)).toMatch(/^── .* · 21 calls/);
});

test('a new file takes at most ten rows, a change 24, counted after wrapping', async () => {
  const change = (count: number, text: string, created: boolean) => {
    const lines = Array.from({ length: count }, (_, at) => ({ kind: 'add', text: `${text}${at}` }) as const);
    const hunks = [{ oldStart: 1, oldLines: 0, newStart: 1, newLines: count, lines }];
    return { kind: 'diff', path: '/home/me/proj/a.ts', created, hunks, added: count, removed: 0 } as const;
  };
  const rows = async (display: ReturnType<typeof change>) =>
    (await rowsOf(starts('c1', 'Write', 'Write a.ts'), ends('c1', 'Write', { display }))).slice(1);
  expect(await rows(change(10, 'short', true))).toHaveLength(10);
  const long = await rows(change(60, 'short', true));
  expect([long.length, long.at(-1)]).toEqual([10, '  … 51 lines  ctrl+o']);
  expect(await rows(change(60, 'short', false))).toHaveLength(24);
  const wide = await rows(change(60, 'wide '.repeat(40), false));
  expect([wide.length <= 24, wide.at(-1)]).toEqual([true, '  … 49 lines  ctrl+o']);
});

test('with timestamps a turn ends with one', async () => {
  const screen = openStage({ cols: 80, rows: 24 }, { times: 'shown' });
  screen.emit(begins(), asked('go'), starts('c1', 'Bash', 'true'), ends('c1', 'Bash', {}), over());
  await screen.settled();
  expect(screen.screen()).toContainEqual(expect.stringMatching(/^── .*1 call · \d\d:\d\d/));
  screen.close();
  screen.dispose();
});
