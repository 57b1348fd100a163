import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import type { BlockedEffect } from '../../contracts/sandbox.ts';
import type { CallContext, ToolOutcome } from '../../contracts/tool.ts';
import { createDeferred } from '../../lib/promises.ts';
import { formatDuration } from '../../lib/text/format.ts';
import { startTimeLimit } from '../../lib/time-limit.ts';
import type { RunningShell, ShellExit } from './run-shell.ts';
import { describeExit, type ShellRegistry } from './shell-registry.ts';

/** Dependencies for waiting on a foreground command. */
export type ForegroundCommandDeps = {
  readonly shells: ShellRegistry;
  readonly workspaceRoots: (callId: string) => readonly string[];
  /** Sets the current directory of the conversation that the call belongs to. */
  readonly setCwd: (cwd: string, callId: string) => void;
  readonly now: () => number;
  /** Returns messages for the model about what the sandbox denied, found in the command's last lines. */
  readonly listSandboxDenials?: (callId: string, printed: readonly string[]) => readonly string[];
  /** Returns the effects that the limits of a failed command blocked, found in its last lines. */
  readonly findBlocked?: ((printed: readonly string[]) => readonly BlockedEffect[]) | undefined;
};

const PROGRESS_EVERY_MS = 100;
/** Interval of progress reports without new output, which only update the elapsed time. */
const ELAPSED_EVERY_MS = 1_000;
const TAIL_LINES = 5;
/** Number of last lines that are searched for sandbox denials. */
const DENIAL_LINES = 50;

/** Waits until a command exits, times out, is stopped, or is moved to the background. */
export async function waitForForegroundCommand(
  command: string,
  shell: RunningShell,
  limitMs: number,
  context: CallContext,
  deps: ForegroundCommandDeps,
): Promise<ToolOutcome> {
  const startedAt = deps.now();
  const { moved, done } = deps.shells.addForeground(context.callId, command, shell);
  const reportProgress = createProgressReporter(shell, limitMs, context, deps.now);
  const findPrompt = createPromptFinder(shell, deps.now);
  let prompt: string | undefined;
  const ticker = setInterval(() => {
    reportProgress();
    prompt ??= findPrompt();
    if (prompt !== undefined) deps.shells.moveToBackground(context.callId);
  }, PROGRESS_EVERY_MS);
  const result = await waitForEnd(shell, { moved, limitMs, signal: context.signal });
  clearInterval(ticker);
  const elapsedText = formatDuration(deps.now() - startedAt - result.stoppedMs);
  const denials = deps.listSandboxDenials?.(context.callId, shell.output.tail(DENIAL_LINES)) ?? [];
  switch (result.kind) {
    case 'moved':
      return prompt === undefined ? buildBackgroundOutcome('Moved', result.id) : buildPromptOutcome(prompt, result.id);
    case 'abort':
      // The result does not wait until the processes have ended; closing the session does.
      void result.stopped.finally(done);
      return buildShellOutcome(command, shell, {
        exitCode: null,
        summary: `stopped by the user after ${elapsedText}`,
        notes: [],
        how: 'interrupted',
      });
    case 'timeout': {
      await shell.stop();
      done();
      const summary = `stopped after ${elapsedText}: the limit of ${formatDuration(limitMs)} is reached`;
      const outcome = buildShellOutcome(command, shell, { exitCode: null, summary, notes: denials, how: 'ended' });
      return addBlocked(outcome, shell, deps);
    }
    default:
      done();
      return finishShell(command, shell, result.exit, context, deps, denials);
  }
}

/** Time without output after which a question at the end of it counts as waiting for an answer. */
const SILENT_MS = 10_000;
/** The end of an output that asks for something. */
const PROMPT_END = new RegExp(
  [
    String.raw`\?\s*$`,
    String.raw`[[(]\s*(?:y(?:es)?\s*[/|]\s*no?|no?\s*[/|]\s*y(?:es)?)\b.*[\])]\W*$`,
    String.raw`\b(?:password|passphrase|passcode|username|login|token|otp)\b.*:\s*$`,
    String.raw`\b(?:press|hit)\b.*\b(?:key|enter|return)\b`,
    String.raw`\b(?:enter|type|choose|select)\b.*[:>]\s*$`,
    String.raw`^(?:>>>|\w+>)\s*$`,
  ].join('|'),
  'i',
);

