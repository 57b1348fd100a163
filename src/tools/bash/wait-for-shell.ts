import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import type { CallContext, ToolOutcome } from '../../contracts/tool.ts';
import { deferred } from '../../lib/deferred.ts';
import { formatDuration } from '../../lib/text/format.ts';
import type { RunningShell, ShellExit } from './run-shell.ts';
import { inBackground, shellOutcome } from './shell-outcome.ts';
import { endOf, type Shells } from './shells.ts';

/** What waiting for a command takes. */
export type FrontParts = {
  readonly shells: Shells;
  readonly workspaceRoots: (callId: string) => readonly string[];
  /** Tells where the shell of this call's conversation stands after a command. */
  readonly setCwd: (cwd: string, callId: string) => void;
  readonly now: () => number;
  /** What was kept from this command, in sentences for the model; its last lines may say so. */
  readonly keptFrom?: (callId: string, printed: readonly string[]) => readonly string[];
};

const PROGRESS_EVERY_MS = 100;
/** Without new output only the time goes on. */
const CLOCK_EVERY_MS = 1_000;
const TAIL_LINES = 5;
/** What a program could not do it says near its end. */
const SAID_LINES = 50;

/** Waits for a command until it ends, its time is over, or somebody stops it or moves it to the background. */
export async function waitForShell(
  command: string,
  shell: RunningShell,
  limitMs: number,
  context: CallContext,
  parts: FrontParts,
): Promise<ToolOutcome> {
  const startedAt = parts.now();
  const { moved, done } = parts.shells.front(context.callId, command, shell);
  const ticker = setInterval(progress(shell, limitMs, context, parts.now), PROGRESS_EVERY_MS);
  const ending = await endingOf(shell, { moved, limitMs, signal: context.signal });
  clearInterval(ticker);
  const elapsed = formatDuration(parts.now() - startedAt);
  const kept = parts.keptFrom?.(context.callId, shell.output.tail(SAID_LINES)) ?? [];
  switch (ending.kind) {
    case 'moved':
      return inBackground('Moved', ending.id);
    case 'abort':
      // The answer does not wait for the dying; whoever closes the session does.
      void ending.stopped.finally(done);
      return shellOutcome(command, shell, {
        exitCode: null,
        words: `stopped by the user after ${elapsed}`,
        notes: [],
        how: 'interrupted',
      });
    case 'timeout': {
      await shell.stop();
      done();
      const words = `stopped after ${elapsed}: the limit of ${formatDuration(limitMs)} is reached`;
      return shellOutcome(command, shell, { exitCode: null, words, notes: kept, how: 'ended' });
    }
    default:
      done();
      return finished(command, shell, ending.exit, context, parts, kept);
  }
}

/** Reports new output, and the time once a second. */
function progress(shell: RunningShell, timeoutMs: number, context: CallContext, now: () => number): () => void {
  const startedAt = now();
  let reported = { totalBytes: 0, elapsedMs: 0 };
  return () => {
    const totalBytes = shell.output.totalBytes();
    const elapsedMs = now() - startedAt;
    if (totalBytes === reported.totalBytes && elapsedMs - reported.elapsedMs < CLOCK_EVERY_MS) return;
    reported = { totalBytes, elapsedMs };
    context.report({ kind: 'output', tail: shell.output.tail(TAIL_LINES), totalBytes, elapsedMs, timeoutMs });
  };
}

type Ending =
  | { readonly kind: 'exit'; readonly exit: ShellExit }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'abort'; readonly stopped: Promise<void> }
  | { readonly kind: 'moved'; readonly id: string };

type Limits = { readonly moved: Promise<string>; readonly limitMs: number; readonly signal: AbortSignal };

/** Whatever comes first. */
async function endingOf(shell: RunningShell, { moved, limitMs, signal }: Limits): Promise<Ending> {
  const ended = deferred<Ending>();
  const timer = setTimeout(() => ended.resolve({ kind: 'timeout' }), limitMs);
  // At once, not when the waiting function has its turn again: the screen paints in between.
  const onAbort = () => ended.resolve({ kind: 'abort', stopped: shell.stop() });
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const ending = await Promise.race([
    shell.exited.then((exit): Ending => ({ kind: 'exit', exit })),
    moved.then((id): Ending => ({ kind: 'moved', id })),
    ended.promise,
  ]);
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
  return ending;
}

async function finished(
  command: string,
  shell: RunningShell,
  exit: ShellExit,
  context: CallContext,
  parts: FrontParts,
  kept: readonly string[],
): Promise<ToolOutcome> {
  const notes: string[] = [...kept];
  if (shell.leftSomething()) {
    const id = parts.shells.background(context.callId, command, shell);
    notes.push(`[something it started still runs; it is listed as ${id} and ends with the session]`);
  }
  notes.push(...(await follow(exit.problem === undefined ? exit.cwd : context.cwd, context.callId, parts)));
  return shellOutcome(command, shell, { exitCode: exit.code, words: endWords(exit), notes, how: 'ended' });
}

function endWords(exit: ShellExit): string {
  if (exit.problem !== undefined) return `could not start: ${exit.problem}`;
  return exit.code === 0 ? '' : `ended ${endOf(exit)}`;
}

/** The directory lasts while it is inside the workspace. */
async function follow(cwd: string | undefined, callId: string, parts: FrontParts): Promise<readonly string[]> {
  const roots = parts.workspaceRoots(callId);
  const home = roots[0];
  if (cwd === undefined || home === undefined) return [];
  const real = await realpath(cwd).catch(() => undefined);
  if (real !== undefined && roots.some((root) => `${real}${sep}`.startsWith(root.endsWith(sep) ? root : root + sep))) {
    parts.setCwd(real, callId);
    return [];
  }
  parts.setCwd(home, callId);
  return [
    `[the directory ${real === undefined ? 'is gone' : 'left the workspace'}; the next command starts in ${home}]`,
  ];
}
