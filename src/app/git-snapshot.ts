import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { GitSnapshot } from '../prompt/environment.ts';

/** No helper of the repository runs: no fsmonitor, no hooks, no pager, no filters asked for. */
const QUIET = [
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.pager=cat',
  '-c',
  'safe.bareRepository=explicit',
];
const TIMEOUT_MS = 2_000;

/** A look at the repository for the prompt and the status line. `undefined` outside of one, or when git is no help. */
export async function gitSnapshot(
  cwd: string,
  variables: Readonly<Record<string, string>>,
): Promise<GitSnapshot | undefined> {
  const kept = Object.entries(variables).filter(([name]) => !name.startsWith('GIT_'));
  const env = { ...Object.fromEntries(kept), GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
  const git = async (...args: readonly string[]) => {
    const { stdout } = await promisify(execFile)('git', [...QUIET, ...args], {
      cwd,
      env,
      timeout: TIMEOUT_MS,
      maxBuffer: 4_000_000,
    });
    return stdout;
  };
  try {
    const [status, log] = await Promise.all([
      git('status', '--short', '--branch', '--no-renames', '--ignore-submodules=all'),
      git('log', '-5', '--format=%h %s').catch(() => ''),
    ]);
    const [head = '', ...changes] = status.trimEnd().split('\n');
    return { branch: branchOf(head), changes, commits: log.split('\n').filter((line) => line !== '') };
  } catch {
    return undefined;
  }
}

/** `## main...origin/main [ahead 1]`, `## No commits yet on main`, `## HEAD (no branch)`. */
function branchOf(head: string): string | undefined {
  const name = /^## (?:No commits yet on )?(\S+?)(?:\.\.\.\S+)?(?: |$)/.exec(head)?.[1];
  return name === 'HEAD' ? undefined : name;
}
