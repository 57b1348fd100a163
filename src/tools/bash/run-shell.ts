import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import type { Readable } from 'node:stream';
import { ToolFailure } from '../../contracts/tool.ts';
import { ABSOLUTE_PATH_PATTERN } from '../../lib/files/path-style.ts';
import { createShellEnvironment, describeMissingShell, findShell } from '../../lib/processes/find-shell.ts';
import { getProcessStartTime } from '../../lib/processes/process-info.ts';
import { createProcessMarkerCommand } from '../../lib/processes/process-markers.ts';
import { killProcessTree, listRemainingProcesses } from '../../lib/processes/process-tree.ts';
import { createDeferred } from '../../lib/promises.ts';
import { SECRETS_EXCLUDED_LINE } from '../../permissions/shell/search-requirements.ts';
import { createOutputBuffer, type OutputBuffer, type OutputLimits } from './output-buffer.ts';

/** Facts about a started process group, recorded so that the next start can end processes left by a crash. */
export type ChildProcessFacts = {
  readonly pgid: number;
  readonly startTime: string;
  readonly marker: string;
  readonly command: string;
};

/** Records which process groups run. */
export type ProcessLedger = {
  readonly started: (child: ChildProcessFacts) => void;
  readonly ended: (pgid: number) => void;
};

/** Options of `startShell`. */
export type ShellOptions = {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly marker: string;
  readonly limits: OutputLimits;
  readonly ledger: ProcessLedger;
  /** Wraps the command in a sandbox. */
  readonly wrap?: (argv: readonly string[]) => readonly string[];
  /** File that the wrapper gets as descriptor 4. */
  readonly wrapperFile?: string;
};

/** A running shell command. */
export type RunningShell = ReturnType<typeof startShell>;

/** How a command exited; `problem` if it could not be started. */
export type ShellExit = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly cwd: string | undefined;
  readonly problem?: string;
};

/** Time an exited command may hold its output open before it counts as having left processes. */
const EXIT_GRACE_MS = 100;
/** Interval of the check whether left processes have exited. */
const POLL_MS = 1_000;

/**
 * Redirects stderr to stdout and reports the final directory on file descriptor 3. The command is evaluated exactly as
 * it was analyzed; `shift` removes it from its own arguments. Everything is on one line, so that bash counts the lines
 * of the command from one. The directory is reported after the command or by the EXIT trap, because `exit` skips the
 * code after the command, and a trap set by the command replaces the EXIT trap; a report starts on a new line, whatever
 * the command wrote there.
 */
const REPORT_CWD = 'echo >&3; pwd -P >&3 || echo gone >&3';
const REPORTED = ':reported:';
const WRAPPER = `exec 2>&1; trap '{ [ "\${2-}" = ${REPORTED} ] || { ${REPORT_CWD}; }; } 2>/dev/null' EXIT; eval "shift; $1"; { set -- $? ${REPORTED}; trap - ERR DEBUG; ${REPORT_CWD}; [ "$1" = 0 ] || (exit "$1"); } 2>/dev/null`;
/** Longer than any path; limits the memory for a command that floods the channel. */
const CHANNEL_CHARS = 20_000;

/** Starts a command in its own process group, with stdin closed. */
export function startShell(start: ShellOptions) {
  const output = createOutputBuffer(start.limits);
  const { child, tree, closed, directory, isOpen, hasExcludedSecrets } = spawnShell(start, output);
  const startedAt = performance.now();
  let hasLeftProcesses = false;
  let stopRequests = 0;
  let termination: Promise<void> | undefined;
  const stopped = createDeferred<void>();
  const hasProcesses = async () =>
    isOpen() || (await listRemainingProcesses(tree, performance.now() - startedAt)).length > 0;

  const exited = new Promise<ShellExit>((resolve) => {
    child.on('error', (problem) => resolve({ code: null, signal: null, cwd: undefined, problem: problem.message }));
    child.on('exit', async (code, signal) => {
      const graceEnds = performance.now() + EXIT_GRACE_MS;
      await Promise.race([closed, pause(EXIT_GRACE_MS, 'in the background')]);
      if (await hasProcesses()) {
        // A process that exits within the grace period was not left behind.
        await pause(graceEnds - performance.now());
        hasLeftProcesses = await hasProcesses();
      }
      resolve({ code, signal, cwd: directory() });
    });
  });

  async function waitForProcesses(): Promise<ShellExit> {
    const exit = await exited;
    while (hasLeftProcesses && (await hasProcesses()))
      await Promise.race([stopped.promise, pause(POLL_MS, 'in the background')]);
    hasLeftProcesses = false;
    if (child.pid !== undefined) start.ledger.ended(child.pid);
    return exit;
  }

  return {
    output,
    /** Tells whether a search of the command left out secret files. */
    hasExcludedSecrets,
    exited,
    /** Resolves when the command and all processes it left behind have exited. */
    allExited: waitForProcesses(),
    /** Adds a listener for each complete line from now on. */
    onLine: (listener: (line: string) => void): void => void child.stdout?.on('data', createLineSplitter(listener)),
    /** Tells whether `stop` was called and the process tree still runs. */
    isStopping: (): boolean => termination !== undefined,
    /** Tells whether the command has exited while a process it started still runs or holds its output open. */
    hasLeftProcesses: (): boolean => hasLeftProcesses,
    /** Terminates the process tree, on the second call with SIGKILL. Resolves when nothing is left. */
    async stop() {
      if (child.pid === undefined) return;
      stopRequests += 1;
      termination ??= killProcessTree(tree, () => stopRequests > 1);
      await termination;
      termination = undefined;
      child.stdout?.destroy();
      hasLeftProcesses = false;
      stopped.resolve();
      start.ledger.ended(child.pid);
      output.close();
    },
  };
}

