import { Command, CommanderError, Option } from 'commander';
import { nearest } from '../../lib/text/nearest.ts';
import { type Flag, type FlagTable, partsOf } from './flag.ts';
import { FLAGS } from './flags.ts';
import { UsageError } from './usage-error.ts';

/** What stood on the command line, before anybody looked at the values. */
export type ParsedArgs = {
  readonly values: Readonly<Record<string, unknown>>;
  readonly operands: readonly string[];
  readonly unknown: readonly string[];
};

/** Splits the arguments of `ouro` itself. Hosts may be newer than we are: to them an unknown flag is a warning. */
export function parseArgs(args: readonly string[]): ParsedArgs {
  const fromHost = speaksStreamJson(args);
  const parsed = splitArgs(args, FLAGS, fromHost ? 'accept' : 'refuse');
  const unknown = fromHost ? parsed.operands.filter((word) => word.startsWith('-')) : [];
  // Words behind an unknown flag are most likely its value, and an empty one is that of a flag which takes none.
  const words = fromHost ? parsed.operands.filter((word) => word !== '') : parsed.operands;
  return { ...parsed, operands: unknown.length === 0 ? words : [], unknown };
}

/** Splits arguments by a table of flags; what goes wrong is one sentence that names the nearest known flag. */
export function splitArgs(
  args: readonly string[],
  table: FlagTable,
  unknownFlags: 'accept' | 'refuse' = 'refuse',
): Pick<ParsedArgs, 'values' | 'operands'> {
  // A command that throws instead of printing and leaving.
  const command = new Command('ouro')
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
    .helpOption(false)
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .allowExcessArguments()
    .allowUnknownOption(unknownFlags === 'accept')
    .argument('[words...]')
    .action(() => undefined);
  // Most flags are not there, and each that commander is told of takes it as long as one that is.
  for (const flag of Object.values(table)) if (isMentioned(flag, args)) command.addOption(optionOf(flag));
  try {
    command.parse([...args], { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    const known = Object.values(table).flatMap((flag) => partsOf(flag).long);
    throw new UsageError(sentence(thrown, ['--help', '--version', ...known]));
  }
  return { values: command.opts(), operands: command.args };
}

/** Might the flag stand among the arguments? Short ones may hide in a row of them. */
function isMentioned(flag: Flag, args: readonly string[]): boolean {
  const { short, long } = partsOf(flag);
  return args.some(
    (arg) =>
      long.some((name) => arg === name || arg.startsWith(`${name}=`)) ||
      (short !== undefined && /^-[^-]/.test(arg) && arg.includes(short.slice(1))),
  );
}

function optionOf({ spelling, words, takes }: Flag): Option {
  const option = new Option(spelling, words);
  if (typeof takes === 'object' && 'oneOf' in takes) return option.choices(takes.oneOf);
  if (takes !== 'texts' || option.variadic) return option;
  // One value each, as often as it is given.
  return option.argParser((value: string, before: readonly string[] = []) => [...before, value]);
}

function sentence(error: CommanderError, known: readonly string[]): string {
  const quoted = error.message.match(/'([^']*)'/)?.[1] ?? '';
  switch (error.code) {
    case 'commander.unknownOption': {
      const meant = nearest(quoted, known);
      return `Unknown option ${quoted}.${meant === undefined ? '' : ` Did you mean ${meant}?`} See ouro --help.`;
    }
    case 'commander.optionMissingArgument':
      return `Option ${longOf(quoted)} needs a value: ${quoted}.`;
    case 'commander.invalidArgument':
      return `${error.message.replace(/^error: option '([^']*)' argument/, (_, flags) => `Option ${longOf(flags)}: value`)}`;
    default:
      return error.message.replace(/^error: /, '');
  }
}

function longOf(flags: string): string {
  return flags.match(/--[\w-]+/)?.[0] ?? flags;
}

function speaksStreamJson(args: readonly string[]): boolean {
  const at = args.indexOf('--input-format');
  return args.includes('--input-format=stream-json') || (at >= 0 && args[at + 1] === 'stream-json');
}
