import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createGitEnv, execGit } from './run-git.ts';

const FETCH_TIMEOUT_MS = 300_000;

/**
 * Fetches one commit of a repository into a folder, replacing the folder, and returns the commit id. Nothing of the
 * repository runs: no hooks, submodules or templates, only plain protocols, and never a password prompt.
 */
export async function fetchRepository(
  { address, ref = 'HEAD' }: { readonly address: string; readonly ref?: string | undefined },
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  if (address.startsWith('-') || ref.startsWith('-'))
    throw new Error(`${address} ${ref} is not the address of a repository.`);
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  const checkout = await mkdtemp(join(dirname(folder), '.fetch-'));
  const env = createGitEnv(variables, {
    GIT_ALLOW_PROTOCOL: 'https:ssh:file',
    GIT_ASKPASS: 'true',
    GIT_LFS_SKIP_SMUDGE: '1',
  });
  const git = (...args: readonly string[]) => execGit(args, checkout, env, FETCH_TIMEOUT_MS);
  try {
    await git('init', '--quiet', '--template=');
    await git('fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--', address, ref);
    const commit = (await git('rev-parse', 'FETCH_HEAD')).trim();
    await git('checkout', '--quiet', '--detach', commit);
    await rm(folder, { recursive: true, force: true });
    await rename(checkout, folder);
    return commit;
  } catch (thrown) {
    await rm(checkout, { recursive: true, force: true });
    const detail =
      thrown instanceof Error ? thrown.message.split('\n').slice(1).join(' ').trim() || thrown.message : String(thrown);
    throw new Error(`${address} could not be fetched: ${detail}`, { cause: thrown });
  }
}
