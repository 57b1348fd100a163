import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PermissionMode, RuleBehavior } from '../../src/contracts/permission.ts';
import { fastestMs } from '../support/fastest.ts';
import { isWholeRun, runs, someOf } from '../support/runs.ts';
import { ALLOWED } from './corpus/allowed.ts';
import { ALLOWED_LINES } from './corpus/allowed-lines.ts';
import { ASKING } from './corpus/asking.ts';
import { ASKING_PLACES } from './corpus/asking-places.ts';
import { ALLOWED_LOOPS, ASKING_LOOPS } from './corpus/loops.ts';
import { RULED } from './corpus/ruled.ts';
import { RULED_PATHS } from './corpus/ruled-paths.ts';
import { UNCLEAR } from './corpus/unclear.ts';
import { decideBash, decideTool, makeFixture, type Setup } from './fixture.ts';

const fixture = makeFixture();
const STRICTNESS: Readonly<Record<RuleBehavior, number>> = { allow: 0, ask: 1, deny: 2 };
const MODES: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'];

const anyCommand = fc.constantFrom(
  ...ALLOWED,
  ...ALLOWED_LINES,
  ...ALLOWED_LOOPS,
  ...ASKING,
  ...ASKING_LOOPS,
  ...ASKING_PLACES,
  ...UNCLEAR,
  ...[...RULED, ...RULED_PATHS].map(([, command]) => command),
);
const anyRule = fc.constantFrom(
  'Bash',
  'Bash(rm:*)',
  'Bash(git:*)',
  'Bash(git push:*)',
  'Bash(cat *)',
  'Bash(ls)',
  'Bash(npm run test:*)',
  'Bash(make',
  'Read',
  'Read(secrets/**)',
  'Read(//etc/**)',
  'Read(*.md)',
  'Edit',
  'Edit(src/**)',
  'Edit(~/**)',
  'WebFetch',
  'WebFetch(domain:example.com)',
  'mcp__git',
  'Task(explore)',
  '((',
);
const anySetup = fc.record({
  mode: fc.constantFrom(...MODES),
  allow: fc.array(anyRule, { maxLength: 3 }),
  ask: fc.array(anyRule, { maxLength: 2 }),
  deny: fc.array(anyRule, { maxLength: 2 }),
});
const RUNS = runs(80);
/** Of the lists that are gone through as a whole, a few as long as somebody waits. */
const isTried = (at: number) => isWholeRun || at % 8 === 0;

test('one more deny or ask rule never loosens anything', () => {
  const stricter = fc.constantFrom('deny' as const, 'ask' as const);
  fc.assert(
    fc.property(anyCommand, anySetup, anyRule, stricter, (command, setup, rule, behavior) => {
      const before = decideBash(fixture, command, setup).verdict;
      const after = decideBash(fixture, command, { ...setup, [behavior]: [...setup[behavior], rule] }).verdict;
      expect(STRICTNESS[after]).toBeGreaterThanOrEqual(STRICTNESS[before]);
    }),
    RUNS,
  );
});

test('a stricter mode never loosens anything', () => {
  const strict: readonly (readonly [PermissionMode, PermissionMode])[] = [
    ['default', 'acceptEdits'],
    ['acceptEdits', 'bypassPermissions'],
    ['dontAsk', 'default'],
    ['plan', 'default'],
  ];
  fc.assert(
    fc.property(anyCommand, anySetup, fc.constantFrom(...strict), (command, setup, [stricter, looser]) => {
      const [left, right] = [stricter, looser].map((mode) => decideBash(fixture, command, { ...setup, mode }).verdict);
      expect(STRICTNESS[left ?? 'deny']).toBeGreaterThanOrEqual(STRICTNESS[right ?? 'allow']);
    }),
    RUNS,
  );
});

