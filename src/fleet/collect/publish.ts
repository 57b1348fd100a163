import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../lib/processes/run-program.ts';
import { type FleetGit, gitOutput } from '../git/fleet-git.ts';

/** Pushes one branch, which the other side must not have yet or have as it is here. */
export async function pushBranch(git: FleetGit, gitFolder: string, url: string, branch: string): Promise<void> {
  const ref = `refs/heads/${branch}`;
  const push = ['push', '--quiet', '--no-verify', '--', url, `${ref}:${ref}`];
  const call = { cwd: gitFolder, env: { GIT_DIR: gitFolder }, configuration: 'own' } as const;
  gitOutput(await git({ args: push, ...call }), `${branch} could not be pushed to ${url}`);
}

export type PullRequest = {
  readonly url: string;
  readonly branch: string;
  readonly title: string;
  readonly body: string;
};

const GH_MS = 60_000;

/** Opens a pull request through `gh`, which knows the keys; answers with its address. One that is open already is fine. */
export async function openPullRequest(
  { url, branch, title, body }: PullRequest,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ouro-pr-'));
  try {
    const file = join(folder, 'body.md');
    await writeFile(file, body, { mode: 0o600 });
    const args = ['pr', 'create', '--repo', url, '--head', branch, '--title', title, '--body-file', file];
    const end = await runProgram('gh', args, { cwd: folder, env, timeoutMs: GH_MS });
    const said = end.stderr.toString('utf8').trim();
    if (end.code === 0) return end.stdout.toString('utf8').trim();
    const open = /https:\/\/\S+\/pull\/\d+/.exec(said)?.[0];
    if (/already exists/i.test(said) && open !== undefined) return open;
    throw new Error(
      end.problem === undefined
        ? `gh said: ${said.split('\n')[0]}`
        : 'gh is not there. Install the GitHub command line and log in: gh auth login',
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
