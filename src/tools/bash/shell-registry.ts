import type { AgentEvent } from '../../contracts/event.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { compileLinearRegex, type LinearRegex } from '../../lib/patterns/linear-regex.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import { truncate } from '../../lib/text/format.ts';
import { wrapInReminder } from '../../lib/text/reminder.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { RunningShell, ShellExit } from './run-shell.ts';

/** A shell that runs or ran in the background. */
export type BackgroundShell = {
  readonly id: string;
  readonly command: string;
  readonly startedAtMs: number;
  readonly shell: RunningShell;
  readonly exit: ShellExit | undefined;
  /** Name of the monitor of a plugin that this is; the user did not ask for it in particular. */
  readonly monitor?: string;
};

/** The lines of a background command that are reported to the model, and the monitor that it belongs to. */
type ShellWatch = { readonly pattern: Pick<LinearRegex, 'test'>; readonly monitor?: string };

/** All shell commands of a conversation: in the foreground, where a call waits for them, or in the background. */
export type ShellRegistry = ReturnType<typeof createShellRegistry>;

/** Creates the registry of the shell commands of a conversation. */
export function createShellRegistry(now: () => number, emit: (event: AgentEvent) => void) {
  const background = new Map<string, BackgroundShell>();
  const foreground = new Map<
    string,
    { readonly command: string; readonly shell: RunningShell; readonly move: (id: string) => void }
  >();
  let notices: string[] = [];
  /** Resolved when the end of a background command is emitted. */
  const ends: Promise<void>[] = [];
  /** Matching lines by shell id, reported to the model together. */
  const matchedLines = new Map<string, MatchedLines>();
  let count = 0;

  /** Continues a command in the background and returns its id; lines that are watched are reported to the model. */
  function startBackground(callId: string, command: string, shell: RunningShell, watch?: ShellWatch): string {
    count += 1;
    const id = `shell_${count}`;
    const { monitor } = watch ?? {};
    const title = monitor ?? truncateToFirstLine(command);
    const event = { type: 'background', id, callId, kind: 'shell', title } as const;
    emit({ ...event, state: 'started' });
    background.set(id, {
      ...{ id, command, startedAtMs: now(), shell, exit: undefined },
      ...(monitor === undefined ? {} : { monitor }),
    });
    if (watch !== undefined)
      shell.onLine((line) => {
        if (!watch.pattern.test(line.slice(0, MAX_LINE_CHARS))) return;
        const source = monitor === undefined ? `Background shell ${id}` : `The monitor ${monitor}`;
        const earlier = matchedLines.get(id);
        const updated = addLine(earlier ?? { source, lines: [], more: 0 }, line);
        matchedLines.set(id, updated);
        // One event per batch, however many lines match.
        if (earlier === undefined) emit({ ...event, state: 'printed', words: describePrinted(updated) });
      });
    const end = shell.allExited.then((exit) => {
      const entry = background.get(id);
      if (entry === undefined) return;
      background.set(id, { ...entry, exit });
      const message = `Background shell ${id} (${event.title}) ended ${describeExit(exit)}.`;
      notices = [...notices, `${message} ${describeLastLines(shell)}`];
      const outputPath = shell.output.path();
      emit({ ...event, state: getEndState(exit), words: message, ...(outputPath === undefined ? {} : { outputPath }) });
    });
    ends.push(end);
    return id;
  }

  return {
    name: 'background shells',
    /** Registers a command that a call waits for; `moved` resolves if the user sends it to the background. */
    addForeground(
      callId: string,
      command: string,
      shell: RunningShell,
    ): { readonly moved: Promise<string>; readonly done: () => void } {
      let move: (id: string) => void = () => undefined;
      const moved = new Promise<string>((resolve) => {
        move = resolve;
      });
      foreground.set(callId, { command, shell, move });
      return { moved, done: () => void foreground.delete(callId) };
    },
    addBackground: startBackground,
    /** Moves the command of this call, or the newest foreground command, to the background; `false` if there is none. */
    moveToBackground(requestedCallId?: string): boolean {
      const [callId, entry] =
        [...foreground].findLast(([id]) => requestedCallId === undefined || id === requestedCallId) ?? [];
      if (callId === undefined || entry === undefined) return false;
      foreground.delete(callId);
      entry.move(startBackground(callId, entry.command, entry.shell));
      return true;
    },
    /** Kills commands that were asked to stop and still run. */
    killStopping() {
      const all = [...foreground.values(), ...background.values()];
      for (const { shell } of all) if (shell.isStopping()) void shell.stop();
    },
    find: (id: string): BackgroundShell | undefined => background.get(id),
    list: (): readonly BackgroundShell[] => [...background.values()],
    /** Tells whether a background command still runs. */
    hasRunning: (): boolean => [...background.values()].some(({ exit }) => exit === undefined),
    hasReminders: (): boolean => notices.length > 0 || matchedLines.size > 0,
    /** Tells the model about commands that ended or printed a matching line since the last request. */
    async reminders(): Promise<readonly string[]> {
      const taken = [...[...matchedLines.values()].map(describePrinted), ...notices];
      notices = [];
      matchedLines.clear();
      return taken.map(wrapInReminder);
    },
    /** Stops all commands and resolves when their ends are emitted. */
    async stopAll() {
      await Promise.all([...foreground.values(), ...background.values()].map(({ shell }) => shell.stop()));
      // The system reports the exit of a process after it is gone; one that survives SIGKILL has none.
      await resolveUndefinedOnAbort(Promise.all(ends), AbortSignal.timeout(END_REPORT_MS));
      for (const { shell } of background.values()) shell.output.close();
    },
  };
}

