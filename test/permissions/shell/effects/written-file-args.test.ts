import { expect, test } from 'vitest';
import { decideBash, makeFixture, type Setup } from '../../fixture.ts';

const fixture = makeFixture();
const SETUP: Setup = { mode: 'bypassPermissions', deny: ['Edit(src/a.ts)'] };
const open = (lines: readonly string[]) => lines.filter((line) => decideBash(fixture, line, SETUP).verdict === 'allow');

test('a protected file is not written in another spelling', () => {
  const lines = [
    'sort --outp=src/a.ts README.md',
    'xxd -p README.md | xxd -r -p - src/a.?s',
    'uniq - src/a.ts < README.md',
    'git rm -rqf src',
    'git mv src src2',
    'git restore src',
    'git checkout HEAD -- src',
    'find src -name b.ts -fprint src/a.ts',
    'find src -name b.ts -fprintf src/a.ts x',
    'find README.md -fls src/a.ts',
    'grep -rl line src | xargs sed -i s/a/b/',
    'echo a.ts | xargs -I{} rm src/{}',
    'tar cf src/a.ts README.md',
    'zip src/a.ts README.md',
    'ln -s src q; echo x > q/a.ts',
    'ln src/a.ts q; echo x > q',
    'cp -l src/a.ts q; echo x > q',
    'cp -lr src q; echo x > q/a.ts',
  ];
  expect(open(lines)).toEqual([]);
});

test('other files in the folder are written as usual', () => {
  const lines = [
    'sort -o docs/x.md README.md',
    'git rm -rq docs',
    'grep -rl line docs | xargs sed -i s/a/b/',
    'ln -s docs q; cat README.md',
    'git mv docs docs2',
  ];
  expect(open(lines)).toEqual(lines);
});
