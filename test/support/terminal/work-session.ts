import { type ApiReply, calls, reply, says, text, toolUse } from '../api/reply.ts';
import type { TerminalScreen } from './terminal-screen.ts';

const READ = (file_path: string) => toolUse('Read', { file_path });
const SHELL = (command: string) => toolUse('Bash', { command, description: 'Run it' });
const EDIT = (old_string: string, new_string: string) =>
  toolUse('Edit', { file_path: 'src/cart.mjs', old_string, new_string });
const FAILURES = Array.from({ length: 90 }, (_, at) =>
  at === 40 ? 'not ok 41 takes the discount once' : `ok ${at + 1}`,
);

/** A project for one long prompt: a bug is found, fixed, tested and documented. */
export const WORK_FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "shop", "type": "module" }\n',
  'README.md': '# Shop\n\nA cart with a discount.\n',
  'src/cart.mjs': `const rate = 0.1;\n\nexport function total(sum) {\n  return sum - discount(sum) - discount(sum);\n}\n\nfunction discount(sum) {\n  return sum * rate;\n}\n`,
  'src/prices.mjs': Array.from({ length: 60 }, (_, at) => `export const price${at} = ${at};`).join('\n'),
  'fails.txt': `${FAILURES.join('\n')}\n# pass 89\n# fail 1\n`,
  'passes.txt': `${FAILURES.join('\n').replace('not ok', 'ok')}\n# pass 90\n# fail 0\n`,
};

const DONE = 'All tests pass. The discount was taken twice in `src/cart.mjs`.';

/** The replies of the model: 21 calls in nine replies, some of them with text. */
export const WORK_TURNS: readonly ApiReply[] = [
  reply([
    text('I look at the project first.'),
    toolUse('Glob', { pattern: '**/*.mjs' }),
    READ('package.json'),
    READ('README.md'),
  ]),
  calls(READ('src/cart.mjs'), toolUse('Grep', { pattern: 'discount' }), READ('src/prices.mjs')),
  reply([
    text('Now the tests, before I change anything.'),
    SHELL('cat fails.txt; exit 1'),
    SHELL('git status --short'),
  ]),
  calls(toolUse('Grep', { pattern: 'total' }), toolUse('Grep', { pattern: 'rate' }), READ('src/cart.mjs')),
  reply([
    text('The discount is applied twice. I change it.'),
    EDIT(' - discount(sum) - discount(sum)', ' - discount(sum)'),
  ]),
  calls(SHELL('cat passes.txt'), SHELL('ls -la')),
  reply([
    text('The rate belongs to the settings.'),
    EDIT('const rate = 0.1;', 'const rate = 0.1; // a tenth'),
    READ('src/cart.mjs'),
    toolUse('Glob', { pattern: '*.md' }),
  ]),
  calls(
    toolUse('Write', { file_path: 'NOTES.md', content: 'The discount is taken once.\n\n- the rate is a tenth\n' }),
    SHELL('cat passes.txt'),
  ),
  calls(READ('NOTES.md'), SHELL('git diff --stat')),
  says(DONE),
];

/** The output of a test runner with two failures among many passed tests. */
const RUN_LINES = Array.from({ length: 90 }, (_, at) => {
  if (at === 40) return `not ok 41 takes the discount once${failureBlock(90, 80, 6)}`;
  return at === 41 ? `not ok 42 rounds half a cent up${failureBlock(1.01, 1, 7)}` : `ok ${at + 1} test ${at + 1}`;
});

function failureBlock(expected: number, actual: number, line: number): string {
  const block = [
    '---',
    'duration_ms: 0.4',
    `location: 'test/cart.test.mjs:${line}:1'`,
    "failureType: 'testCodeFailure'",
    `error: 'Expected values to be strictly equal: ${actual} !== ${expected}'`,
    "code: 'ERR_ASSERTION'",
    `expected: ${expected}`,
    `actual: ${actual}`,
    "operator: 'strictEqual'",
    'stack: |-',
    `  TestContext.<anonymous> (file:///shop/test/cart.test.mjs:${line}:10)`,
    '  Test.runInAsyncScope (node:async_hooks:206:9)',
    '...',
  ];
  return `\n${block.map((row) => `  ${row}`).join('\n')}`;
}

/** A session with more to show: two runs of tests that fail, a listing, a file and a log from the shell. */
export const HEAVY_FILES: Readonly<Record<string, string>> = {
  ...WORK_FILES,
  'fails.txt': `TAP version 13\n${RUN_LINES.join('\n')}\n1..90\n# tests 90\n# pass 88\n# fail 2\n`,
};

/** The replies of the model in the larger session: 21 calls in twelve replies. */
export const HEAVY_TURNS: readonly ApiReply[] = [
  reply([text('I look at the project first.'), SHELL('ls -la'), SHELL('git log'), READ('package.json')]),
  calls(SHELL('cat src/prices.mjs'), toolUse('Glob', { pattern: '**/*.mjs' }), READ('src/cart.mjs')),
  reply([text('Now the tests, before I change anything.'), SHELL('cat fails.txt; exit 1')]),
  calls(toolUse('Grep', { pattern: 'discount' }), READ('README.md')),
  reply([
    text('The discount is applied twice. I change it.'),
    EDIT(' - discount(sum) - discount(sum)', ' - discount(sum)'),
  ]),
  reply([text('The same tests again.'), SHELL('cat fails.txt; exit 1')]),
  reply([
    text('The rate was read as a percentage.'),
    EDIT('const rate = 0.1;', 'const rate = 0.1; // a tenth'),
    READ('src/cart.mjs'),
  ]),
  calls(SHELL('cat passes.txt'), SHELL('git status')),
  calls(SHELL('git diff'), toolUse('Grep', { pattern: 'rate' })),
  calls(toolUse('Write', { file_path: 'NOTES.md', content: 'The discount is taken once.\n\n- the rate is a tenth\n' })),
  calls(READ('NOTES.md'), SHELL('git log --oneline -5'), SHELL('git diff --stat')),
  says(DONE),
];

/** Text on the screen when the work is done. */
export const WORK_DONE = /21 calls/;

/** Lists the rows between the prompt and the draft. */
export function listWorkRows({ scrollback, screen }: Pick<TerminalScreen, 'scrollback' | 'screen'>): readonly string[] {
  const rows = [...scrollback(), ...screen()];
  const from = rows.findIndex((row) => row.startsWith('▌ go'));
  return rows.slice(
    from + 1,
    rows.findLastIndex((row) => row.startsWith('▌')),
  );
}
