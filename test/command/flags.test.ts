import { expect, test } from 'vitest';
import type { CliFlag, FlagConflict } from '../../src/command/define-flag.ts';
import { CLI_FLAGS } from '../../src/command/flags.ts';

const rows: readonly (readonly [string, CliFlag])[] = Object.entries(CLI_FLAGS);

test('a flag value is named after its flag', () => {
  const named = rows.map(([name]) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
  expect(named.filter((name, at) => !rows[at]?.[1].syntax.match(new RegExp(`--(no-)?${name}\\b`)))).toEqual([]);
});

test('a flag requires or excludes only known flags', () => {
  const rules: readonly FlagConflict[] = rows.flatMap(([, { conflicts }]) => conflicts);
  const conditions = rules.flatMap(({ requires = [], excludes = [], unless = 'screen' }) => [
    ...requires,
    ...excludes,
    unless,
  ]);
  const names = conditions.map((condition) => condition.split('=')[0] ?? '');
  expect(names.filter((name) => name !== 'screen' && !Object.hasOwn(CLI_FLAGS, name))).toEqual([]);
});
