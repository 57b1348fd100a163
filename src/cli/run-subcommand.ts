import { findClosestMatch } from '../lib/text/closest-match.ts';
import { findOperandProblem } from './args/find-operand-problem.ts';
import { type CommandRequest, listSubcommands, SUBCOMMANDS, type SubcommandName } from './args/subcommands.ts';
import { findForeignCommand } from './args/unsupported.ts';
import { UsageError } from './args/usage-error.ts';
import type { Io } from './io.ts';
import type { Shutdown } from './shutdown.ts';

type CommandModule = { readonly run: (request: CommandRequest) => Promise<number> };

/** Loads the module of each subcommand on demand. */
const COMMAND_LOADERS: Readonly<Record<SubcommandName, () => Promise<CommandModule>>> = {
  demo: () => import('./commands/demo.ts'),
  models: () => import('./commands/models.ts'),
  login: () => import('./commands/login.ts'),
  logout: () => import('./commands/logout.ts'),
  doctor: () => import('./commands/doctor.ts'),
  update: () => import('./commands/update.ts'),
  uninstall: () => import('./commands/uninstall.ts'),
  acp: () => import('./commands/acp.ts'),
  permissions: () => import('./commands/permissions.ts'),
  settings: () => import('./commands/settings.ts'),
  import: () => import('./commands/import.ts'),
  mcp: () => import('./commands/mcp.ts'),
  plugin: () => import('./commands/plugin.ts'),
  trust: () => import('./commands/trust.ts'),
  batch: () => import('../fleet/cli/batch-command.ts'),
  worker: () => import('../fleet/cli/worker-command.ts'),
  eval: () => import('../eval/eval-command.ts'),
  sessions: () => import('./commands/sessions.ts'),
  undo: () => import('./commands/undo.ts'),
  replay: () => import('./commands/replay.ts'),
  completion: () => import('./commands/completion.ts'),
  help: () => import('./commands/help.ts'),
};

/**
 * Returns the subcommand named by the first argument, `undefined` when the arguments are a prompt. Throws a
 * `UsageError` for a command of a similar tool and for a misspelt command.
 */
export function findSubcommand(args: readonly string[]): SubcommandName | undefined {
  const [first = ''] = args;
  if (isSubcommand(first)) return first;
  const foreignCommand = findForeignCommand(args);
  if (foreignCommand !== undefined) throw new UsageError(foreignCommand);
  if (args.length !== 1 || !/^[a-z]{5,}$/.test(first)) return undefined;
  const suggestion = findClosestMatch(
    first,
    Object.keys(SUBCOMMANDS).filter((name) => name.length > 4),
  );
  // A one-word prompt close to a command name is more likely a typo than a prompt.
  if (suggestion === undefined || !first.startsWith(suggestion.slice(0, 3))) return undefined;
  throw new UsageError(`Unknown command ${first}. Did you mean ouro ${suggestion}? As a prompt: ouro -p ${first}`);
}

function isSubcommand(word: string): word is SubcommandName {
  return Object.hasOwn(SUBCOMMANDS, word);
}

/** Parses the arguments after a subcommand with its own flags and runs it; returns the exit code. */
export async function runSubcommand(
  name: SubcommandName,
  args: readonly string[],
  io: Io,
  shutdown: Shutdown,
): Promise<number> {
  const { parseWithFlags } = await import('./args/parse-args.ts');
  const { operands, values } = parseWithFlags(args, listSubcommands()[name]?.flags ?? {});
  const problem = findOperandProblem(name, operands);
  if (problem !== undefined) throw new UsageError(problem);
  const { run } = await COMMAND_LOADERS[name]();
  return run({ args: operands, flags: values, io, shutdown });
}
