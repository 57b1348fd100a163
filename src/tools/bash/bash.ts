import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { type CallContext, ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { CALL_MARKER } from '../../lib/processes/process-tree.ts';
import { splitWords } from '../../lib/text/lines.ts';
import { analyzeShell } from '../../permissions/shell/analyze.ts';
import type { ReadOnlySandboxRun } from '../../sandbox/read-only/read-only-sandbox.ts';
import type { ReadOnlySandboxCommand } from '../../sandbox/read-only/read-only-sandbox-plan.ts';
import { buildTool } from '../definition/build-tool.ts';
import { type BuiltInToolTraits, defineToolTraits } from '../input/call-forms.ts';
import { getCommandToolFacts } from '../tool-facts.ts';
import { BASH_CALL_FORMS } from './bash-call-forms.ts';
import { findInteractiveProgram } from './interactive-programs.ts';
import { type ProcessLedger, type RunningShell, startShell } from './run-shell.ts';
import { compileLinePattern, truncateToFirstLine } from './shell-registry.ts';
import { listFilesShownByCommand } from './shown-files.ts';
import { buildBackgroundOutcome, type ForegroundCommandDeps, waitForForegroundCommand } from './wait-for-foreground.ts';

/** Dependencies of the Bash tool. */
export type BashDeps = ForegroundCommandDeps & {
  readonly variables: () => Readonly<Record<string, string>>;
  readonly ledger: ProcessLedger;
  /** Folder for outputs that are too large for the result. */
  readonly outputFolder: string;
  /** Removes the keys of this process from stored outputs. */
  readonly removeKeys?: (text: string) => string;
  /** Returns the current timeouts. */
  readonly limits: () => ShellLimits;
  /** Variables for one command, such as a hardened git configuration for commands that run without approval. */
  readonly extraEnv?: (callId: string) => Readonly<Record<string, string | undefined>>;
  /** Returns a sandbox wrapper, `undefined` without one; throws if a required sandbox is unavailable. */
  readonly sandbox?: (
    command: SandboxedCommand,
  ) => Promise<((argv: readonly string[]) => readonly string[]) | undefined>;
  /** Prepares the run of a command that may only read; throws a `ToolFailure` if it cannot be limited to that. */
  readonly prepareReadOnly?: (command: ReadOnlySandboxCommand) => ReadOnlySandboxRun;
  /** Returns a wrapper that enforces deny rules on paths for a command outside any other sandbox. */
  readonly enforceDenials?: (cwd: string) => ((argv: readonly string[]) => readonly string[]) | undefined;
  /** Called with the real paths of files whose lines were shown to the model. */
  readonly onShown?: (files: readonly string[], callId: string) => Promise<void>;
  /** Tells whether commands run in a sandbox now; without it, the arguments about one are described. */
  readonly isSandboxed?: () => boolean;
  /** Called when a sandboxed command has exited, and again when all its processes have. */
  readonly onSandboxExit?: (end: 'exited' | 'over', callId: string) => void;
};

/** A command to run in a sandbox. */
type SandboxedCommand = { readonly id: string; readonly command: string; readonly cwd: string };

const KEEP_BYTES = 30_000;
const MAX_FILE_BYTES = 100_000_000;

const input = z.strictObject({
  command: z.string().min(1),
  timeout: z.number().positive().optional(),
  description: z.string().optional().describe('What it is for, in five to ten words'),
  run_in_background: z.boolean().optional(),
  outside_sandbox: z
    .string()
    .optional()
    .describe('What it needs that the sandbox kept from it: asks to run it outside'),
  sandbox_write: z
    .array(z.string().min(1))
    .optional()
    .describe('Paths it has to write, where the sandbox kept it from that: asks for just these'),
  wake_on: z.string().optional().describe('In the background: report lines that match this expression'),
});

/** Arguments that only make sense with a sandbox. */
const SANDBOX_ARGUMENTS = ['outside_sandbox', 'sandbox_write'];

/** The traits of the Bash tool. */
export const bashTraits: BuiltInToolTraits = defineToolTraits({
  name: 'Bash',
  facts: getCommandToolFacts,
  mainInput: 'command',
  served: 'runs',
  forms: BASH_CALL_FORMS,
});

/** Creates the Bash tool. A call always returns, and a stopped command takes its child processes with it. */
export function createBashTool(deps: BashDeps) {
  return buildTool({
    ...bashTraits,
    prompt: () => renderBashPrompt(deps.limits()),
    input,
    maxResultChars: KEEP_BYTES * 2,
    listHiddenArguments: () => (deps.isSandboxed?.() === false ? SANDBOX_ARGUMENTS : []),
    analyzeShell: ({ command }) => analyzeShell(command),
    findRefusal: (_, shell) => shell && findInteractiveProgram(shell),
    isConcurrencySafe: ({ run_in_background: background }, shell) => background !== true && shell?.isReadOnly === true,
    title: ({ command }) => truncateToFirstLine(command),
    async call({ command, timeout, ...rest }, context) {
      if (command.includes('\0')) throw new ToolFailure('A command cannot hold a NUL byte. Write it as \\0 in printf.');
      const pattern = await compileLinePattern(rest.wake_on);
      const runsInBackground = rest.run_in_background === true;
      if (pattern !== undefined && !runsInBackground) throw new ToolFailure('wake_on needs run_in_background.');
      const readOnly = prepareReadOnlyRun(command, context, deps);
      const sandbox = rest.outside_sandbox ? undefined : deps.sandbox;
      const shell =
        readOnly === undefined
          ? await startCommand(command, context, sandbox, deps)
          : startReadOnlyCommand(command, context, readOnly, deps);
      if (runsInBackground) {
        const watch = pattern === undefined ? undefined : { pattern };
        return buildBackgroundOutcome('Started', deps.shells.addBackground(context.callId, command, shell, watch));
      }
      const { timeoutMs, maxTimeoutMs } = deps.limits();
      const limitMs = Math.min(timeout ?? timeoutMs, maxTimeoutMs);
      const outcome = await waitForForegroundCommand(command, shell, limitMs, context, {
        ...deps,
        ...(readOnly && {
          findBlocked: readOnly.findBlocked,
          listSandboxDenials: (_, printed) => readOnly.describeLimits(printed),
        }),
      });
      await recordShown(command, outcome, context, deps);
      return outcome;
    },
  });
}

/** Records the files that a command has printed as read, unless a part of its output is left out. */
async function recordShown(command: string, outcome: ToolOutcome, context: CallContext, deps: BashDeps): Promise<void> {
  const { content, isError, display } = outcome;
  const isCut = display?.kind !== 'output' || display.fullPath !== undefined;
  if (deps.onShown === undefined || isError === true || isCut || typeof content !== 'string') return;
  await deps.onShown(listFilesShownByCommand(analyzeShell(command), context.cwd, content), context.callId);
}

/** Prepares the run of a command that the gate allowed for only reading; `undefined` for any other command. */
function prepareReadOnlyRun(
  command: string,
  { cwd, enforce }: CallContext,
  { prepareReadOnly }: BashDeps,
): ReadOnlySandboxRun | undefined {
  if (enforce === undefined) return undefined;
  if (prepareReadOnly === undefined)
    throw new ToolFailure('Nothing was run: the command cannot be limited to reading.');
  return prepareReadOnly({ command, cwd, readable: enforce.readable, hidden: enforce.hidden });
}

/** Starts a command in the read-only sandbox. Its environment replaces the usual one. */
function startReadOnlyCommand(
  command: string,
  context: CallContext,
  { wrap, wrapperFile, variables }: ReadOnlySandboxRun,
  deps: BashDeps,
): RunningShell {
  // Functions that keep searches from secrets stay; a PATH or git variables of the usual environment do not.
  const extra = Object.entries(deps.extraEnv?.(context.callId) ?? {}).filter(([name]) => name.startsWith('BASH_FUNC_'));
  const marker = createMarker(context.callId);
  const env = { ...variables, ...Object.fromEntries(extra.filter(isSet)), [CALL_MARKER]: marker };
  return startShell({
    ...getShellOptions(command, context, deps),
    ...{ env, marker, wrap, ...(wrapperFile === undefined ? {} : { wrapperFile }) },
  });
}

function isSet(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined;
}

/** Starts a command in its process group, in a sandbox if there is one. */
export async function startCommand(
  command: string,
  context: Pick<CallContext, 'callId' | 'cwd'>,
  sandbox: BashDeps['sandbox'],
  deps: Pick<
    BashDeps,
    'ledger' | 'outputFolder' | 'removeKeys' | 'variables' | 'extraEnv' | 'onSandboxExit' | 'enforceDenials'
  >,
): Promise<RunningShell> {
  const { callId, cwd } = context;
  const wrap = await sandbox?.({ id: callId, command, cwd });
  const denials = wrap === undefined ? deps.enforceDenials?.(cwd) : undefined;
  const marker = createMarker(callId);
  const shell = startShell({
    ...getShellOptions(command, context, deps),
    ...(denials === undefined ? {} : { wrap: denials }),
    env: buildShellEnvironment(deps.variables(), deps.extraEnv?.(callId) ?? {}, marker),
    marker,
    ...(wrap === undefined ? {} : { wrap }),
  });
  if (wrap !== undefined) {
    void shell.exited.then(() => deps.onSandboxExit?.('exited', callId));
    void shell.allExited.then(() => deps.onSandboxExit?.('over', callId));
  }
  return shell;
}

/** Call ids come from the provider and may repeat in other processes; the marker must be unique. */
function createMarker(callId: string): string {
  return `${callId}-${randomUUID()}`;
}

function getShellOptions(
  command: string,
  { callId, cwd }: Pick<CallContext, 'callId' | 'cwd'>,
  { ledger, outputFolder, removeKeys }: Pick<BashDeps, 'ledger' | 'outputFolder' | 'removeKeys'>,
) {
  const limits = {
    keepBytes: KEEP_BYTES,
    headBytes: 10_000,
    tailBytes: 16_000,
    fileBytes: MAX_FILE_BYTES,
    // Call ids come from the provider and must not select a path outside the folder.
    filePath: join(outputFolder, `${callId.replaceAll(/[^\w-]/g, '_')}.txt`),
    removeKeys,
  };
  return { command, cwd, ledger, limits };
}

/** Default and maximum run time of a command. */
type ShellLimits = { readonly timeoutMs: number; readonly maxTimeoutMs: number };

/** Returns the description of the Bash tool with the current limits. */
function renderBashPrompt({ timeoutMs, maxTimeoutMs }: ShellLimits): string {
  return `Runs a command in bash and gives back output and exit code. Every call is a fresh shell; only the directory lasts, inside the workspace. stdin is closed: use flags that keep programs from asking (--yes, -m).
Prefer Read, Edit, Glob and Grep to cat, sed, find and grep. Join dependent steps with &&.
timeout is in milliseconds (default ${timeoutMs}, at most ${maxTimeoutMs}). Servers, watchers and long work: run_in_background, not &. You hear when it ends: do not poll.`;
}

/** Variables that change how bash parses a command or make a program read another file first. */
const UNSAFE_VARIABLES = splitWords(`
  BASH_ENV ENV CDPATH IFS PS4 PROMPT_COMMAND SHELLOPTS BASHOPTS GLOBIGNORE POSIXLY_CORRECT RIPGREP_CONFIG_PATH
  GREP_OPTIONS
`);

/** API keys of ouro; never passed to commands. */
const API_KEY_VARIABLES = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'OURO_API_KEY'];

/**
 * Builds the environment of a command: the user's, without unsafe variables and API keys, with the marker of its call.
 * @internal
 */
export function buildShellEnvironment(
  variables: Readonly<Record<string, string>>,
  /** Variables to add; `undefined` removes one. */
  extra: Readonly<Record<string, string | undefined>>,
  marker: string,
): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    const isExcluded =
      UNSAFE_VARIABLES.includes(name) || API_KEY_VARIABLES.includes(name) || name.startsWith('BASH_FUNC_');
    if (!isExcluded && !Object.hasOwn(extra, name)) result[name] = value;
  }
  for (const [name, value] of Object.entries(extra)) if (value !== undefined) result[name] = value;
  return {
    ...result,
    [CALL_MARKER]: marker,
    OURO: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
  };
}
