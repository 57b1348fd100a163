import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hardenedGitEnvironment, hardenGit } from './harden-git.ts';

const FETCH_MS = 300_000;
const MAX_BYTES = 1_000_000;

/**
 * Brings one commit of a repository into a folder of ours, in the place of what was there, and answers with its id. Nothing
 * of the repository runs: no hooks, no submodules, no templates, no protocol but the plain ones; nobody is asked for a
 * password.
 */
export async function fetchRepository(
  { address, ref = 'HEAD' }: { readonly address: string; readonly ref?: string | undefined },
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  if (address.startsWith('-') || ref.startsWith('-'))
    throw new Error(`${address} ${ref} is no address of a repository.`);
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  const fresh = await mkdtemp(join(dirname(folder), '.fetch-'));
  const git = (...args: readonly string[]) => run(args, fresh, variables);
  try {
    await git('init', '--quiet', '--template=');
    await git('fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--', address, ref);
    const commit = (await git('rev-parse', 'FETCH_HEAD')).trim();
    await git('checkout', '--quiet', '--detach', commit);
    await rm(folder, { recursive: true, force: true });
    await rename(fresh, folder);
    return commit;
  } catch (thrown) {
    await rm(fresh, { recursive: true, force: true });
    const words =
      thrown instanceof Error ? thrown.message.split('\n').slice(1).join(' ').trim() || thrown.message : String(thrown);
    throw new Error(`${address} could not be fetched: ${words}`, { cause: thrown });
  }
}

function run(args: readonly string[], cwd: string, given: Readonly<Record<string, string>>): Promise<string> {
  const kept = Object.entries(given).filter(([name]) => !name.startsWith('GIT_'));
  const env = {
    ...Object.fromEntries(kept),
    ...hardenedGitEnvironment(),
    GIT_ALLOW_PROTOCOL: 'https:ssh:file',
    GIT_ASKPASS: 'true',
    GIT_LFS_SKIP_SMUDGE: '1',
    LC_ALL: 'C',
  };
  const options = { cwd, env, timeout: FETCH_MS, maxBuffer: MAX_BYTES, encoding: 'utf8' } as const;
  return new Promise((resolve, reject) => {
    execFile('git', hardenGit(args), options, (error, stdout) => (error === null ? resolve(stdout) : reject(error)));
  });
}