/** A question is at the end of a line, however long the line is. */
const MAX_PROMPT_CHARS = 500;

/** Tells whether a line asks for something. @internal Exported for tests. */
export function isLineAskingForInput(line: string): boolean {
  return PROMPT_END.test(line.slice(-MAX_PROMPT_CHARS));
}

/** Creates a check that returns the last line of a command once it is silent and that line asks for something. */
function createPromptFinder({ output }: RunningShell, now: () => number): () => string | undefined {
  let seen = { totalBytes: 0, atMs: now() };
  return () => {
    const totalBytes = output.totalBytes();
    if (totalBytes !== seen.totalBytes) seen = { totalBytes, atMs: now() };
    if (totalBytes === 0 || now() - seen.atMs < SILENT_MS) return undefined;
    const [last = ''] = output.tail(1);
    return isLineAskingForInput(last) ? last.trim() : undefined;
  };
}

/** Creates a timer callback that reports new output, and the elapsed time once a second. */
function createProgressReporter(
  shell: RunningShell,
  timeoutMs: number,
  context: CallContext,
  now: () => number,
): () => void {
  const startedAt = now();
  let reported = { totalBytes: 0, elapsedMs: 0 };
  return () => {
    const totalBytes = shell.output.totalBytes();
    const elapsedMs = now() - startedAt;
    if (totalBytes === reported.totalBytes && elapsedMs - reported.elapsedMs < ELAPSED_EVERY_MS) return;
    reported = { totalBytes, elapsedMs };
    context.report({ kind: 'output', tail: shell.output.tail(TAIL_LINES), totalBytes, elapsedMs, timeoutMs });
  };
}

/** The end of the wait, and the time in which ouro itself was stopped. */
type WaitResult = WaitEnd & { readonly stoppedMs: number };
type WaitEnd =
  | { readonly kind: 'exit'; readonly exit: ShellExit }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'abort'; readonly stopped: Promise<void> }
  | { readonly kind: 'moved'; readonly id: string };

type WaitLimits = { readonly moved: Promise<string>; readonly limitMs: number; readonly signal: AbortSignal };

/** Returns whichever comes first. */
async function waitForEnd(shell: RunningShell, { moved, limitMs, signal }: WaitLimits): Promise<WaitResult> {
  const early = createDeferred<WaitEnd>();
  const limit = startTimeLimit(limitMs, () => early.resolve({ kind: 'timeout' }));
  // Stops the shell inside the listener, not after the await: the screen may paint in between.
  const onAbort = () => early.resolve({ kind: 'abort', stopped: shell.stop() });
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const result = await Promise.race([
    shell.exited.then((exit): WaitEnd => ({ kind: 'exit', exit })),
    moved.then((id): WaitEnd => ({ kind: 'moved', id })),
    early.promise,
  ]);
  limit.stop();
  signal.removeEventListener('abort', onAbort);
  return { ...result, stoppedMs: limit.getStoppedMs() };
}

async function finishShell(
  command: string,
  shell: RunningShell,
  exit: ShellExit,
  context: CallContext,
  deps: ForegroundCommandDeps,
  denials: readonly string[],
): Promise<ToolOutcome> {
  const notes: string[] = [...denials];
  if (shell.hasLeftProcesses()) {
    const id = deps.shells.addBackground(context.callId, command, shell);
    notes.push(`[something it started still runs; it is listed as ${id} and ends with the session]`);
  }
  notes.push(...(await updateCwd(exit.problem === undefined ? exit.cwd : context.cwd, context.callId, deps)));
  const end = { exitCode: exit.code, summary: describeEnd(exit), notes, how: 'ended' } as const;
  const outcome = buildShellOutcome(command, shell, end);
  // Without a reported directory the shell never ran: its limits could not be set up.
  if (deps.findBlocked !== undefined && exit.cwd === undefined) return { ...outcome, blocked: [{ kind: 'other' }] };
  return addBlocked(outcome, shell, deps);
}

/** Adds the effects that the limits of a failed command blocked. */
function addBlocked(
  outcome: ToolOutcome,
  { output }: RunningShell,
  { findBlocked }: ForegroundCommandDeps,
): ToolOutcome {
  if (findBlocked === undefined || outcome.isError !== true) return outcome;
  const blocked = findBlocked(output.tail(DENIAL_LINES));
  return blocked.length === 0 ? outcome : { ...outcome, blocked };
}

