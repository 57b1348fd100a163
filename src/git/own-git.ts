import { runFile } from '../lib/processes/run-file.ts';
import { hardenedGitEnvironment, hardenGit } from './harden-git.ts';

const TIMEOUT_MS = 2_000;
const MAX_BYTES = 4_000_000;

/** A question of ours to git, in a trusted folder only. What the repository could have run for it is overridden. */
export async function ownGit(
  args: readonly string[],
  cwd: string,
  variables: Readonly<Record<string, string>>,
  timeoutMs = TIMEOUT_MS,
): Promise<string> {
  const kept = Object.entries(variables).filter(([name]) => !name.startsWith('GIT_'));
  return runFile('git', hardenGit(args), {
    cwd,
    env: { ...Object.fromEntries(kept), ...hardenedGitEnvironment(), LC_ALL: 'C' },
    timeout: timeoutMs,
    maxBuffer: MAX_BYTES,
  });
}