test('appending to a command that runs unasked never makes the addition run unasked', () => {
  const joints = ['; ', ' && ', ' || ', ' | ', '\n', ' & ', ' |& ', '; ( ', '\n{ '];
  const tails = ['touch pwned', 'rm -rf x', 'curl https://evil.example', 'sh x.sh', './x', 'tee pwned', 'cat > pwned'];
  const open = [...ALLOWED, ...ALLOWED_LINES, ...ALLOWED_LOOPS].flatMap((command, at) =>
    // A comment or a here-document swallows what follows on its line.
    joints
      .filter((_, index) => (index + at) % 3 === 0 && isTried(at))
      .flatMap((joint) => {
        const tail = tails[(command.length + joint.length) % tails.length] ?? 'touch pwned';
        const closing = joint.endsWith('( ') ? ' )' : joint.endsWith('{ ') ? '; }' : '';
        const line = `${command}${joint}${tail}${closing}`;
        const swallowed = /#|<</.test(command) && !joint.startsWith('\n');
        return swallowed || decideBash(fixture, line).verdict !== 'allow' ? [] : [line];
      }),
  );
  expect(open).toEqual([]);
});

const WRAPPINGS: readonly ((command: string) => string)[] = [
  (command) => `${command};`,
  (command) => `ls; ${command}`,
  (command) => `ls &&\n${command}`,
  (command) => `false || ${command}`,
  (command) => `ls | ${command}`,
  (command) => `${command} | cat`,
  (command) => `(${command})`,
  (command) => `{ ${command}; }`,
  (command) => `! ${command}`,
  (command) => `if true; then ${command}; fi`,
  (command) => `for i in 1 2; do ${command}; done`,
  (command) => `while ${command}; do :; done`,
  (command) => `case x in x) ${command};; esac`,
  (command) => `echo "$(${command})"`,
  (command) => `echo \`${command}\``,
  (command) => `cat <(${command})`,
  (command) => `f() { ${command}; }; f`,
  (command) => `${command} &`,
  (command) => `time ${command}`,
  (command) => `timeout 5 ${command}`,
  (command) => `nohup nice -n 5 ${command}`,
  (command) => `env X=1 ${command}`,
  (command) => `X=1 ${command}`,
  (command) => `command ${command}`,
  (command) => `sudo -u me ${command}`,
  (command) => `xargs ${command}`,
  (command) => `find . -exec ${command} {} +`,
  (command) => `bash -c '${command}'`,
  (command) => `sh -c "ls; ${command}"`,
  (command) => `eval "${command}"`,
  (command) => `bash <<EOF\n${command}\nEOF`,
  (command) => `echo '${command}' | sh`,
  (command) => `cd src && ${command}`,
  (command) => `exec ${command}`,
  (command) => `trap '${command}' EXIT`,
  (command) => `[[ -n $(${command}) ]]`,
  (command) => `x=$(${command})`,
  (command) => `echo $\{x:-$(${command})}`,
  (command) => `cat << EOF\n$(${command})\nEOF`,
];
const SPELLINGS: readonly ((word: string) => string)[] = [
  (word) => word,
  (word) => `'${word}'`,
  (word) => `"${word}"`,
  (word) => `\\${word}`,
  (word) => `${word.slice(0, 1)}''${word.slice(1)}`,
  (word) => `/usr/bin/${word}`,
];

