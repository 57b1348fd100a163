import { expect, test } from 'vitest';
import type { Clash, Flag } from '../../../src/cli/args/flag.ts';
import { FLAGS } from '../../../src/cli/args/flags.ts';

const rows: readonly (readonly [string, Flag])[] = Object.entries(FLAGS);

test('a value is named after the flag that gives it', () => {
  const named = rows.map(([name]) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
  expect(named.filter((name, at) => !rows[at]?.[1].spelling.match(new RegExp(`--(no-)?${name}\\b`)))).toEqual([]);
});

test('what a flag needs or excludes is a flag', () => {
  const clashes: readonly Clash[] = rows.flatMap(([, { clashes: own }]) => own);
  const conditions = clashes.flatMap(({ needs = [], excludes = [], unless = 'screen' }) => [
    ...needs,
    ...excludes,
    unless,
  ]);
  const names = conditions.map((condition) => condition.split('=')[0] ?? '');
  expect(names.filter((name) => name !== 'screen' && !Object.hasOwn(FLAGS, name))).toEqual([]);
});
