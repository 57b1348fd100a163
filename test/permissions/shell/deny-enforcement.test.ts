import { expect, test } from 'vitest';
import { decideBash, makeFixture, type Setup } from '../fixture.ts';

const fixture = makeFixture();
const DENY = ['Read(secrets/**)', 'Edit(src/**)'];
const verdict = (command: string, setup: Setup) =>
  decideBash(fixture, command, { deny: DENY, readOnlySandbox: 'missing', ...setup }).verdict;

/** Programs that find their files themselves, each with the rule that allows it. */
const REACHING: readonly (readonly [string, string])[] = [
  ...([
    ['ls secrets/* | xargs cat', 'Bash(xargs:*)'],
    ['fdfind -x cat', 'Bash(fdfind:*)'],
    ['rg --pre cat x', 'Bash(rg:*)'],
    ['strings @list', 'Bash(strings:*)'],
    ['cp -r x/. src', 'Bash(cp:*)'],
    ['ls | xargs -I{} cp {} docs', 'Bash(xargs:*)'],
  ] as const),
  // Later variants.
  ...([
    ['npm test', 'Bash(npm:*)'],
    ['make', 'Bash(make:*)'],
    ['python3 run.py', 'Bash(python3:*)'],
    ['tar cf all.tar .', 'Bash(tar:*)'],
    ['rsync -a . /mnt/x', 'Bash(rsync:*)'],
    ['find . -exec cat {} +', 'Bash(find:*)'],
    ['zip -r all.zip .', 'Bash(zip:*)'],
    ['node a.js', 'Bash(node:*)'],
    ['docker build .', 'Bash(docker:*)'],
    ['bash b.sh', 'Bash(bash:*)'],
    ['git stash -u', 'Bash(git:*)'],
    ['parallel cat ::: a', 'Bash(parallel:*)'],
  ] as const),
];

test.each(REACHING)(
  'without a sandbox, deny rules on paths make a command ask that could reach them: %s',
  (line, rule) => {
    const [allow, mode] = [['Bash(ls:*)', rule], 'bypassPermissions'] as const;
    expect([verdict(line, { allow }), verdict(line, { mode }), verdict(line, { allow: ['Bash'] })]).not.toContain(
      'allow',
    );
    expect(verdict(line, { allow, mode: 'dontAsk' })).toBe('deny');
  },
);

test('one sentence says that the rule is only analysed', () => {
  const { reasons } = decideBash(fixture, 'npm test', {
    deny: DENY,
    allow: ['Bash(npm:*)'],
    readOnlySandbox: 'missing',
  });
  expect(reasons).toEqual([
    expect.stringMatching(
      /^Read\(secrets\/\*\*\) .* is only analysed here, because no sandbox is available, and this command may reach what it denies\.$/,
    ),
  ]);
});

test('what is compared with the rules, and rules for exactly one command, need no answer', () => {
  for (const line of ['ls docs', 'cat README.md', 'git status'])
    expect([line, verdict(line, { mode: 'default' })]).toEqual([line, 'allow']);
  expect(verdict('mkdir made', { mode: 'acceptEdits' })).toBe('allow');
  expect(verdict('npm test', { allow: ['Bash(npm test)'] })).toBe('allow');
});

test('a rule that allows more than a harmless line keeps it harmless', () => {
  const harmless = ['pwd -P', 'cd docs', 'ls docs', 'cat README.md && true', 'pwd -P && git status --porcelain'];
  const printing = ['echo "$NAME"', 'echo no; false', 'printf %s "$NAME"', 'test -n "$NAME" || echo "$NAME"'];
  for (const line of [...harmless, ...printing])
    expect([line, verdict(line, { allow: ['Bash'] })]).toEqual([line, 'allow']);
  const reaching = [
    'echo "$(node a.js)"',
    'echo a | xargs cat',
    'f() { make; }; f',
    'true; . ./a',
    'find . -name "$X"',
  ];
  for (const line of reaching) expect([line, verdict(line, { allow: ['Bash'] })]).not.toEqual([line, 'allow']);
  expect(verdict('echo "$(<secrets/key)"', { allow: ['Bash'] })).toBe('deny');
});

test('a line that cannot be parsed to its end is no line that only prints', () => {
  const skipped = [
    'echo a; ) make',
    'echo a\n) make',
    '{ echo a; } make',
    '(echo a) make',
    '[[ a ]] make',
    'echo a;; make',
  ];
  for (const line of skipped) expect([line, verdict(line, { allow: ['Bash'] })]).toEqual([line, 'ask']);
});

test('with a sandbox, or without a rule on paths, nothing more is asked', () => {
  const allow = ['Bash(npm:*)'];
  expect(decideBash(fixture, 'npm test', { allow, deny: DENY }).verdict).toBe('allow');
  expect(decideBash(fixture, 'npm test', { allow, deny: ['Bash(rm:*)'], readOnlySandbox: 'missing' }).verdict).toBe(
    'allow',
  );
});
