import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { CallContext } from '../../contracts/tool.ts';
import { CALL_MARKER } from '../../lib/processes/process-tree.ts';
import { splitWords } from '../../lib/text/lines.ts';
import type { ReadOnlySandboxRun } from '../../sandbox/read-only/read-only-sandbox.ts';
import type { BashDeps } from './bash-deps.ts';
import { type RunningShell, startShell } from './run-shell.ts';

/** How much of an output is kept in memory. */
export const KEEP_BYTES = 30_000;
const MAX_FILE_BYTES = 100_000_000;

/** Starts a command in the read-only sandbox. Its environment replaces the usual one. */
export function startReadOnlyCommand(
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
