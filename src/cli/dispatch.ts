import { nearest } from '../lib/text/nearest.ts';
import { otherCommand } from './args/other-commands.ts';
import { type CommandRequest, SUBCOMMANDS, type SubcommandName, subcommands } from './args/subcommands.ts';
import { UsageError } from './args/usage-error.ts';
import type { Io } from './io.ts';
import type { Shutdown } from './shutdown.ts';

type Program = { readonly run: (request: CommandRequest) => Promise<number> };

/** Where each subcommand lives. Nothing is loaded before it is called. */
const PROGRAMS: Readonly<Record<SubcommandName, () => Promise<Program>>> = {
  demo: () => import('./commands/demo.ts'),
  models: () => import('./commands/models.ts'),
  login: () => import('./commands/login.ts'),
  logout: () => import('./commands/logout.ts'),
  doctor: () => import('./commands/doctor.ts'),
  acp: () => import('./commands/acp.ts'),
  permissions: () => import('./commands/permissions.ts'),
  settings: () => import('./commands/settings.ts'),
  mcp: () => import('./commands/mcp.ts'),
  plugin: () => import('./commands/plugin.ts'),
  trust: () => import('./commands/trust.ts'),
  batch: () => import('./commands/batch.ts'),
  worker: () => import('./commands/worker.ts'),
  sessions: () => import('./commands/sessions.ts'),
  undo: () => import('./commands/undo.ts'),
  replay: () => import('./commands/replay.ts'),
  completion: () => import('./commands/completion.ts'),
  help: () => import('./commands/help.ts'),
};

/** A subcommand is the very first word; anywhere else it is part of a prompt. */
export function findSubcommand(args: readonly string[]): SubcommandName | undefined {
  const [first = ''] = args;
  if (isSubcommand(first)) return first;
  const elsewhere = otherCommand(args);
  if (elsewhere !== undefined) throw new UsageError(elsewhere);
  if (args.length !== 1 || !/^[a-z]{5,}$/.test(first)) return undefined;
  const meant = nearest(
    first,
    Object.keys(SUBCOMMANDS).filter((name) => name.length > 4),
  );
  // A prompt of one word that is nearly a command is a slip of the finger more often than a question.
  if (meant === undefined || !first.startsWith(meant.slice(0, 3))) return undefined;
  throw new UsageError(`There is no command ${first}. Did you mean ouro ${meant}? As a prompt: ouro -p ${first}`);
}

function isSubcommand(word: string): word is SubcommandName {
  return Object.hasOwn(SUBCOMMANDS, word);
}

/** Parses the words behind a subcommand by its own flags and runs it. */
export async function runSubcommand(
  name: SubcommandName,
  args: readonly string[],
  io: Io,
  shutdown: Shutdown,
): Promise<number> {
  const { splitArgs } = await import('./args/parse-args.ts');
  const { operands, values } = splitArgs(args, subcommands()[name]?.flags ?? {});
  const { run } = await PROGRAMS[name]();
  return run({ words: operands, flags: values, io, shutdown });
}
