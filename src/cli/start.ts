import { readEnvironment, startDirectory } from '../app/environment.ts';
import { messageOf } from '../lib/errors.ts';
import { errnoOf } from '../lib/files/errno.ts';
import type { Invocation } from './args/invocation.ts';
import { UsageError } from './args/usage-error.ts';
import { holdProgram } from './hold-program.ts';
import { type Io, processIo } from './io.ts';
import { muteConsole } from './mute-console.ts';
import { createShutdown, realProcess, type Shutdown } from './shutdown.ts';

/** The whole program: understands the arguments, runs the face they ask for, leaves with its code. */
export async function start(args: readonly string[]): Promise<void> {
  const cwd = here();
  if (cwd === undefined) {
    process.stderr.write('The folder ouro was started in is gone. Change to one that exists.\n');
    return realProcess.exit(1);
  }
  muteConsole();
  const io = processIo(readEnvironment(), cwd);
  const shutdown = createShutdown(realProcess);
  const code = await runToCode(args, io, shutdown);
  await shutdown.finish();
  await io.stdout.flushed();
  const trouble = io.stdout.trouble();
  if (trouble !== undefined) io.stderr.write(`The output could not be written: ${trouble}.\n`);
  realProcess.exit(trouble === undefined ? code : 1);
}

function here(): string | undefined {
  try {
    return startDirectory();
  } catch {
    return undefined;
  }
}

/** What is for people to mend, not a fault of the program. */
const REFUSALS = ['EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'EISDIR', 'ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'ELOOP'];

/**
 * Anything that is thrown up to here becomes a sentence on stderr.
 * @internal Exported for tests.
 */
export async function runToCode(args: readonly string[], io: Io, shutdown: Shutdown): Promise<number> {
  try {
    return await run(args, io, shutdown);
  } catch (thrown) {
    if (thrown instanceof UsageError) {
      io.stderr.write(`${thrown.message}\n`);
      return 2;
    }
    const isRefused = REFUSALS.includes(errnoOf(thrown) ?? '');
    const words = !isRefused
      ? `ouro ran into a fault of its own: ${messageOf(thrown)}`
      : `The system refused: ${messageOf(thrown)}. Look at this path, its permissions and the room on its disk.`;
    io.stderr.write(`${words}\n`);
    return 1;
  }
}

async function run(args: readonly string[], io: Io, shutdown: Shutdown): Promise<number> {
  if (asksForHelp(args)) {
    const { commandText, helpText } = await import('./args/help.ts');
    io.stdout.write(commandText(args[0]) ?? helpText());
    return 0;
  }
  holdProgram();
  const { findSubcommand, runSubcommand } = await import('./dispatch.ts');
  const subcommand = findSubcommand(args);
  if (subcommand !== undefined) return runSubcommand(subcommand, args.slice(1), io, shutdown);
  const { readInvocation } = await import('./args/invocation.ts');
  const hasTerminal = io.stdin.isTty && io.stdout.isTty;
  const invocation = await readInvocation(args, { cwd: io.cwd, hasTerminal });
  for (const warning of invocation.warnings) io.stderr.write(`${warning}\n`);
  const { worktree } = invocation;
  if (worktree === undefined) return runFace(invocation, io, shutdown);
  const { inWorktree } = await import('./faces/in-worktree.ts');
  return inWorktree(invocation, worktree, io, async (moved) => {
    const code = await runFace(moved, io, shutdown);
    // Nothing of the conversation may still work in a folder that is taken away.
    await shutdown.finish();
    return code;
  });
}

async function runFace(invocation: Invocation, io: Io, shutdown: Shutdown): Promise<number> {
  switch (invocation.face) {
    case 'print':
      return (await import('./faces/run-print.ts')).runPrint(invocation, io, shutdown);
    case 'setup':
      return (await import('./faces/run-setup.ts')).runSetup(invocation.run, io, shutdown);
    case 'host':
      return (await import('./control/run-host.ts')).runHost(invocation, io, shutdown);
    default:
      return (await import('./faces/repl.ts')).runRepl(invocation, io, shutdown);
  }
}

/** Before `--`, anywhere: somebody is lost. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const before = end < 0 ? args : args.slice(0, end);
  return before.includes('--help') || before.includes('-h');
}
