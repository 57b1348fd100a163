import { expect, test } from 'vitest';
import { decideBash, makeFixture } from '../fixture.ts';

const fixture = makeFixture();
const inMode = (command: string, mode: 'acceptEdits' | 'default') => decideBash(fixture, command, { mode }).verdict;

test.each([
  'mkdir -p src/new/deep',
  'touch src/new.ts',
  'mv src/a.ts src/z.ts',
  'cp src/a.ts src/copy.ts',
  "sed -i 's/a/b/' src/a.ts",
  "sed -i -e 's/a/b/g' -e '/x/d' src/a.ts src/b.ts",
  "sed -n -i '1,3p' src/a.ts",
  "sed --in-place -E 's/(a)/\\1b/' src/a.ts",
  "mkdir src/new && sed -i 's/a/b/' src/a.ts",
  "cd src && sed -i 's/a/b/' a.ts",
  "sed -i 's/a/b/' src/*.ts",
  "sed -i 's/a/b/' src/*/*.ts README.md",
  'for f in src/*.ts; do sed -i s/a/b/ "$f"; done',
  'ls && touch src/q.ts && sed -i s/a/b/ src/*.ts src/[ab].ts',
  'cp src/*.ts docs/ && touch docs/*.md',
  'sed -i s/a/b/ $(grep -rl line src)',
  'sed -i s/a/b/ $(rg -l line src/*.ts README.md)',
])('%s is an edit: it runs in acceptEdits, and asks elsewhere', (command) => {
  expect([inMode(command, 'acceptEdits'), inMode(command, 'default')]).toEqual(['allow', 'ask']);
});

test.each([
  "sed -i 's/a/b/' ../outside/data",
  "sed -i 's/a/b/' link-out",
  "sed -i 's/a/b/' .env",
  "sed -i 's/a/b/' .git/config",
  "sed -i 's/a/b/w /tmp/x' src/a.ts",
  "sed -i 's/a/b/e' src/a.ts",
  "sed -i 'r .env' src/a.ts",
  "sed -i.bak 's/a/b/' src/a.ts",
  "sed -i*/x 's/a/b/' src/a.ts",
  "sed --in-place=.bak 's/a/b/' src/a.ts",
  'sed -i -f script.sed src/a.ts',
  "sed -i 's/a/b/' $FILE",
  "sed -i 's/a/b/' *",
  "sed -i 's/a/b/' ../outside/*",
  "sed -i 's/a/b/' link-d*/*",
  "sed -i 's/a/b/' .*",
  'sed -i s/a/b/ ~/ws-evil/*',
  'cd options && sed -i s/a/b/ *',
  'sed -i src/*.ts',
  'sed -i -e src/*.ts src/a.ts',
  'sed -i $(grep -rl line src) s/a/b/',
  'sed -i -e $(grep -rl line src) src/a.ts',
  'sed -i s/a/b/ $(cat README.md)',
  'sed -i s/a/b/ $(grep -rl line .)',
  'sed $(grep -l line src/a.ts) README.md',
  'touch $(grep -rl line src)',
  'cp src/a.ts docs/*',
  'mv src/*.ts ../outside',
  'rm src/*.ts',
  'timeout 5 $(grep -rl line src)',
  // The line may add other matches before it gets there.
  'npm test; sed -i s/a/b/ src/*.ts',
  'mv link-in src/q.ts; sed -i s/a/b/ src/*.ts',
  'sed -i s/a/b/ src/*.ts | ln -s /etc/passwd src/q.ts',
  'for f in src/*.ts; do sed -i s/a/b/ src/*.ts; ln -s /etc/passwd src/q.ts; done',
  'cat README.md | while read -r f; do sed -i s/a/b/ src/*.ts; ln -s ../x src/q.ts; done',
])('%s asks in acceptEdits', (command) => {
  expect(inMode(command, 'acceptEdits')).toBe('ask');
});

test('edits by pattern run beside what a rule allows later, and say what they change', () => {
  const setup = { mode: 'acceptEdits', allow: ['Bash(npm test:*)', 'Bash(npx eslint:*)'] } as const;
  const decide = (command: string) => decideBash(fixture, command, setup);
  const { verdict, writes = [] } = decide('sed -i s/a/b/ src/*.ts && npm test 2>&1 | tail -5');
  expect([verdict, writes.toSorted()]).toEqual(['allow', ['a.ts', 'b.ts'].map((name) => `${fixture.ws}/src/${name}`)]);
  expect(decide('npx eslint $(grep -rl line src)').verdict).toBe('allow');
  expect(decide('npm test; sed -i s/a/b/ src/*.ts').reasons.join()).toContain('may change other files');
  const asked = ['npx $(grep -rl line src)', 'npx eslint $(grep -rl line .)', 'npx eslint $(cat README.md)'];
  expect(asked.filter((line) => decide(line).verdict !== 'ask')).toEqual([]);
});

test('loops over patterns and patterns themselves are checked for syntax', () => {
  const lines = [
    'for f in src/*.ts; do node --check $f; done',
    'node --check src/*.ts',
    'bash -n src/*.sh',
    "awk '{print}' src/*.ts",
  ];
  expect(lines.map((line) => decideBash(fixture, line).verdict)).toEqual(lines.map(() => 'allow'));
  const asked = [
    'node --check *',
    'for f in *; do node --check "$f"; done',
    'node $(grep -rl x src)',
    'node --check ../outside/*',
    'cd options && bash -n *',
  ];
  expect(asked.filter((line) => decideBash(fixture, line).verdict !== 'ask')).toEqual([]);
});