const MAX_LINE_CHARS = 10_000;

/** Creates a chunk handler that calls the listener for each line; of an unfinished line only its end is buffered. */
function createLineSplitter(listener: (line: string) => void): (chunk: Buffer) => void {
  const decoder = new TextDecoder();
  let rest = '';
  return (chunk) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = (lines.pop() ?? '').slice(-MAX_LINE_CHARS);
    for (const line of lines) listener(line);
  };
}

const isWindows = process.platform === 'win32';

/**
 * On Windows, Git Bash does not inherit further descriptors, so the third one is a file whose name is the last argument,
 * and `pwd -W` names the directory as other programs know it.
 */
const WINDOWS_WRAPPER = `exec 3>"$2"; set -- "$1"; ${WRAPPER.replaceAll('pwd -P', 'pwd -W')}`;

/** Spawns the process with two channels: its output, and the directory it ended in. */
function spawnShell({ command, cwd, env, marker, ledger, wrap, wrapperFile }: ShellOptions, output: OutputBuffer) {
  const bash = findShell('bash', env);
  if (bash === undefined) throw new ToolFailure(describeMissingShell());
  const channelFile = isWindows ? join(tmpdir(), `ouro-${randomUUID()}`) : undefined;
  const script = channelFile === undefined ? WRAPPER : WINDOWS_WRAPPER;
  const params = ['bash', command, ...(channelFile === undefined ? [] : [channelFile])];
  const unwrapped = [bash, '--noprofile', '--norc', '-c', createProcessMarkerCommand(env) + script, ...params];
  const [file = bash, ...args] = wrap?.(unwrapped) ?? unwrapped;
  const wrapperFd = wrapperFile === undefined ? undefined : openSync(wrapperFile, 'r');
  const child = spawn(file, args, {
    cwd,
    env: { ...createShellEnvironment(env) },
    // On Windows, a detached program gets a console window of its own.
    detached: !isWindows,
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'ignore', isWindows ? 'ignore' : 'pipe', ...(wrapperFd === undefined ? [] : [wrapperFd])],
  });
  if (wrapperFd !== undefined) closeSync(wrapperFd);
  const startTime = child.pid === undefined ? '' : (getProcessStartTime(child.pid) ?? '');
  if (child.pid !== undefined) ledger.started({ pgid: child.pid, startTime, marker, command });
  let isOpen = true;
  let channelText = '';
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
  const outputClosed = new Promise<void>((resolve) => {
    child.stdout?.on('close', () => {
      isOpen = false;
      resolve();
    });
  });
  if (channelFile !== undefined) child.on('exit', () => (channelText = takeText(channelFile)));
  const channel = child.stdio[3];
  const channelClosed = new Promise<void>((resolve) => {
    if (!isReadable(channel)) return resolve();
    channel.setEncoding('utf8').on('close', resolve);
    channel.on('data', (text: string) => {
      channelText = (channelText + text).slice(-CHANNEL_CHARS);
    });
  });
  return {
    child,
    tree: { groupId: child.pid ?? 0, marker, startTime },
    closed: Promise.all([outputClosed, channelClosed]),
    isOpen: () => isOpen,
    hasExcludedSecrets: () => channelText.split('\n').includes(SECRETS_EXCLUDED_LINE),
    directory() {
      const reported = channelText.split('\n').findLast(isReportedCwd);
      return isWindows && reported !== undefined ? normalize(reported) : reported;
    },
  };
}

/** Reads the end of a file and removes it, unless a process that was left behind has it open. */
function takeText(file: string): string {
  let text = '';
  try {
    text = readFileSync(file, 'utf8').slice(-CHANNEL_CHARS);
    rmSync(file);
  } catch {
    // The shell did not start, or the file stays in the folder of temporary files.
  }
  return text;
}

/** Tells whether a line is a reported directory; the command may write to the channel too. */
function isReportedCwd(line: string): boolean {
  return ABSOLUTE_PATH_PATTERN.test(line) || line === 'gone';
}

/** Waits; a timer in the background does not keep the process alive. */
function pause(ms: number, where?: 'in the background'): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(0, ms));
    if (where !== undefined) timer.unref();
  });
}

function isReadable(stream: unknown): stream is Readable {
  return typeof stream === 'object' && stream !== null && 'setEncoding' in stream;
}
