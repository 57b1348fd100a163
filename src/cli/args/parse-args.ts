import { Command, CommanderError, Option } from 'commander';
import { type CliFlag, type FlagTable, listFlagNames, parseFlagSyntax } from '../../command/define-flag.ts';
import { CLI_FLAGS } from '../../command/flags.ts';
import { UsageError } from '../../command/usage-error.ts';
import { findClosestWord } from '../../lib/text/closest-word.ts';

/** Arguments split into flags and operands; the flag values are not validated yet. */
export type ParsedArgs = {
  readonly values: Readonly<Record<string, unknown>>;
  readonly operands: readonly string[];
  readonly unknownFlags: readonly string[];
};

/** Parses the arguments of `ouro` itself. SDK hosts may be newer, so their unknown flags are collected, not errors. */
export function parseArgs(args: readonly string[]): ParsedArgs {
  const isFromHost = usesStreamJsonInput(args);
  const parsed = splitArgsByFlags(args, CLI_FLAGS, isFromHost ? 'accept' : 'refuse');
  const unknownFlags = isFromHost ? parsed.operands.filter((arg) => arg.startsWith('-')) : [];
  // Operands after an unknown flag are most likely its value. Hosts pass an empty argument to flags without a value.
  const operands = isFromHost ? parsed.operands.filter((arg) => arg !== '') : parsed.operands;
  return { ...parsed, operands: unknownFlags.length === 0 ? operands : [], unknownFlags };
}

/** Splits arguments by a flag table; throws a `UsageError` that suggests the nearest known flag. */
export function splitArgsByFlags(
  args: readonly string[],
  table: FlagTable,
  unknownFlags: 'accept' | 'refuse' = 'refuse',
): Pick<ParsedArgs, 'values' | 'operands'> {
  // exitOverride makes commander throw instead of printing and exiting.
  const command = new Command('ouro')
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
    .helpOption(false)
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .allowExcessArguments()
    .allowUnknownOption(unknownFlags === 'accept')
    .argument('[operands...]')
    .action(() => undefined);
  // Registering a flag costs commander as much as parsing one, so only flags that may be present are registered.
  const mentioned = listMentionedNames(args);
  for (const flag of Object.values(table))
    if (listFlagNames(flag).some((name) => mentioned.has(name))) command.addOption(toCommanderOption(flag));
  try {
    command.parse([...args], { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    const known = Object.values(table).flatMap((flag) => parseFlagSyntax(flag).long);
    throw new UsageError(formatParseError(thrown, ['--help', '--version', ...known]));
  }
  return { values: command.opts(), operands: command.args };
}

/** Returns the flag names in the arguments. Short flags may be combined, so every letter of `-pc` counts as one. */
function listMentionedNames(args: readonly string[]): ReadonlySet<string> {
  return new Set(
    args.flatMap((arg) =>
      /^-[^-]/.test(arg) ? [...arg.slice(1)].map((letter) => `-${letter}`) : [arg.replace(/=.*$/s, '')],
    ),
  );
}

function toCommanderOption({ syntax, description, valueKind }: CliFlag): Option {
  const option = new Option(syntax, description);
  if (typeof valueKind === 'object' && 'oneOf' in valueKind) return option.choices(valueKind.oneOf);
  if (valueKind !== 'texts' || option.variadic) return option;
  // A repeatable flag with one value per occurrence.
  return option.argParser((value: string, previous: readonly string[] = []) => [...previous, value]);
}

function formatParseError(error: CommanderError, known: readonly string[]): string {
  const quoted = error.message.match(/'([^']*)'/)?.[1] ?? '';
  switch (error.code) {
    case 'commander.unknownOption': {
      const suggestion = findClosestWord(quoted, known);
      return `Unknown option ${quoted}.${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`} See ouro --help.`;
    }
    case 'commander.optionMissingArgument':
      return `Option ${findLongName(quoted)} needs a value: ${quoted}.`;
    case 'commander.invalidArgument':
      return `${error.message.replace(/^error: option '([^']*)' argument/, (_, flags) => `Option ${findLongName(flags)}: value`)}`;
    default:
      return error.message.replace(/^error: /, '');
  }
}

function findLongName(flags: string): string {
  return flags.match(/--[\w-]+/)?.[0] ?? flags;
}

function usesStreamJsonInput(args: readonly string[]): boolean {
  const index = args.indexOf('--input-format');
  return args.includes('--input-format=stream-json') || (index >= 0 && args[index + 1] === 'stream-json');
}
