import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createHardenedGitEnv, hardenGitArgs } from '../../../git/run-git.ts';
import { runForOutput } from '../../../lib/processes/run-program.ts';
import { writeSampleProject } from './sample-project.ts';

const GIT_TIMEOUT_MS = 30_000;
const AUTHOR_OPTIONS = ['-c', 'user.name=ouro', '-c', 'user.email=ouro@localhost', '-c', 'commit.gpgsign=false'];

/** Creates sample repositories with one commit each, whose tests fail until one line is fixed. */
export async function createSampleRepositories(
  folder: string,
  names: readonly string[],
  { home, variables }: { readonly home: string; readonly variables: Readonly<Record<string, string>> },
): Promise<void> {
  const env = { PATH: variables.PATH ?? '/usr/bin:/bin', HOME: home, ...createHardenedGitEnv() };
  for (const name of names) {
    const cwd = join(folder, name);
    await mkdir(cwd, { recursive: true });
    await writeSampleProject(cwd);
    const git = (...args: readonly string[]) =>
      runForOutput('git', [...AUTHOR_OPTIONS, ...hardenGitArgs(args)], { cwd, env, timeoutMs: GIT_TIMEOUT_MS });
    await git('init', '--quiet', '--initial-branch=main');
    await git('add', '--all');
    await git('commit', '--quiet', '--message=A shop whose discounts are wrong');
  }
}
