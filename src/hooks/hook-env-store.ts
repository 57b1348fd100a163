import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HookEvent } from '../contracts/hook.ts';
import { readRegularFile } from '../lib/files/read-regular-file.ts';
import { runShellCommand } from '../lib/processes/find-shell.ts';
import { startUnchecked } from '../lib/processes/program-check.ts';

type Variables = Readonly<Record<string, string>>;

/** Variables that hooks set for later commands by writing to the file in `CLAUDE_ENV_FILE`. */
export type HookEnvStore = {
  /** Returns the variables set so far. */
  getAll(): Variables;
  /** Runs a hook with an empty env file; its content replaces what the same hook wrote before. */
  runWithEnvFile<End>(key: string, run: (env: Variables) => Promise<End>): Promise<End>;
};

/** Events whose hooks may set variables. */
export const HOOK_ENV_FILE_EVENTS: readonly HookEvent[] = ['Setup', 'SessionStart', 'CwdChanged', 'FileChanged'];

const MAX_BYTES = 1_000_000;
const TIMEOUT_MS = 30_000;
/** Variables every shell sets itself. */
const SHELL_VARIABLES = ['_', 'SHLVL', 'PWD', 'OLDPWD', 'BASHOPTS', 'SHELLOPTS', 'CLAUDE_ENV_FILE'];

/** Creates the variables of hooks; `warn` reports env files that cannot be evaluated. */
export function createHookEnvStore(
  { cwd, variables }: { readonly cwd: () => string; readonly variables: () => Variables },
  warn: (message: string) => void,
): HookEnvStore {
  const scripts = new Map<string, string>();
  let current: Variables = {};
  /** Evaluations run one after the other, so the last one includes every script. */
  let evaluation: Promise<void> = Promise.resolve();

  async function evaluate(): Promise<void> {
    const base = variables();
    const script = [...scripts.values()].join('\n');
    if (script.trim() === '') {
      current = {};
      return;
    }
    // `env` runs through exec with its own descriptor, so output or options of the scripts cannot mix with the list.
    const command = `exec 3>&1 >/dev/null\nset -a\n${script}\nset +a\nexec /usr/bin/env -0 >&3`;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const result = await runShellCommand('bash', command, {
      cwd: cwd(),
      env: base,
      timeoutMs: TIMEOUT_MS,
      signal,
      // An approved hook wrote the script.
      check: startUnchecked,
      use: 'reads',
    });
    if (result.code !== 0) {
      const reason = result.stderr.toString('utf8').trim() || `exit code ${result.code ?? 'none'}`;
      warn(
        `The variables hooks wrote to CLAUDE_ENV_FILE could not be read; commands keep the previous ones: ${reason}`,
      );
      return;
    }
    current = selectChanged(result.stdout.toString('utf8'), base);
  }

  return {
    getAll: () => current,
    async runWithEnvFile(key, run) {
      const folder = await mkdtemp(join(tmpdir(), 'ouro-hook-'));
      const file = join(folder, 'variables.sh');
      try {
        await writeFile(file, '', { mode: 0o600 });
        const result = await run({ CLAUDE_ENV_FILE: file });
        const text = (await readRegularFile(file, MAX_BYTES).catch(() => undefined)) ?? '';
        if (text !== (scripts.get(key) ?? '')) {
          scripts.set(key, text);
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

/** Parses the output of `env -0` and keeps the variables that differ from the base. */
function selectChanged(output: string, base: Variables): Variables {
  const pairs = output.split('\0').flatMap((line) => {
    const separator = line.indexOf('=');
    const name = line.slice(0, separator);
    const value = line.slice(separator + 1);
    const isNew = separator > 0 && base[name] !== value && !SHELL_VARIABLES.includes(name) && !name.startsWith('OURO_');
    return isNew ? [[name, value] as const] : [];
  });
  return Object.fromEntries(pairs);
}
