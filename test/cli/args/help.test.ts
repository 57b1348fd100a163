import { expect, test } from 'vitest';
import { formatCommandHelp, formatFlagsHelp, formatHelp } from '../../../src/cli/args/help.ts';
import { findSubcommand } from '../../../src/cli/run-subcommand.ts';
import { parseFlagSyntax } from '../../../src/command/define-flag.ts';
import { CLI_FLAGS } from '../../../src/command/flags.ts';

test('the short help fits on a screen and shows examples before flags', () => {
  const lines = formatHelp().trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(40);
  expect(lines.every((line) => line.length <= 110)).toBe(true);
  expect(lines.findIndex((line) => line.includes('ouro -p "'))).toBeLessThan(lines.indexOf('Session'));
});

test('every flag is in the full help', () => {
  const text = formatFlagsHelp();
  expect(
    Object.values(CLI_FLAGS)
      .flatMap((flag) => parseFlagSyntax(flag).long.slice(0, 1))
      .filter((name) => !text.includes(name)),
  ).toEqual([]);
});

test('only the first word is a command', () => {
  expect(findSubcommand(['doctor', '--json'])).toBe('doctor');
  expect(findSubcommand(['-p', 'doctor'])).toBe(undefined);
  expect(findSubcommand(['hello'])).toBe(undefined);
});

test('a misspelt command is not sent to a model', () => {
  expect(() => findSubcommand(['docter'])).toThrow('Unknown command docter. Did you mean ouro doctor?');
});

test('the help of a command shows its usage and its own flags', () => {
  expect(formatCommandHelp('acp')).toMatch(/^Usage: ouro acp \[flags\]\nserve an editor .*\n\n {2}--model <name> /);
  expect(formatCommandHelp('help')).toBe('Usage: ouro help [topic]\nshow help on a topic\n');
  expect(formatCommandHelp('nonsense')).toBe(undefined);
});
