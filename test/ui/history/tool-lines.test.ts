import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import { asked, begins, ends, grows, opens, over, starts } from '../components/events.ts';
import { openStage } from '../components/stage-screen.ts';

/** The rows that calls leave in the history of a terminal of 120 columns. */
async function rowsOf(...events: readonly AgentEvent[]): Promise<readonly string[]> {
  const screen = openStage({ cols: 120, rows: 40 });
  screen.tell(begins(), asked('go'), ...events);
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
  const rows = await rowsOf(starts('c1', 'Bash', 'cat x'), ends('c1', 'Bash', { display: output('x'.repeat(25_000)) }));
  expect(rows).toHaveLength(3);
  expect(rows[2]).toMatch(/… .* {2}ctrl\+o/);
});

test('a failure shows the lines that say why, in at most eight rows', async () => {
  const lines = Array.from({ length: 90 }, (_, at) => `ok ${at}`).toSpliced(40, 1, 'not ok 41 takes the discount once');
  const display = output(`${lines.join('\n')}\n# pass 89\n# fail 1`, 1);
  const rows = await rowsOf(starts('c1', 'Bash', 'npm test'), ends('c1', 'Bash', { status: 'failed', display }));
  expect(rows[0]).toBe('✗ $ npm test  exit 1  1 of 90 fail');
  expect(rows).toContain('│ not ok 41 takes the discount once');
  expect(rows.length).toBeLessThanOrEqual(9);
});

test('beside counts a failure shows what tells why and nothing of what passed; without any, its end', async () => {
  const lines = Array.from({ length: 90 }, (_, at) => (at % 9 === 4 ? `not ok ${at} broken` : `ok ${at}`));
  const failed = async (text: string) => {
    const display = output(text, 1);
    return rowsOf(starts('c1', 'Bash', 'npm test'), ends('c1', 'Bash', { status: 'failed', display }));
  };
  const counted = await failed(`${lines.join('\n')}\n# pass 80\n# fail 10`);
  expect(counted.slice(1)).toEqual([
    ...[4, 13, 22, 31, 40, 49, 58].map((at) => `│ not ok ${at} broken`),
    '│ … 85 lines  ctrl+o',
  ]);
  const silent = await failed(`${lines.map((_, at) => `line ${at}`).join('\n')}\n# pass 80\n# fail 10`);
  expect(silent.slice(-2)).toEqual(['│ # pass 80', '│ # fail 10']);
});

test('of what a test runner writes as YAML the values are shown, and no head without them', async () => {
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
  expect(rows.slice(1, -1).map((row) => row.replace(/^│ +/, ''))).toEqual([
    'not ok 2 - ten percent off',
    "location: '/shop/test/cart.test.mjs:14:1'",
    'Expected values to be strictly equal:',
    '19990 !== 18000',
    'expected: 18000',
    'actual: 19990',
  ]);
});

test('a command stands there whole, a script with its further lines, and how it ended once', async () => {
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

test('what is cut keeps rows that say something', async () => {
  const display = output(`\n> build\n> node b.mjs\n\n\nbuilt\n\n`);
  const rows = await rowsOf(starts('c1', 'Bash', 'npm run build'), ends('c1', 'Bash', { display }));
  expect(rows.slice(1)).toEqual(['│ > build', expect.stringMatching(/^│ … \d lines {2}ctrl\+o$/), '│ built']);
});

const found = (path: string) => ({ kind: 'file', path: `/home/me/proj/${path}`, lines: 9, partial: false }) as const;

test('look-ups of several turns share a line, until something else is done or said', async () => {
  const turn = (at: number): readonly AgentEvent[] => [
    { type: 'turn_start', turn: at, model: 'm' },
    starts(`r${at}`, 'Read', `Read a${at}.ts`),
    ends(`r${at}`, 'Read', { display: found(`a${at}.ts`) }),
    { type: 'turn_end', turn: at, model: 'm', durationMs: 1 },
  ];
  const rows = await rowsOf(...turn(1), ...turn(2), opens('text'), grows('Now I know.'), ...turn(3), over());
  expect(rows.slice(0, 3)).toEqual(['✓ Read a1.ts, a2.ts', 'Now I know.', '✓ Read a3.ts']);
});

test('a notice stands below what was looked up before it', async () => {
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

test('a new file takes at most ten rows, a change 24, counted as the terminal wraps them', async () => {
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

test('with times of day a turn ends with one', async () => {
  const screen = openStage({ cols: 80, rows: 24 }, { times: 'shown' });
  screen.tell(begins(), asked('go'), starts('c1', 'Bash', 'true'), ends('c1', 'Bash', {}), over());
  await screen.settled();
  expect(screen.screen()).toContainEqual(expect.stringMatching(/^── .*1 call · \d\d:\d\d/));
  screen.close();
  screen.dispose();
});
