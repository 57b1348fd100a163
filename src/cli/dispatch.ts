import { nearest } from '../lib/text/nearest.ts';
import { type Subcommand, type SubcommandName, subcommands } from './args/subcommands.ts';
import { UsageError } from './args/usage-error.ts';
import type { Io } from './io.ts';
import { loadCommand } from './load-command.ts';
import type { Shutdown } from './shutdown.ts';

type Found = Subcommand & { readonly name: SubcommandName };

/** A subcommand is the very first word; anywhere else it is part of a prompt. */
export function findSubcommand(args: readonly string[]): Found | undefined {
  const [first = ''] = args;
  const found = subcommands().find(({ name }) => name === first);
  if (found !== undefined || args.length !== 1 || !/^[a-z]{5,}$/.test(first)) return found;
  const names = subcommands()
    .map(({ name }) => name)
    .filter((name) => name.length > 4);
  const meant = nearest(first, names);
  // A prompt of one word that is nearly a command is a slip of the finger more often than a question.
  if (meant === undefined || !first.startsWith(meant.slice(0, 3))) return undefined;
  throw new UsageError(`There is no command ${first}. Did you mean ouro ${meant}? As a prompt: ouro -p ${first}`);
}

/** Parses the words behind a subcommand by its own flags and runs it. */
export async function runSubcommand(
  subcommand: Found,
  args: readonly string[],
  io: Io,
  shutdown: Shutdown,
): Promise<number> {
  const { parse, quietCommand } = await import('./args/parse-args.ts');
  const command = quietCommand(subcommand.name).argument('[words...]');
  const flags = subcommand.flags ?? [];
  for (const flag of flags) {
    if (flag.many === undefined) command.option(flag.flags, flag.words);
    else command.option(flag.flags, flag.words, (value: string, before: readonly string[]) => [...before, value], []);
  }
  command.action(() => undefined);
  parse(
    command,
    args,
    flags.map((flag) => flag.flags.match(/--[\w-]+/)?.[0] ?? ''),
  );
  const { run } = await loadCommand(subcommand.name);
  return run({ words: command.args, flags: command.opts(), io, shutdown });
}