function describeEnd(exit: ShellExit): string {
  if (exit.problem !== undefined) return `could not start: ${exit.problem}`;
  return exit.code === 0 ? '' : `ended ${describeExit(exit)}`;
}

/** Updates the current directory; outside of the workspace it is reset to the first root. */
export async function updateCwd(
  cwd: string | undefined,
  callId: string,
  deps: ForegroundCommandDeps,
): Promise<readonly string[]> {
  const roots = deps.workspaceRoots(callId);
  const firstRoot = roots[0];
  if (cwd === undefined || firstRoot === undefined) return [];
  const real = await realpath(cwd).catch(() => undefined);
  if (real !== undefined && roots.some((root) => `${real}${sep}`.startsWith(root.endsWith(sep) ? root : root + sep))) {
    deps.setCwd(real, callId);
    return [];
  }
  deps.setCwd(firstRoot, callId);
  return [
    `[the directory ${real === undefined ? 'is gone' : 'left the workspace'}; the next command starts in ${firstRoot}]`,
  ];
}

/** The end of a command. */
type ShellEnd = {
  readonly exitCode: number | null;
  /** Text about the exit for the model; empty on success. The screen shows the exit beside the command. */
  readonly summary: string;
  /** Further lines for the model and the user. */
  readonly notes: readonly string[];
  readonly how: 'ended' | 'interrupted';
};

const EXCLUSION_NOTE = '[Left out of this search: .env, keys and other files of secrets.]';

/**
 * Marks lines of an output that look like a note of ouro: a sentence in brackets. A file or a program could otherwise
 * claim how a command ended or what was left out.
 */
function escapeNotes(output: string): string {
  return output.replaceAll(
    /^[^\S\n\r\u2028\u2029]*\[(?=[A-Za-z][\w',:;-]*(?: +[^ \]\n\r\u2028\u2029]+){2,}\][^\S\n]*$)/gm,
    '$&\\',
  );
}

/** Builds the outcome of a command for the model and the user. */
function buildShellOutcome(
  command: string,
  shell: RunningShell,
  { exitCode, summary, notes, how }: ShellEnd,
): ToolOutcome {
  const output = shell.output.text();
  const path = shell.output.path();
  if (!shell.hasLeftProcesses()) shell.output.close();
  const joinNonEmpty = (...parts: readonly string[]) => parts.filter((part) => part !== '').join('\n');
  const excluded = shell.hasExcludedSecrets() ? [EXCLUSION_NOTE] : [];
  const text = joinNonEmpty(escapeNotes(output.trimEnd()), summary === '' ? '' : `[${summary}]`, ...excluded, ...notes);
  const isFailed = exitCode !== 0;
  return {
    content: text === '' ? '(no output)' : text,
    ...(isFailed ? { isError: true } : {}),
    display: {
      kind: 'output',
      command,
      output: joinNonEmpty(output.trimEnd(), ...excluded, ...notes),
      exitCode,
      ...(exitCode === null && summary !== '' ? { end: summary } : {}),
      hiddenLines: 0,
      ...(path === undefined ? {} : { fullPath: path }),
    },
    structured: { stdout: output, stderr: '', interrupted: how === 'interrupted' },
  };
}

/** Builds the outcome of a command that continues in the background. */
export function buildBackgroundOutcome(how: 'Started' | 'Moved', id: string): ToolOutcome {
  return {
    content: `${how === 'Started' ? 'Started in' : 'Moved to'} the background as ${id}. Read its output with BashOutput, end it with KillShell.`,
    display: { kind: 'text', text: `in the background as ${id}` },
  };
}

/** Builds the outcome of a command that waits for an answer nobody can give. */
function buildPromptOutcome(prompt: string, id: string): ToolOutcome {
  return {
    content: `It printed "${prompt}" and nothing since: it seems to wait for input, which it cannot get. It goes on in the background as ${id}. End it with KillShell and run it with a flag that answers (--yes, --no-input) or with the input in a here-document; if it is only slow, read on with BashOutput.`,
    isError: true,
    display: { kind: 'text', text: `waits for input, in the background as ${id}` },
  };
}
