import { expect, test } from 'vitest';
import { partsOf } from '../../../src/cli/args/flag.ts';
import { FLAGS } from '../../../src/cli/args/flags.ts';
import { allFlagsText, commandText, helpText } from '../../../src/cli/args/help.ts';
import { findSubcommand } from '../../../src/cli/dispatch.ts';

test('the short help fits on a screen and shows examples before flags', () => {
  const lines = helpText().trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(40);
  expect(lines.every((line) => line.length <= 110)).toBe(true);
  expect(lines.findIndex((line) => line.includes('ouro -p "'))).toBeLessThan(lines.indexOf('Session'));
});

test('every flag is in the long help', () => {
  const text = allFlagsText();
  expect(
    Object.values(FLAGS)
      .flatMap((flag) => partsOf(flag).long.slice(0, 1))
      .filter((name) => !text.includes(name)),
  ).toEqual([]);
});

test('only the first word is a command', () => {
  expect(findSubcommand(['doctor', '--json'])).toBe('doctor');
  expect(findSubcommand(['-p', 'doctor'])).toBe(undefined);
  expect(findSubcommand(['hello'])).toBe(undefined);
});

test('a command with a slip of the finger is not sent to a model', () => {
  expect(() => findSubcommand(['docter'])).toThrow('There is no command docter. Did you mean ouro doctor?');
});

test('a command says how it is used, with its own flags', () => {
  expect(commandText('acp')).toMatch(/^Usage: ouro acp \[flags\]\nserve an editor .*\n\n {2}--model <name> /);
  expect(commandText('help')).toBe('Usage: ouro help [topic]\nmore about a topic\n');
  expect(commandText('nonsense')).toBe(undefined);
});
