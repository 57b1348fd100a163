import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import { type CallContext, ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { formatDuration } from '../../lib/text/format.ts';
import { buildTool } from '../build-tool.ts';
import { commandFacts } from '../stated-facts.ts';
import { bashPrompt, type ShellLimits } from './prompt.ts';
import { type RunningShell, type ShellExit, type ShellLedger, startShell } from './run-shell.ts';
import { shellEnvironment } from './shell-environment.ts';
import { endOf, firstLine, linePattern, type Shells } from './shells.ts';

/** What the shell tool is built from. */
export type BashParts = {
  readonly shells: Shells;
  readonly variables: () => Readonly<Record<string, string>>;
  readonly ledger: ShellLedger;
  readonly workspaceRoots: (callId: string) => readonly string[];
  /** Tells where the shell of this call's conversation stands after a command. */
  readonly setCwd: (cwd: string, callId: string) => void;
  /** Where too large outputs are kept whole. */
  readonly outputFolder: string;
  /** The limits that hold now. */
  readonly limits: () => ShellLimits;
  /** Variables for this command alone (git made harmless when nobody was asked). */
  readonly extraEnv?: (callId: string) => Readonly<Record<string, string | undefined>>;
  /** `undefined` without a sandbox; throws a ToolFailure when one is wanted and cannot be had. */
  readonly sandbox?: () => ((argv: readonly string[]) => readonly string[]) | undefined;
  /** A command that ran in it has ended, with all it started. */
  readonly leftSandbox?: (end: 'exited' | 'over') => void;
  /** Commands that certainly change nothing may run side by side. */
  readonly onlyLooks?: (command: string) => boolean;
  readonly now: () => number;
};

const KEEP_BYTES = 30_000;
const PROGRESS_EVERY_MS = 100;
/** Without new output only the time goes on. */
const CLOCK_EVERY_MS = 1_000;
const TAIL_LINES = 5;
const FILE_BYTES = 100_000_000;

const input = z.object({
  command: z.string().min(1).describe('The command line'),
  timeout: z.number().positive().optional().describe('Milliseconds'),
  description: z.string().optional().describe('What it is for, in a few words'),
  run_in_background: z.boolean().optional(),
  outside_sandbox: z.string().optional().describe('What it needs that a sandbox kept from it: asks to run it outside'),
  wake_on: z.string().optional().describe('In the background: a line that matches this expression is told you'),
});

/** What it says of itself to those who decide about its calls. */
export const bashStatement: ToolStatement = { name: 'Bash', facts: commandFacts, mainInput: 'command', isServed: true };

/** The shell: always comes back, and takes everything it started with it. */
export function createBashTool(parts: BashParts) {
  return buildTool({
    ...bashStatement,
    prompt: () => bashPrompt(parts.limits()),
    input,
    maxResultChars: KEEP_BYTES * 2,
    prepareArguments: (given) =>
      typeof given.timeout === 'string' ? { ...given, timeout: Number(given.timeout) } : given,
    isConcurrencySafe: ({ command, run_in_background: background }) =>
      background !== true && (parts.onlyLooks?.(command) ?? false),
    title: ({ command }) => firstLine(command),
    async call({ command, timeout, ...given }, context) {
      if (command.includes('\0')) throw new ToolFailure('A command cannot hold a NUL byte. Write it as \\0 in printf.');
      const pattern = await linePattern(given.wake_on);
      const isBackground = given.run_in_background === true;
      if (pattern !== undefined && !isBackground) throw new ToolFailure('wake_on needs run_in_background.');
      const shell = start(command, context, given.outside_sandbox ? { ...parts, sandbox: () => undefined } : parts);
      if (isBackground)
        return inBackground('Started', parts.shells.background(context.callId, command, shell, pattern));
      const { timeoutMs, maxTimeoutMs } = parts.limits();
      const limitMs = Math.min(timeout ?? timeoutMs, maxTimeoutMs);
      return waitFor(command, shell, limitMs, context, parts);
    },
  });
}

function start(command: string, { callId, cwd }: CallContext, parts: BashParts): RunningShell {
  const wrap = parts.sandbox?.();
  // Ids come from the provider, and another ouro may have a call of the same: the mark is ours alone.
  const marker = `${callId}-${randomUUID()}`;
  const shell = startShell({
    command,
    cwd,
    env: shellEnvironment(parts.variables(), parts.extraEnv?.(callId) ?? {}, marker),
    marker,
    ledger: parts.ledger,
    limits: {
      keepBytes: KEEP_BYTES,
      headBytes: 10_000,
      tailBytes: 16_000,
      fileBytes: FILE_BYTES,
      // Ids come from the provider: none of them chooses a place outside the folder.
      filePath: join(parts.outputFolder, `${callId.replaceAll(/[^\w-]/g, '_')}.txt`),
    },
    ...(wrap === undefined ? {} : { wrap }),
  });
  for (const end of wrap ? (['exited', 'over'] as const) : []) void shell[end].then(() => parts.leftSandbox?.(end));
  return shell;
}

type Ending =
  | { readonly kind: 'exit'; readonly exit: ShellExit }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'abort' }
  | { readonly kind: 'moved'; readonly id: string };

