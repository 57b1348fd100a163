import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expandGlob } from '../../../src/permissions/paths/folder-scan.ts';
import { diskFs } from '../../../src/permissions/permission-fs.ts';
import { runs } from '../../support/runs.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

const folder = createTempFolder();
const NAMES = [
  'a',
  'b',
  'B',
  'z',
  '1',
  '.env',
  '.a',
  'é',
  '😀',
  '[',
  ']',
  '!',
  '^',
  '-',
  '\\',
  'a]',
  '[a]',
  'env',
  'ab',
  '=',
  ':',
];
for (const name of NAMES) writeFileSync(join(folder, name), '');
mkdirSync(join(folder, 'in'));
writeFileSync(join(folder, 'in/a'), '');

const PIECES = [
  '[',
  ']',
  '[',
  ']',
  '!',
  '^',
  '-',
  ':',
  '=',
  '.',
  'a',
  'z',
  '0',
  '9',
  '*',
  '?',
  '[[:alpha:]]',
  '[]a]',
  '[[=e=]]',
];
const SETS = ['[a-z]', '[!a]', '[^b-y]', '[0-9]', '[9-0]', '[z-a]', '[!]a]', '[[.a.]]', '[a-]', '/', '[A-C]', 'é'];

/** What bash makes of a pattern that stands without quotes. */
function bashNames(pattern: string, locale: string): readonly string[] {
  const printed = spawnSync('/bin/bash', ['--norc', '-c', String.raw`p=$1; IFS=; printf '%s\0' $p`, 'bash', pattern], {
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', LC_ALL: locale },
    encoding: 'utf8',
  });
  return printed.stdout.split('\0').slice(0, -1);
}

test('every name that bash substitutes for a pattern is checked', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...PIECES, ...SETS), { minLength: 1, maxLength: 6 }).map((all) => all.join('')),
      fc.constantFrom('C.UTF-8', 'C'),
      (pattern, locale) => {
        fc.pre(!pattern.startsWith('/') && !pattern.includes('//') && !pattern.endsWith('/'));
        const expanded = expandGlob(diskFs, folder, pattern);
        const missed = bashNames(pattern, locale).filter((name) => expanded !== 'too many' && !expanded.includes(name));
        expect(missed).toEqual([]);
      },
    ),
    runs(600),
  );
});

test('a plain pattern is read exactly', () => {
  const patterns = ['?b', '[ab]', '[!ab]*', '.*', 'in/*', 'x*', 'x[ab]'];
  const expanded = patterns.map((pattern) => [...expandGlob(diskFs, folder, pattern)].sort());
  expect(expanded).toEqual(
    patterns.map((pattern) =>
      bashNames(pattern, 'C.UTF-8')
        .filter((name) => !/^\.\.?$/.test(name))
        .toSorted(),
    ),
  );
});
