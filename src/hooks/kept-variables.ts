import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HookEvent } from '../contracts/hook.ts';
import { readRegular } from '../lib/files/read-regular.ts';
import { runScript } from '../lib/processes/run-script.ts';

type Variables = Readonly<Record<string, string>>;

/** Variables that hooks leave for the commands behind them, in the file that `CLAUDE_ENV_FILE` names. */
export type KeptVariables = {
  /** What has been left until now, for commands. */
  now(): Variables;
  /** Runs a hook with a file of its own; what it wrote there takes the place of what it wrote the last time. */
  around<End>(key: string, run: (env: Variables) => Promise<End>): Promise<End>;
};

/** Events whose hooks may leave variables. */
export const KEEPS_VARIABLES: readonly HookEvent[] = ['Setup', 'SessionStart', 'CwdChanged', 'FileChanged'];

const MOST_BYTES = 1_000_000;
const LIMIT_MS = 30_000;
/** What each shell sets by itself. */
const OF_THE_SHELL = ['_', 'SHLVL', 'PWD', 'OLDPWD', 'BASHOPTS', 'SHELLOPTS', 'CLAUDE_ENV_FILE'];

export function createKeptVariables(
  { cwd, variables }: { readonly cwd: () => string; readonly variables: () => Variables },
  tell: (words: string) => void,
): KeptVariables {
  const scripts = new Map<string, string>();
  let known: Variables = {};
  /** One look after the other, so that the last sees all. */
  let looking: Promise<void> = Promise.resolve();

  async function look(): Promise<void> {
    const before = variables();
    const script = [...scripts.values()].join('\n');
    if (script.trim() === '') {
      known = {};
      return;
    }
    // A child prints what it was given, so that a script that sets an option or ends early leaves no words among it.
    const line = `exec 3>&1 >/dev/null\nset -a\n${script}\nset +a\nexec /usr/bin/env -0 >&3`;
    const signal = AbortSignal.timeout(LIMIT_MS);
    const end = await runScript('bash', line, { cwd: cwd(), env: before, timeoutMs: LIMIT_MS, signal });
    if (end.code !== 0) {
      const why = end.stderr.toString('utf8').trim() || `it ended with ${end.code ?? 'no code'}`;
      tell(`What hooks wrote to CLAUDE_ENV_FILE could not be read, so commands go on with what they had: ${why}`);
      return;
    }
    known = differing(end.stdout.toString('utf8'), before);
  }

  return {
    now: () => known,
    async around(key, run) {
      const folder = await mkdtemp(join(tmpdir(), 'ouro-hook-'));
      const file = join(folder, 'variables.sh');
      try {
        await writeFile(file, '', { mode: 0o600 });
        const end = await run({ CLAUDE_ENV_FILE: file });
        const text = (await readRegular(file, MOST_BYTES).catch(() => undefined)) ?? '';
        if (text !== (scripts.get(key) ?? '')) {
          scripts.set(key, text);
          looking = looking.then(look);
        }
        await looking;
        return end;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

function differing(printed: string, before: Variables): Variables {
  const pairs = printed.split('\0').flatMap((line) => {
    const at = line.indexOf('=');
    const name = line.slice(0, at);
    const value = line.slice(at + 1);
    const isNew = at > 0 && before[name] !== value && !OF_THE_SHELL.includes(name) && !name.startsWith('OURO_');
    return isNew ? [[name, value] as const] : [];
  });
  return Object.fromEntries(pairs);
}