async function waitFor(
  command: string,
  shell: RunningShell,
  limitMs: number,
  context: CallContext,
  parts: BashParts,
): Promise<ToolOutcome> {
  const startedAt = parts.now();
  const { moved, done } = parts.shells.front(context.callId, command, shell);
  let reported = { totalBytes: 0, elapsedMs: 0 };
  const report = () => {
    const totalBytes = shell.output.totalBytes();
    const elapsedMs = parts.now() - startedAt;
    if (totalBytes === reported.totalBytes && elapsedMs - reported.elapsedMs < CLOCK_EVERY_MS) return;
    reported = { totalBytes, elapsedMs };
    context.report({
      kind: 'output',
      tail: shell.output.tail(TAIL_LINES),
      totalBytes,
      elapsedMs,
      timeoutMs: limitMs,
    });
  };
  const ticker = setInterval(report, PROGRESS_EVERY_MS);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort: () => void = () => undefined;
  let stopping: Promise<void> | undefined;
  const ending = await Promise.race([
    shell.exited.then((exit): Ending => ({ kind: 'exit', exit })),
    moved.then((id): Ending => ({ kind: 'moved', id })),
    new Promise<Ending>((resolve) => {
      timer = setTimeout(() => resolve({ kind: 'timeout' }), limitMs);
    }),
    new Promise<Ending>((resolve) => {
      onAbort = () => {
        // Now, not when this function has its turn again: the screen paints in between.
        stopping = shell.stop();
        resolve({ kind: 'abort' });
      };
      if (context.signal.aborted) onAbort();
      else context.signal.addEventListener('abort', onAbort, { once: true });
    }),
  ]);
  clearInterval(ticker);
  clearTimeout(timer);
  context.signal.removeEventListener('abort', onAbort);
  const elapsed = formatDuration(parts.now() - startedAt);
  switch (ending.kind) {
    case 'moved':
      return inBackground('Moved', ending.id);
    case 'abort':
      // The answer does not wait for the dying; whoever closes the session does.
      void stopping?.finally(done);
      return outcome(command, shell, null, `[stopped by the user after ${elapsed}]`, 'interrupted');
    case 'timeout':
      await shell.stop();
      done();
      return outcome(
        command,
        shell,
        null,
        `[stopped after ${elapsed}: the limit of ${formatDuration(limitMs)} is reached]`,
        'ended',
      );
    default:
      done();
      return finished(command, shell, ending.exit, context, parts);
  }
}

function inBackground(how: 'Started' | 'Moved', id: string): ToolOutcome {
  return {
    content: `${how === 'Started' ? 'Started in' : 'Moved to'} the background as ${id}. Read its output with BashOutput, end it with KillShell.`,
    display: { kind: 'text', text: `in the background as ${id}` },
  };
}

async function finished(
  command: string,
  shell: RunningShell,
  exit: ShellExit,
  context: CallContext,
  parts: BashParts,
): Promise<ToolOutcome> {
  const notes: string[] = [];
  if (exit.problem !== undefined) notes.push(`[could not start: ${exit.problem}]`);
  else if (exit.code !== 0) notes.push(`[ended ${endOf(exit)}]`);
  if (shell.leftSomething()) {
    const id = parts.shells.background(context.callId, command, shell);
    notes.push(`[something it started still runs; it is listed as ${id} and ends with the session]`);
  }
  notes.push(...(await follow(exit.problem === undefined ? exit.cwd : context.cwd, context.callId, parts)));
  return outcome(command, shell, exit.code, notes.join('\n'), 'ended');
}

/** The directory lasts while it is inside the workspace. */
async function follow(cwd: string | undefined, callId: string, parts: BashParts): Promise<readonly string[]> {
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

function outcome(
  command: string,
  shell: RunningShell,
  exitCode: number | null,
  note: string,
  how: 'ended' | 'interrupted',
): ToolOutcome {
  const output = shell.output.text();
  const path = shell.output.path();
  if (!shell.leftSomething()) shell.output.close();
  const text = [output.trimEnd(), note].filter((part) => part !== '').join('\n');
  const failed = exitCode !== 0;
  return {
    content: text === '' ? '(no output)' : text,
    ...(failed ? { isError: true } : {}),
    display: {
      kind: 'output',
      command,
      output: text,
      exitCode,
      hiddenLines: 0,
      ...(path === undefined ? {} : { fullPath: path }),
    },
    structured: { stdout: output, stderr: '', interrupted: how === 'interrupted' },
  };
}