const END_REPORT_MS = 1_000;
const MAX_REPORTED_LINES = 5;
/** Length to which a line is matched and reported. */
const MAX_LINE_CHARS = 300;

/** The first matching lines, and the number of further ones. */
type MatchedLines = { readonly source: string; readonly lines: readonly string[]; readonly more: number };

function addLine({ source, lines, more }: MatchedLines, line: string): MatchedLines {
  return lines.length < MAX_REPORTED_LINES
    ? { source, lines: [...lines, line], more }
    : { source, lines, more: more + 1 };
}

const LAST_LINES = 10;

/** Describes how the output of a command ended, so that the model need not ask for it. */
function describeLastLines({ output }: RunningShell): string {
  const lines = output.tail(LAST_LINES).map((line) => sanitize(line.slice(0, MAX_LINE_CHARS), 'output'));
  if (lines.length === 0) return 'It printed nothing.';
  const [scope, advice] =
    lines.length < LAST_LINES ? ['It printed', ''] : ['Its last lines', '\nBashOutput shows what came before.'];
  return `${scope}:\n${lines.join('\n')}${advice}`;
}

function describePrinted({ source, lines, more }: MatchedLines): string {
  const shown = lines.map((line) => sanitize(line.slice(0, MAX_LINE_CHARS), 'output'));
  const rest = more > 0 ? `\n… and ${more} more that match` : '';
  return `${source} printed: ${shown.join('\n')}${rest}`;
}

/** Compiles a pattern for lines; throws a `ToolFailure` for the model if it is invalid. */
export async function compileLinePattern(text: string | undefined): Promise<LinearRegex | undefined> {
  if (text === undefined) return undefined;
  const expression = await compileLinearRegex(text);
  if (!('problem' in expression)) return expression;
  throw new ToolFailure(`"${text.slice(0, 200)}" is not a regular expression that can be used: ${expression.problem}.`);
}

/** Returns the end state of a command; a command that a signal ended counts as stopped. */
function getEndState({ code, problem }: ShellExit): 'completed' | 'failed' | 'stopped' {
  if (problem !== undefined) return 'failed';
  if (code === null) return 'stopped';
  return code === 0 ? 'completed' : 'failed';
}

/** Describes how a command ended. */
export function describeExit(exit: ShellExit): string {
  if (exit.problem !== undefined) return `before it began: ${exit.problem}`;
  if (exit.code === null) return `by signal ${exit.signal ?? 'unknown'}`;
  return exit.code === 0 ? 'well' : `with exit code ${exit.code}`;
}

/** Returns the first line of a command, truncated for titles. */
export function truncateToFirstLine(command: string): string {
  const line = command.trim().split('\n')[0] ?? '';
  return truncate(line, 60);
}
