import type { AgentEvent } from '../../contracts/event.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { type LinearRegex, linearRegex } from '../../lib/patterns/linear-regex.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { RunningShell, ShellExit } from './run-shell.ts';

/** A shell in the background, as lists and tools see it. */
export type BackgroundShell = {
  readonly id: string;
  readonly command: string;
  readonly startedAtMs: number;
  readonly shell: RunningShell;
  readonly exit: ShellExit | undefined;
};

/** Every shell command that is at work: in front, where a call waits for it, or in the background. */
export type Shells = {
  /** A call waits for this one; `moved` resolves if the person sends it to the background. */
  front(
    callId: string,
    command: string,
    shell: RunningShell,
  ): { readonly moved: Promise<string>; readonly done: () => void };
  /** Goes on without anybody waiting, but for a line that fits `awaited`; answers with its id. */
  background(callId: string, command: string, shell: RunningShell, awaited?: LinearRegex): string;
  /** Sends the command of this call to the background, or else the newest one in front; false when there is none. */
  moveToBackground(callId?: string): boolean;
  /** Whatever was asked to end and has not is ended now. */
  killStopping(): void;
  find(id: string): BackgroundShell | undefined;
  list(): readonly BackgroundShell[];
  /** Is one of those in the background still at work? */
  anyRunning(): boolean;
  hasNotices(): boolean;
  /** What ended or printed a line that was waited for since this was last asked, in sentences for the model. */
  takeNotices(): readonly string[];
  /** Ends everything, background and front. */
  closeAll(): Promise<void>;
};

export function createShells(now: () => number, tell: (event: AgentEvent) => void): Shells {
  const background = new Map<string, BackgroundShell>();
  const front = new Map<
    string,
    { readonly command: string; readonly shell: RunningShell; readonly move: (id: string) => void }
  >();
  let notices: string[] = [];
  /** Lines that were waited for, by shell; the model hears of them together. */
  const printed = new Map<string, Printed>();
  let count = 0;

  function toBackground(callId: string, command: string, shell: RunningShell, awaited?: LinearRegex): string {
    count += 1;
    const id = `shell_${count}`;
    const news = { type: 'background', id, callId, kind: 'shell', title: firstLine(command) } as const;
    tell({ ...news, state: 'started' });
    background.set(id, { id, command, startedAtMs: now(), shell, exit: undefined });
    if (awaited !== undefined)
      shell.onLine((line) => {
        if (!awaited.test(line.slice(0, LINE_CHARS))) return;
        const before = printed.get(id);
        const now = withLine(before ?? { lines: [], more: 0 }, line);
        printed.set(id, now);
        // Who floods is told of once.
        if (before === undefined) tell({ ...news, state: 'printed', words: printedWords(id, now) });
      });
    void shell.over.then((exit) => {
      const known = background.get(id);
      if (known === undefined) return;
      background.set(id, { ...known, exit });
      const words = `Background shell ${id} (${news.title}) ended ${endOf(exit)}.`;
      notices = [...notices, `${words} Read its output with BashOutput.`];
      const outputPath = shell.output.path();
      tell({ ...news, state: stateOf(exit), words, ...(outputPath === undefined ? {} : { outputPath }) });
    });
    return id;
  }

  return {
    front(callId, command, shell) {
      let move: (id: string) => void = () => undefined;
      const moved = new Promise<string>((resolve) => {
        move = resolve;
      });
      front.set(callId, { command, shell, move });
      return { moved, done: () => void front.delete(callId) };
    },
    background: toBackground,
    moveToBackground(wanted) {
      const [callId, found] = [...front].findLast(([id]) => wanted === undefined || id === wanted) ?? [];
      if (callId === undefined || found === undefined) return false;
      front.delete(callId);
      found.move(toBackground(callId, found.command, found.shell));
      return true;
    },
    killStopping() {
      const all = [...front.values(), ...background.values()];
      for (const { shell } of all) if (shell.isStopping()) void shell.stop();
    },
    find: (id) => background.get(id),
    list: () => [...background.values()],
    anyRunning: () => [...background.values()].some(({ exit }) => exit === undefined),
    hasNotices: () => notices.length > 0 || printed.size > 0,
    takeNotices() {
      const taken = [...[...printed].map(([id, one]) => printedWords(id, one)), ...notices];
      notices = [];
      printed.clear();
      return taken;
    },
    async closeAll() {
      await Promise.all([...front.values(), ...background.values()].map(({ shell }) => shell.stop()));
      for (const { shell } of background.values()) shell.output.close();
    },
  };
}

const LINES_TOLD = 5;
/** So much of a line is looked at and told. */
const LINE_CHARS = 300;

/** The first lines that were waited for, and how many came after them. */
type Printed = { readonly lines: readonly string[]; readonly more: number };

function withLine({ lines, more }: Printed, line: string): Printed {
  return lines.length < LINES_TOLD ? { lines: [...lines, line], more } : { lines, more: more + 1 };
}

function printedWords(id: string, { lines, more }: Printed): string {
  const shown = lines.map((line) => sanitize(line.slice(0, LINE_CHARS), 'output'));
  const rest = more > 0 ? `\n… and ${more} more that match` : '';
  return `Background shell ${id} printed: ${shown.join('\n')}${rest}`;
}

/** What lines are looked for by; a mistake in it is told to whoever wrote it. */
export async function linePattern(text: string | undefined): Promise<LinearRegex | undefined> {
  if (text === undefined) return undefined;
  const expression = await linearRegex(text);
  if (!('problem' in expression)) return expression;
  throw new ToolFailure(`"${text.slice(0, 200)}" is not a regular expression that can be used: ${expression.problem}.`);
}

/** A command that fell to a signal was ended by somebody; everything else ended by itself. */
function stateOf({ code, problem }: ShellExit): 'completed' | 'failed' | 'stopped' {
  if (problem !== undefined) return 'failed';
  if (code === null) return 'stopped';
  return code === 0 ? 'completed' : 'failed';
}

/** How a command ended, in words. */
export function endOf(exit: ShellExit): string {
  if (exit.problem !== undefined) return `before it began: ${exit.problem}`;
  if (exit.code === null) return `by signal ${exit.signal ?? 'unknown'}`;
  return exit.code === 0 ? 'well' : `with exit code ${exit.code}`;
}

export function firstLine(command: string): string {
  const line = command.trim().split('\n')[0] ?? '';
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
