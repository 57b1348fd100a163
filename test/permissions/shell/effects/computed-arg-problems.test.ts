import { expect, test } from 'vitest';
import { someOf } from '../../../support/runs.ts';
import { decideBash, makeFixture, type Setup } from '../../fixture.ts';

const fixture = makeFixture();
const SETUP: Setup = {
  allow: ['Bash', 'Edit'],
  deny: ['Read(.env)', 'Edit(src/a.ts)'],
  mode: 'bypassPermissions',
};
const open = (lines: readonly string[], setup = SETUP) =>
  lines.filter((line) => decideBash(fixture, line, setup).verdict === 'allow');

const READERS = ['cat', 'head -1', 'nobody-knows', 'python3', 'cp -t x', 'sudo tail', 'base64', 'git show', 'grep x'];
const VALUES = [
  '$f',
  '"$f"',
  '\x24{f}',
  '.$f',
  '.e$f',
  '.\x24{f}v',
  '$(cat x)',
  '`cat x`',
  '.$(echo e)nv',
  '$1',
  '$(<x)',
];

test('a computed name is not opened where it could be a denied one', () => {
  const lines = READERS.flatMap((reader) =>
    VALUES.flatMap((value) => [`f=x; ${reader} ${value}`, `for f in $(ls); do ${reader} ${value}; done`]),
  );
  const variants = [
    'read f <<< .env; cat $f',
    'while read f; do cat "$f"; done < list',
    'set -- .env; cat $1',
    'a=(.env); cat \x24{a[0]}',
    'cat < $f',
    'source $f',
    'cat list | xargs cat',
    'xargs cat < list',
    'xargs -a list cat',
    'echo vne. | rev | xargs cat',
    "printf '.e\\x6ev' | xargs cat",
    'tar -T list -cf x',
    'rsync --files-from=list . h:',
  ];
  expect(open([...someOf(lines, Math.floor(lines.length / 3)), ...variants])).toEqual([]);
});

test('nor is it changed', () => {
  const lines = [
    'echo x > $f',
    'tee $f',
    'rm $f',
    'sed -i s/a/b/ $f',
    'touch src/$f',
    'prettier --write "$f"',
    'mv x $f',
  ];
  expect(open([...lines.map((line) => `f=x; ${line}`), 'cat list | xargs rm', 'xargs touch < list'])).toEqual([]);
});

test('names that cannot match, and programs that open nothing, are not asked about', () => {
  const free = [
    'FOO=1 npm test',
    'node server.js &',
    'echo "$f"',
    'x=$(git rev-parse HEAD); echo $x',
    'tsc "$f.js"',
    'cat docs/\x24{f}.md',
    'git push origin $(git branch --show-current)',
    'git commit -m "$(date)"',
    'for f in docs/*.md; do wc -l $f; done',
    'ls docs | head -3 | xargs echo',
    'echo x > $f.log',
  ];
  expect(open(free)).toEqual(free);
});
