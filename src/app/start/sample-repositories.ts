import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hardenedGitEnvironment, hardenGit } from '../../git/harden-git.ts';
import { outputOf } from '../../lib/processes/run-program.ts';
import { writeSampleProject } from '../../model/demo/sample-project.ts';

const GIT_MS = 30_000;
const AUTHOR = ['-c', 'user.name=ouro', '-c', 'user.email=ouro@localhost', '-c', 'commit.gpgsign=false'];

/** Makes sample repositories whose tests fail until one line is corrected, each with one commit. */
export async function makeSampleRepositories(
  folder: string,
  names: readonly string[],
  { home, variables }: { readonly home: string; readonly variables: Readonly<Record<string, string>> },
): Promise<void> {
  const env = { PATH: variables.PATH ?? '/usr/bin:/bin', HOME: home, ...hardenedGitEnvironment() };
  for (const name of names) {
    const cwd = join(folder, name);
    await mkdir(cwd, { recursive: true });
    await writeSampleProject(cwd);
    const git = (...args: readonly string[]) =>
      outputOf('git', [...AUTHOR, ...hardenGit(args)], { cwd, env, timeoutMs: GIT_MS });
    await git('init', '--quiet', '--initial-branch=main');
    await git('add', '--all');
    await git('commit', '--quiet', '--message=A shop whose discounts are wrong');
  }
}
