import { access, constants } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { Hook } from '../contracts/hook.ts';
import { omitUndefined } from '../lib/json.ts';
import { fetch } from '../lib/network/fetch.ts';
import { runShellCommand } from '../lib/processes/find-shell.ts';
import type { ProgramCheck, ProgramSandboxRun } from '../lib/processes/program-check.ts';
import { quoteShellVariables } from '../lib/text/shell-quotes.ts';
import type { HookCommandResult, HookRunners } from './hook-actions.ts';

/** The folder, the variables and the default timeout of hook commands. */
type HookEnvironment = {
  readonly cwd: string;
  readonly getVariables: () => Readonly<Record<string, string>>;
  /** Default timeout; read at each hook. */
  readonly getTimeoutMs: () => number | undefined;
  readonly checkProgram: ProgramCheck;
};

type ProcessRunners = Omit<HookRunners, 'askModel' | 'askAgent' | 'callTool'>;

const DEFAULT_TIMEOUT_MS = 60_000;

/** Creates the runners that execute commands and send HTTP requests. */
export function createHookProcessRunners({
  cwd,
  getVariables,
  getTimeoutMs,
  checkProgram: check,
}: HookEnvironment): ProcessRunners {
  const variables = () => ({ ...getVariables(), CLAUDE_PROJECT_DIR: cwd, OURO_PROJECT_DIR: cwd });
  return {
    runCommand: (command, stdin, timeoutMs, signal, env, hook) =>
      runHookCommand(command, stdin, {
        ...{ cwd, env: { ...variables(), ...env }, timeoutMs, signal },
        check: hook === undefined ? check : createHookCheck(check, hook, env),
      }),
    findMissingScript: (command, env) => findMissingHookScript(command, cwd, { ...variables(), ...env }),
    getVariables: variables,
    post: async ({ url, body, headers }, timeoutMs, signal) => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const response = await fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
        redirect: 'error',
        signal: limit,
      });
      return { status: response.status, text: await readStart(response) };
    },
    getDefaultTimeoutMs: () => getTimeoutMs() ?? DEFAULT_TIMEOUT_MS,
    now: Date.now,
  };
}

const isOfProject = ({ source }: Pick<Hook, 'source'>) => source === 'project' || source === 'local';

/** Creates the check of a hook. It writes the file with the variables that it sets, too. */
function createHookCheck(
  check: ProgramCheck,
  hook: Pick<Hook, 'source' | 'sandbox'>,
  env: Hook['env'] = {},
): ProgramCheck {
  const { CLAUDE_ENV_FILE: envFile } = env;
  const writableFolder = envFile === undefined ? undefined : dirname(envFile);
  const origin = isOfProject(hook) ? 'project' : undefined;
  return (start, use) => check({ ...start, ...omitUndefined({ origin, sandbox: hook.sandbox, writableFolder }) }, use);
}

const MAX_RESPONSE_BYTES = 1_000_000;

/** Reads the start of a response, so that an endless one cannot fill the memory. */
async function readStart({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES).toString('utf8');
}

/** Variables with paths, which often have blanks, while hooks are written where they have none. */
const FOLDER_VARIABLES = ['CLAUDE_PROJECT_DIR', 'OURO_PROJECT_DIR', 'CLAUDE_PLUGIN_ROOT', 'CLAUDE_PLUGIN_DATA'];

/** Quotes references to folders in a command of a hook or of a monitor, if their paths need it. */
export function quoteFolderVariables(command: string, env: Readonly<Record<string, string>>): string {
  return quoteShellVariables(command, Object.fromEntries(FOLDER_VARIABLES.map((name) => [name, env[name]])));
}

/** Runs a hook's command with its input on stdin, within limits of time and output; ends all its processes. */
async function runHookCommand(
  command: string,
  stdin: string,
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    readonly check: ProgramCheck;
  },
): Promise<HookCommandResult> {
  const line = quoteFolderVariables(command, options.env);
  let sandbox: ProgramSandboxRun | undefined;
  const { code, stdout, stderr, timedOut, problem } = await runShellCommand('bash', line, {
    ...options,
    use: 'writes',
    input: stdin,
    async check(start, use) {
      const checked = await options.check(start, use);
      if (checked.ok) sandbox = checked.sandbox;
      return checked;
    },
  });
  if (problem !== undefined) throw new Error(problem);
  return {
    ...{ code, stdout: stdout.toString('utf8'), stderr: stderr.toString('utf8'), timedOut },
    ...(sandbox === undefined ? {} : { sandbox: sandbox.hasNetwork ? 'with network' : 'without network' }),
  };
}

/** Programs that run the script given as their first argument. */
const INTERPRETERS = /^(?:.*\/)?(?:sh|bash|zsh|dash|node|bun|deno|python3?|ruby|perl)$/;
/** Syntax only a shell can evaluate; such a command is not checked. */
const SHELL_SYNTAX = /[;&|<>`*?~]|\$\(|\n/;

/**
 * Returns the path of the script a hook's command names when it does not exist or is not executable; runs nothing.
 * @internal
 */
export async function findMissingHookScript(
  command: string,
  cwd: string,
  variables: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const [program = '', ...rest] = splitCommand(command, variables);
  if (INTERPRETERS.test(program)) {
    const [script] = rest;
    if (script === undefined || script.startsWith('-')) return undefined;
    return checkAccess(script, cwd, constants.R_OK);
  }
  // A name without a slash is left to the shell, which searches PATH.
  return program.includes('/') ? checkAccess(program, cwd, constants.X_OK) : undefined;
}

/** Returns the resolved path when it cannot be accessed. */
async function checkAccess(script: string, cwd: string, mode: number): Promise<string | undefined> {
  const path = isAbsolute(script) ? script : resolve(cwd, script);
  const isAccessible = await access(path, mode).then(
    () => true,
    () => false,
  );
  return isAccessible ? undefined : path;
}

/** Splits a simple command into arguments with variables expanded; empty when only a shell could. */
function splitCommand(command: string, variables: Readonly<Record<string, string>>): readonly string[] {
  if (SHELL_SYNTAX.test(command)) return [];
  let isKnown = true;
  const words = [...command.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|\$\{?(\w+)\}?|"/g, (_, single: string | undefined, name: string | undefined) => {
      if (single !== undefined) return single;
      if (name === undefined) return '';
      const value = variables[name];
      isKnown &&= value !== undefined;
      return value ?? '';
    }),
  );
  return isKnown ? words : [];
}
