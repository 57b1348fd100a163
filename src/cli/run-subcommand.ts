import type { ProcessIo } from '../command/process-io.ts';
import type { Shutdown } from '../command/shutdown.ts';
import { listSubcommands, SUBCOMMANDS, type SubcommandInput, type SubcommandName } from '../command/subcommands.ts';
import { UsageError } from '../command/usage-error.ts';
import { findClosestWord } from '../lib/text/closest-word.ts';
import { findForeignCommand } from './args/unsupported-args.ts';

import { PACKAGE_COMMANDS } from './packages.ts';

type Command = (request: SubcommandInput) => Promise<number>;

/** Loads the function of each subcommand on demand. */
const COMMAND_LOADERS: Readonly<Record<SubcommandName, () => Promise<Command>>> = {
  demo: async () => (await import('./commands/demo.ts')).runDemoCommand,
  models: async () => (await import('./commands/models.ts')).runModelsCommand,
  login: async () => (await import('./commands/login.ts')).runLoginCommand,
  logout: async () => (await import('./commands/login.ts')).runLogoutCommand,
  doctor: async () => (await import('./commands/doctor.ts')).runDoctorCommand,
  update: async () => (await import('./commands/update.ts')).runUpdateCommand,
  uninstall: async () => (await import('./commands/uninstall.ts')).runUninstallCommand,
  acp: async () => (await import('./commands/acp.ts')).runAcpCommand,
  permissions: async () => (await import('./commands/permissions.ts')).runPermissionsSubcommand,
  settings: async () => (await import('./commands/settings.ts')).runSettingsCommand,
  mcp: async () => (await import('./commands/mcp.ts')).runMcpCommand,
  plugin: async () => (await import('./commands/plugin.ts')).runPluginCommand,
  trust: async () => (await import('./commands/trust.ts')).runTrustCommand,
  sessions: async () => (await import('./commands/sessions.ts')).runSessionsCommand,
  undo: async () => (await import('./commands/undo.ts')).runUndoCommand,
  replay: async () => (await import('./commands/replay.ts')).runReplayCommand,
  completion: async () => (await import('./commands/completion.ts')).runCompletionCommand,
  help: async () => (await import('./commands/help.ts')).runHelpCommand,
  ...PACKAGE_COMMANDS,
};

/** Returns the subcommand named first, `undefined` for a prompt; throws for a misspelt or foreign command. */
export function findSubcommand(args: readonly string[]): SubcommandName | undefined {
  const [first = ''] = args;
  if (isSubcommand(first)) return first;
  const foreignCommand = findForeignCommand(args);
  if (foreignCommand !== undefined) throw new UsageError(foreignCommand);
  if (args.length !== 1 || !/^[a-z]{5,}$/.test(first)) return undefined;
  const suggestion = findClosestWord(
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
  io: ProcessIo,
  shutdown: Shutdown,
): Promise<number> {
  const { splitArgsByFlags } = await import('./args/parse-args.ts');
  const { operands, values } = splitArgsByFlags(args, listSubcommands()[name]?.flags ?? {});
  const problem = findOperandProblem(name, operands) ?? findEmptyFlag(values);
  if (problem !== undefined) throw new UsageError(problem);
  const runCommand = await COMMAND_LOADERS[name]();
  return runCommand({ args: operands, flags: values, io, shutdown });
}

/** Returns which flag has an empty value, as that of an unset variable. An empty prefix would select the first of all. */
function findEmptyFlag(values: Readonly<Record<string, unknown>>): string | undefined {
  const found = Object.entries(values).find(([, value]) => [value].flat().includes(''));
  if (found === undefined) return undefined;
  return `The value of --${found[0].replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} is empty.`;
}

/** Returns why a subcommand does not take these arguments: too many, or an empty action or name. @internal */
export function findOperandProblem(name: SubcommandName, args: readonly string[]): string | undefined {
  const { usage, operands } = listSubcommands()[name] ?? { usage: '', operands: 0 };
  // An unset variable of a script must not select the default.
  if (args.slice(0, 2).some((arg) => arg.trim() === ''))
    return `An argument is empty. Usage: ouro ${name} ${usage}`.trim();
  const isByAction = typeof operands === 'object';
  const [action = ''] = args;
  // A first argument that is not an action is refused by the subcommand itself, with the actions it knows.
  const limit = isByAction ? (Object.hasOwn(operands, action) ? operands[action] : 'any') : operands;
  const count = isByAction ? args.length - 1 : args.length;
  if (limit === undefined || limit === 'any' || count <= limit) return undefined;
  return `Too many arguments. Usage: ouro ${name} ${usage}`.trim();
}
