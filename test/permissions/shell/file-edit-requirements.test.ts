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
  "sed -i 's/a/b/' src/*.ts",
])('%s asks in acceptEdits', (command) => {
  expect(inMode(command, 'acceptEdits')).toBe('ask');
});
