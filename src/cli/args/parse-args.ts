import { Command, CommanderError, Option } from 'commander';
import { nearest } from '../../lib/text/nearest.ts';
import { FLAGS, type Flag, partsOf } from './options.ts';
import { UsageError } from './usage-error.ts';

/** What stood on the command line, before anybody looked at the values. */
export type ParsedArgs = {
  readonly values: Readonly<Record<string, unknown>>;
  readonly operands: readonly string[];
  readonly unknown: readonly string[];
};

/** Splits arguments by the flag table. Hosts may be newer than we are: to them an unknown flag is a warning. */
export function parseArgs(args: readonly string[]): ParsedArgs {
  const fromHost = speaksStreamJson(args);
  const command = quietCommand('ouro').argument('[prompt...]');
  for (const flag of FLAGS) command.addOption(optionOf(flag));
  if (fromHost) command.allowUnknownOption();
  command.action(() => undefined);
  parse(command, args, knownNames(FLAGS));
  const operands = command.args;
  if (!fromHost) return { values: command.opts(), operands, unknown: [] };
  const unknown = operands.filter((word) => word.startsWith('-'));
  // Words behind an unknown flag are most likely its value.
  return { values: command.opts(), operands: unknown.length === 0 ? operands : [], unknown };
}

/** A command that throws instead of printing and leaving. */
export function quietCommand(name: string): Command {
  return new Command(name)
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
    .helpOption(false)
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .allowExcessArguments();
}

/** Parses, and turns what goes wrong into one sentence that names the nearest known flag. */
export function parse(command: Command, args: readonly string[], known: readonly string[]): void {
  try {
    command.parse([...args], { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    throw new UsageError(sentence(thrown, known));
  }
}

function optionOf(flag: Flag): Option {
  const option = new Option(flag.flags, flag.words);
  return flag.choices === undefined ? option : option.choices(flag.choices);
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

/** Every name a flag answers to. */
function knownNames(flags: readonly Flag[]): readonly string[] {
  return ['--help', '--version', ...flags.flatMap((flag) => partsOf(flag).long)];
}

function speaksStreamJson(args: readonly string[]): boolean {
  const at = args.indexOf('--input-format');
  return args.includes('--input-format=stream-json') || (at >= 0 && args[at + 1] === 'stream-json');
}