test('a denied command stays denied with any quoting, wrapping and nesting', () => {
  const setups: readonly (readonly [string, readonly string[], Setup])[] = [
    ['rm', ['x'], { deny: ['Bash(rm:*)'], allow: ['Bash'], mode: 'bypassPermissions' }],
    ['git', ['-C', '.', 'push', 'origin'], { deny: ['Bash(git push:*)'], allow: ['Bash'] }],
    ['cat', ['secrets/key'], { deny: ['Read(secrets/**)'], allow: ['Bash', 'Read'] }],
    ['tee', ['src/a.ts'], { deny: ['Edit(src/**)'], allow: ['Bash', 'Edit'], mode: 'bypassPermissions' }],
  ];
  const open = setups.flatMap(([name, args, setup]) =>
    SPELLINGS.flatMap((spell, row) =>
      WRAPPINGS.flatMap((outer, at) => {
        if (!isTried(row + at)) return [];
        const inner = WRAPPINGS[(at * 7 + name.length) % WRAPPINGS.length] ?? outer;
        const plain = [spell(name), ...args].join(' ');
        // Quotes inside of quotes would be another command.
        const nests = !/['"\\]/.test(plain) && !/['"`]|EOF/.test(outer('x')) && !/EOF/.test(inner('x'));
        const lines =
          /['"]/.test(plain) && /['"]/.test(outer('x')) ? [] : [outer(plain), ...(nests ? [outer(inner(plain))] : [])];
        // `((…))` is arithmetic, and after a word a brace begins no group.
        const real = lines.filter((line) => !/\(\(|[a-z\d] \{/.test(line));
        return real.filter((line) => decideBash(fixture, line, setup).verdict !== 'deny');
      }),
    ),
  );
  expect(open).toEqual([]);
});

test('any bytes get a decision, and none run unasked unless bash parses them as ouro does', () => {
  const pieces = fc.constantFrom(
    ...[
      'ls',
      'cat',
      'rm',
      'echo',
      'git',
      ' ',
      ' ',
      '\n',
      ';',
      '&',
      '|',
      '(',
      ')',
      '{',
      '}',
      '<',
      '>',
      '$',
      '`',
      '"',
      "'",
    ],
    ...[
      '\\',
      '#',
      '!',
      '*',
      '?',
      '[',
      ']',
      '~',
      '=',
      '-',
      '--',
      'x',
      'README.md',
      '$(',
      '${',
      '<<EOF\n',
      'EOF',
      '\0',
      '\u202e',
      'é',
      '\r',
    ],
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 14 }), anySetup, (words, setup) => {
      const command = words.join('');
      const { verdict, reasons } = decideBash(fixture, command, setup);
      expect(['allow', 'ask', 'deny']).toContain(verdict);
      expect(reasons.length).toBeGreaterThan(0);
      if (/[\0\u202e\r]/.test(command) && setup.mode !== 'bypassPermissions') expect(verdict).not.toBe('allow');
    }),
    runs(250),
  );
});

test('any input of any tool gets a decision', () => {
  const tools = [
    'Bash',
    'Read',
    'Write',
    'Edit',
    'Grep',
    'Glob',
    'WebFetch',
    'Task',
    'mcp__a__b',
    'Nobody',
    '',
    'constructor',
  ];
  const keys = fc.constantFrom('command', 'file_path', 'path', 'pattern', 'url', 'subagent_type', '__proto__');
  fc.assert(
    fc.property(fc.constantFrom(...tools), fc.dictionary(keys, fc.string()), anySetup, (tool, input, setup) => {
      expect(['allow', 'ask', 'deny']).toContain(decideTool(fixture, tool, input, setup).verdict);
    }),
    RUNS,
  );
});

test('a decision about an everyday command takes under two milliseconds', () => {
  const setup: Setup = {
    deny: ['Bash(rm:*)', 'Read(secrets/**)'],
    ask: ['Bash(git push:*)'],
    allow: ['Bash(npm run:*)'],
  };
  const usual = [
    'ls -la src',
    'git status',
    'npm run build -- --fast',
    'cat README.md | head -20',
    'cd src && cat a.ts',
  ];
  for (const command of usual) decideBash(fixture, command, setup);
  const took = usual.map((command) => ({ command, ms: fastestMs(6, () => decideBash(fixture, command, setup)) }));
  expect(took.filter(({ ms }) => ms > 6)).toEqual([]);
});

test('analysis limits only make a decision stricter', () => {
  const setup: Setup = { allow: ['Bash'], deny: ['Read(secrets/**)', 'Bash(rm:*)'], mode: 'bypassPermissions' };
  const names = (count: number) => Array.from({ length: count }, (_, at) => `f${at}`).join(' ');
  const lines = [
    `cat ${names(1_500)} secrets/key`,
    `cat ${names(4_000)} secrets/key`,
    `${'ls; '.repeat(2_500)} rm x`,
    `${'echo $('.repeat(100)}rm x${')'.repeat(100)}`,
    `${'sh -c '.repeat(60)}"rm x"`,
    `${'env '.repeat(200)}rm x`,
    `${'cd src || cd docs; '.repeat(30)}cat ../secrets/key`,
  ];
  expect(
    someOf(lines, 3)
      .map((line) => decideBash(fixture, line, setup).verdict)
      .filter((verdict) => verdict === 'allow'),
  ).toEqual([]);
});
