import { execFile } from 'node:child_process';
import { hardenedGitEnvironment, hardenGit } from './harden-git.ts';

const TIMEOUT_MS = 2_000;
const MAX_BYTES = 4_000_000;

export type OwnGit = {
  readonly variables: Readonly<Record<string, string>>;
  /** Does the repository name nothing that a look at files would run? Without an answer such a look is refused. */
  readonly mayLook?: (cwd: string) => boolean;
  readonly timeoutMs?: number;
};

/** What compares and writes no file; all else runs filters, and no override removes a filter. */
const LOOKS_AT_NO_FILE = new Set(['ls-files', 'log', 'rev-parse', 'rev-list', 'branch']);

/**
 * A question of ours to git, in a trusted folder only. What the repository could have run for it is overridden. The
 * first is asked while ouro starts, so nothing is loaded for it (docs/decisions/0012).
 */
export async function ownGit(args: readonly string[], cwd: string, own: OwnGit): Promise<string> {
  const [name = ''] = args;
  if (!LOOKS_AT_NO_FILE.has(name) && own.mayLook?.(cwd) !== true)
    throw new Error(
      `the git configuration in ${cwd} names a filter or another program that git ${name} would run, or cannot be read for certain. Use git yourself here.`,
    );
  const kept = Object.entries(own.variables).filter(([variable]) => !variable.startsWith('GIT_'));
  // A partial clone fetches what it lacks, through programs of its own naming. Only what was asked for may wait for that.
  const reach = name === 'worktree' ? {} : { GIT_ALLOW_PROTOCOL: 'none' };
  const env = { ...Object.fromEntries(kept), ...hardenedGitEnvironment(), ...reach, LC_ALL: 'C' };
  const options = { cwd, env, timeout: own.timeoutMs ?? TIMEOUT_MS, maxBuffer: MAX_BYTES, encoding: 'utf8' } as const;
  return new Promise((resolve, reject) => {
    execFile('git', hardenGit(args), options, (error, stdout) => (error === null ? resolve(stdout) : reject(error)));
  });
}
