import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createGitEnv, execGit } from '../../../git/run-git.ts';
import { writeSampleProject } from './sample-project.ts';

const GIT_TIMEOUT_MS = 30_000;
const AUTHOR = {
  GIT_AUTHOR_NAME: 'ouro',
  GIT_AUTHOR_EMAIL: 'ouro@localhost',
  GIT_COMMITTER_NAME: 'ouro',
  GIT_COMMITTER_EMAIL: 'ouro@localhost',
};

/** Creates sample repositories with one commit each, whose tests fail until one line is fixed. */
export async function createSampleRepositories(
  folder: string,
  names: readonly string[],
  { home, variables }: { readonly home: string; readonly variables: Readonly<Record<string, string>> },
): Promise<void> {
  const env = createGitEnv({ PATH: variables.PATH ?? '/usr/bin:/bin', HOME: home }, AUTHOR);
  for (const name of names) {
    const cwd = join(folder, name);
    await mkdir(cwd, { recursive: true });
    await writeSampleProject(cwd);
    const git = (...args: readonly string[]) => execGit(args, cwd, env, GIT_TIMEOUT_MS);
    await git('init', '--quiet', '--initial-branch=main');
    await git('add', '--all');
    await git('commit', '--quiet', '--no-gpg-sign', '--message=A shop whose discounts are wrong');
  }
}
