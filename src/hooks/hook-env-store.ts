import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hook, HookEvent } from '../contracts/hook.ts';
import { readRegularFile } from '../lib/files/read-regular-file.ts';
import { omitUndefined } from '../lib/json.ts';
import { runShellCommand } from '../lib/processes/find-shell.ts';
import type { ProgramCheck } from '../lib/processes/program-check.ts';
import { canProjectSet } from '../settings/restrict-project-layer.ts';

type Variables = Readonly<Record<string, string>>;

/** The hook that writes an env file: its key, and who configured it with which sandbox. */
type EnvFileHook = Pick<Hook, 'source' | 'sandbox'> & { readonly key: string };

/** The lines that a hook wrote to its env file. A limited hook is one of the project, or ran in the sandbox. */
type EnvScript = Pick<Hook, 'sandbox'> & { readonly text: string; readonly isLimited: boolean };

/** Variables that hooks set for later commands by writing to the file in `CLAUDE_ENV_FILE`. */
export type HookEnvStore = {
  /** Returns the variables set so far. */
  getAll(): Variables;
  /** Runs a hook with an empty env file; its content replaces what the same hook wrote before. */
  runWithEnvFile<End extends { readonly sandbox?: unknown }>(
    hook: EnvFileHook,
    run: (env: Variables) => Promise<End>,
  ): Promise<End>;
};

type HookEnvDeps = {
  readonly cwd: () => string;
  readonly variables: () => Variables;
  readonly checkProgram: ProgramCheck;
  /** Returns the names that the user lets projects set. */
  readonly getProjectVariables: () => readonly string[];
};

/** Events whose hooks may set variables. */
export const HOOK_ENV_FILE_EVENTS: readonly HookEvent[] = ['Setup', 'SessionStart', 'CwdChanged', 'FileChanged'];

const MAX_BYTES = 1_000_000;
const TIMEOUT_MS = 30_000;
/** Variables every shell sets itself. */
const SHELL_VARIABLES = ['_', 'SHLVL', 'PWD', 'OLDPWD', 'BASHOPTS', 'SHELLOPTS', 'CLAUDE_ENV_FILE'];

/** Creates the variables of hooks; `warn` reports env files that cannot be evaluated, and names that do not count. */
export function createHookEnvStore(
  { cwd, variables, checkProgram, getProjectVariables }: HookEnvDeps,
  warn: (message: string) => void,
): HookEnvStore {
  const scripts = new Map<string, EnvScript>();
  let current: Variables = {};
  /** Evaluations run one after the other, so the last one includes every script. */
  let evaluation: Promise<void> = Promise.resolve();

  async function evaluate(): Promise<void> {
    let set: Variables = {};
    for (const script of scripts.values()) set = { ...set, ...(await evaluateScript(script, set)) };
    current = set;
  }

  async function evaluateScript({ text, sandbox, isLimited }: EnvScript, set: Variables) {
    if (text.trim() === '') return {};
    // `env` runs through exec with its own descriptor, so output or options of the script cannot mix with the lists.
    const command = `exec 3>&1 >/dev/null\n/usr/bin/env -0 >&3\nprintf '\\0' >&3\nset -a\n${text}\nset +a\nexec /usr/bin/env -0 >&3`;
    const result = await runShellCommand('bash', command, {
      cwd: cwd(),
      env: { ...variables(), ...set },
      timeoutMs: TIMEOUT_MS,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      // Lines that a hook writes in the sandbox run in the sandbox, too.
      check: isLimited
        ? (start, use) => checkProgram({ ...start, origin: 'project', ...omitUndefined({ sandbox }) }, use)
        : checkProgram,
      use: 'writes',
    });
    if (result.code !== 0) {
      const reason = result.problem ?? (result.stderr.toString('utf8').trim() || `exit code ${result.code ?? 'none'}`);
      warn(`The variables that a hook wrote to CLAUDE_ENV_FILE could not be read; commands do not get them: ${reason}`);
      return {};
    }
    const changed = selectChanged(result.stdout.toString('utf8'));
    return isLimited ? selectAllowed(changed) : changed;
  }

  /** Leaves out what only the user may let a project set, as in the `env` of its settings. */
  function selectAllowed(changed: Variables): Variables {
    const userVariables = getProjectVariables();
    const isAllowed = (name: string) => canProjectSet(name, userVariables);
    const ignored = Object.keys(changed).filter((name) => !isAllowed(name));
    if (ignored.length > 0) {
      warn(
        `Hooks of the project and in the sandbox may not set ${ignored.join(', ')} for commands. To let them, add the names to "projectVariables" in your own settings, or "sandbox": "off" to the hook.`,
      );
    }
    return Object.fromEntries(Object.entries(changed).filter(([name]) => isAllowed(name)));
  }

  return {
    getAll: () => current,
    async runWithEnvFile(hook, run) {
      const folder = await mkdtemp(join(tmpdir(), 'ouro-hook-'));
      const file = join(folder, 'variables.sh');
      try {
        await writeFile(file, '', { mode: 0o600 });
        const result = await run({ CLAUDE_ENV_FILE: file });
        const text = (await readRegularFile(file, MAX_BYTES).catch(() => undefined)) ?? '';
        if (text !== (scripts.get(hook.key)?.text ?? '')) {
          const isOfProject = hook.source === 'project' || hook.source === 'local';
          const isLimited = result.sandbox !== undefined || (isOfProject && hook.sandbox !== 'off');
          scripts.set(hook.key, { text, isLimited, ...omitUndefined({ sandbox: hook.sandbox }) });
          evaluation = evaluation.then(evaluate);
        }
        await evaluation;
        return result;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Parses two outputs of `env -0` with an empty entry between, and keeps the variables that the second one changes. */
function selectChanged(output: string): Variables {
  const entries = output.split('\0');
  const middle = entries.indexOf('');
  const before = new Set(entries.slice(0, middle));
  const pairs = entries.slice(middle + 1).flatMap((entry) => {
    const separator = entry.indexOf('=');
    const name = entry.slice(0, separator);
    const isNew = separator > 0 && !before.has(entry) && !SHELL_VARIABLES.includes(name) && !name.startsWith('OURO_');
    return isNew ? [[name, entry.slice(separator + 1)] as const] : [];
  });
  return Object.fromEntries(pairs);
}
