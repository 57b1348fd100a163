import { execFile } from 'node:child_process';
import { hardenedGitEnvironment, hardenGit } from './harden-git.ts';

const TIMEOUT_MS = 2_000;
const MAX_BYTES = 4_000_000;

/**
 * A question of ours to git, in a trusted folder only. What the repository could have run for it is overridden. The
 * first is asked while ouro starts, so nothing is loaded for it (docs/decisions/0012).
 */
export function ownGit(
  args: readonly string[],
  cwd: string,
  variables: Readonly<Record<string, string>>,
  timeoutMs = TIMEOUT_MS,
): Promise<string> {
  const kept = Object.entries(variables).filter(([name]) => !name.startsWith('GIT_'));
  const env = { ...Object.fromEntries(kept), ...hardenedGitEnvironment(), LC_ALL: 'C' };
  const options = { cwd, env, timeout: timeoutMs, maxBuffer: MAX_BYTES, encoding: 'utf8' } as const;
  return new Promise((resolve, reject) => {
    execFile('git', hardenGit(args), options, (error, stdout) => (error === null ? resolve(stdout) : reject(error)));
  });
}
