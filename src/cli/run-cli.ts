import { getStartDirectory, limitProgramSearch, readEnvironment } from '../app/environment.ts';
import { createProcessIo, type ProcessIo } from '../command/process-io.ts';
import { createShutdown, type Shutdown, systemProcessEvents } from '../command/shutdown.ts';
import { UsageError } from '../command/usage-error.ts';
import type { Environment } from '../contracts/environment.ts';
import { getErrnoCode, getErrorMessage, getErrorPhrase } from '../lib/errors.ts';
import type { CliInvocation } from './args/invocation.ts';
import { installChunkFallback } from './chunk-fallback.ts';

/** Runs the program: parses the arguments, runs the mode or subcommand they name and exits with its code. */
export async function runCli(args: readonly string[]): Promise<void> {
  limitProgramSearch();
  const environment = findEnvironment();
  if (environment === undefined) {
    process.stderr.write('The user of this process has no home folder. Set HOME to a folder that it may write.\n');
    return systemProcessEvents.exit(1);
  }
  muteConsole();
  const io = createProcessIo(environment, getStartDirectory());
  const shutdown = createShutdown(systemProcessEvents);
  const code = await shutdown.finish(await runToExitCode(args, io, shutdown));
  await io.stdout.flushed();
  systemProcessEvents.exit(code === 0 && io.stdout.hasFailed() ? 1 : code);
}

/** Reads the environment; `undefined` if HOME is not set and the system does not know the user, as in containers. */
function findEnvironment(): Environment | undefined {
  try {
    return readEnvironment();
  } catch {
    return undefined;
  }
}

/** Error codes the user can fix; any other exception is a bug. */
const SYSTEM_ERRORS = [
  'EACCES',
  'EPERM',
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EIO',
  'ELOOP',
  'ENAMETOOLONG',
];

/** Runs the program and returns its exit code; reports anything thrown on stderr. @internal Exported for tests. */
export async function runToExitCode(args: readonly string[], io: ProcessIo, shutdown: Shutdown): Promise<number> {
  try {
    return await run(args, io, shutdown);
  } catch (thrown) {
    if (thrown instanceof UsageError) {
      io.stderr.write(`${thrown.message}\n`);
      return 2;
    }
    const isSystemError = SYSTEM_ERRORS.includes(getErrnoCode(thrown) ?? '');
    const message = isSystemError
      ? `System error: ${getErrorPhrase(thrown)}. Check the path, its permissions and the free disk space.`
      : `Internal error: ${getErrorMessage(thrown)}\nReport it with "ouro sessions capsule".`;
    io.stderr.write(`${message}\n`);
    return 1;
  }
}

async function run(args: readonly string[], io: ProcessIo, shutdown: Shutdown): Promise<number> {
  if (hasHelpFlag(args)) {
    const { formatCommandHelp, formatHelp } = await import('./args/help.ts');
    io.stdout.write(formatCommandHelp(args[0]) ?? formatHelp());
    return 0;
  }
  installChunkFallback();
  const { findSubcommand, runSubcommand } = await import('./run-subcommand.ts');
  const subcommand = findSubcommand(args);
  if (subcommand !== undefined) return runSubcommand(subcommand, args.slice(1), io, shutdown);
  const { parseInvocation } = await import('./args/invocation.ts');
  const hasTerminal = io.stdin.isTty && io.stdout.isTty;
  const invocation = await parseInvocation(args, { cwd: io.cwd, hasTerminal });
  for (const warning of invocation.warnings) io.stderr.write(`${warning}\n`);
  const { worktree } = invocation;
  if (worktree === undefined) return runMode(invocation, io, shutdown);
  const { runInWorktree } = await import('./modes/run-in-worktree.ts');
  return runInWorktree(invocation, worktree, io, async (worktreeInvocation) => {
    const code = await runMode(worktreeInvocation, io, shutdown);
    // The conversation must be closed before its folder is removed.
    await shutdown.finish(code);
    return code;
  });
}

async function runMode(invocation: CliInvocation, io: ProcessIo, shutdown: Shutdown): Promise<number> {
  switch (invocation.mode) {
    case 'print':
      return (await import('./modes/print/run-print.ts')).runPrint(invocation, io, shutdown);
    case 'setup':
      return (await import('./modes/run-setup-hooks.ts')).runSetupHooks(invocation.run, io, shutdown);
    case 'host':
      return (await import('./modes/sdk-host/run-sdk-host.ts')).runSdkHost(invocation, io, shutdown);
    default:
      return (await import('./modes/interactive/run-interactive.ts')).runInteractive(invocation, io, shutdown);
  }
}

/** `--help` and `-h` count anywhere before `--`. */
function hasHelpFlag(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const before = end < 0 ? args : args.slice(0, end);
  return before.includes('--help') || before.includes('-h');
}

const CONSOLE_METHODS = ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const;

/** Silences `console`: output of a library would corrupt the screen or the JSON lines on stdout. */
function muteConsole(): void {
  for (const method of CONSOLE_METHODS) console[method] = () => undefined;
}
