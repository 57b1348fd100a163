// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of perl
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  findPerlEditedFileIndexes,
  isHarmlessPerlCode,
} from '../../../../src/permissions/shell/programs/perl-edits.ts';
import { runs } from '../../../support/runs.ts';
import { createTempFolder } from '../../../support/temp-folder.ts';
import { decideBash, makeFixture } from '../../fixture.ts';

const fixture = makeFixture();
const decide = (command: string) => decideBash(fixture, command, { mode: 'acceptEdits' }).verdict;

test.each([
  "perl -pi -e 's/a/b/' src/a.ts",
  "perl -pi -e 's/(a)(b)/$2${1}/g' src/*.ts",
  "perl -i -pe 's|/old/|/new/|g; s/^x$//' src/a.ts src/b.ts",
  "perl -0777 -pi -e 's/a\\nb/c\\n/gs' src/a.ts",
  "perl -0pi -e 's/\\$x\\@y/\\$z/' src/a.ts",
  "perl -p -i -e 'tr/a-z/A-Z/' -e 's/X/y/i' src/a.ts",
  "perl -pi -e 's/\\bfoo\\b/\\U$1\\E bar/' $(grep -rl line src)",
  "perl -pi -e 's!(?<=x)[0-9]{2,3}(?:a|b$)!$&!' -- src/a.ts",
])('%s is an edit', (command) => {
  expect(decide(command)).toBe('allow');
  expect(decideBash(fixture, command, {}).verdict).toBe('ask');
});

/** Code that runs more than a substitution, or that is not known to. */
const CODE = [
  ...['s/a/system("x")/e', 's/a/b/ee', 's/a/@{[system("x")]}/', 's/@{[system("x")]}/b/', 's/a/${\\ system("x")}/'],
  ...['s/(a)/$1[system("x")]/', 's/(a)/${1}[system("x")]/', 's/(a)/$1->[system("x")]/', 's/(a)/$1{system("x")}/'],
  ...[
    's/(?{system("x")})//',
    's/(??{system("x")})//',
    's/a(*{system("x")})//',
    's/$x[system("x")]//',
    's/$h{system("x")}//',
  ],
  ...[
    'system("x")',
    's/a/b/;system("x")',
    's/a/b/ if system("x")',
    'BEGIN{system("x")}',
    's/a/b/;`x`',
    's{a}{b}e',
    "s'a'b'e",
  ],
  ...[
    'open F,">x"',
    's/a/b/;unlink "x"',
    'print `x`',
    's/a/b/gx',
    's/\\N{x}//',
    's/a/$ENV{HOME}/',
    's/a/$0/x',
    's/a/$x/',
  ],
  ...[
    's/a/b/\nsystem("x")',
    's/a/b/ # x',
    '',
    ';',
    's/a',
    's/a/b',
    'require "x"',
    'do "x"',
    's/a/b/;s/c/d/e',
    'use x',
    's/\\p{IsX}//',
  ],
  ...[
    'y/a/b/;system 1',
    'tr/a/b/e',
    's /a/b/',
    's=a=b=e',
    's:a:b:e',
    's/a/\\x{41}/',
    '$_=`x`',
    's/a/b/,system 1',
    's/a/b/&&system 1',
  ],
  // A later delimiter does not end an earlier part: what follows it is code.
  ...['s/a/b/e + system "x"; s/c/d/', 's/a/b/ . system(x); s/c/d/', 's/a/b/e and s/c/d/', 'y/a/b/ . exit; y/c/d/'],
];

test.each(CODE)('other code asks: %s', (code) => {
  expect(isHarmlessPerlCode(code)).toBe(false);
  if (!code.includes("'")) expect(decide(`perl -pi -e '${code}' src/a.ts`)).toBe('ask');
});

test.each([
  ...[
    'perl -pi.bak -e s/a/b/ src/a.ts',
    'perl -pie s/a/b/ src/a.ts',
    'perl -ip -e s/a/b/ src/a.ts',
    'perl -p -e s/a/b/ src/a.ts',
  ],
  ...[
    'perl -pi script.pl src/a.ts',
    'perl -pi -Mx -e s/a/b/ src/a.ts',
    'perl -pi -e s/a/b/ ../outside/data',
    'perl -pi -e s/a/b/ link-out',
  ],
  ...[
    "perl -pi -e s/a/b/ 'x; touch y|'",
    "perl -pi -e s/a/b/ '|x'",
    "perl -pi -e s/a/b/ '>x'",
    "perl -pi -e s/a/b/ 'x '",
    'perl -pi -e s/a/b/ -',
  ],
  ...[
    'perl -pi -e s/a/b/ .env',
    'perl -pi -e s/a/b/ .git/config',
    'perl -pi -e "$X" src/a.ts',
    'perl -pi -e $(grep -l a src/a.ts) src/a.ts',
  ],
  ...[
    'perl -pi -e s/a/b/ *',
    'perl -pi -I. -e s/a/b/ src/a.ts',
    'perl -pi -e s/a/b/',
    'PERL5LIB=. perl -pi -e s/a/b/ src/a.ts',
    'perl -pi -e s/a/b/ -e src/a.ts',
  ],
])('%s asks in acceptEdits', (command) => {
  expect(decide(command)).toBe('ask');
});

test('no code that counts as harmless starts a program', () => {
  const perl = spawnSync('perl', ['-e', '1']).status === 0;
  const folder = createTempFolder();
  const trap = join(folder, 'trap');
  const piece = fc.constantFrom(
    ...[
      's',
      '/',
      '/',
      '/',
      'a',
      '$',
      '1',
      '&',
      '@',
      '{',
      '}',
      '[',
      ']',
      '(',
      ')',
      '?',
      '*',
      '\\',
      '|',
      ';',
      ' ',
      'e',
      'g',
      'x',
      ',',
    ],
    ...[
      '-',
      '>',
      `system("touch ${trap}")`,
      '{[',
      ']}',
      '(?{',
      '})',
      '$1',
      '${1}',
      'tr',
      'y',
      '#',
      '!',
      '`',
      '\\E',
      '\\Q',
      '$&',
      '$_',
      '^',
      '.',
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 9 }), fc.constantFrom('s/', 's/(a)/', 's|', ''), (pieces, start) => {
      const code = start + pieces.join('');
      if (!isHarmlessPerlCode(code)) return;
      const file = join(folder, 'a.txt');
      writeFileSync(file, 'a\n');
      expect(findPerlEditedFileIndexes(['-pi', '-e', code, 'a.txt'])).toEqual([3]);
      if (perl) spawnSync('perl', ['-pi', '-e', code, 'a.txt'], { cwd: folder });
    }),
    runs(2000),
  );
  expect(() => readFileSync(trap)).toThrow('ENOENT');
});
