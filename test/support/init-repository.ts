import { lstat, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

type Git = (...args: readonly string[]) => Promise<unknown>;

/** What is below a folder, parents first: files with their content, links with their target, folders without either. */
type Tree = readonly { readonly path: string; readonly mode: number; readonly content: Buffer | undefined }[];

/** The repositories that were made before, by the files in their commit. */
const repositories = new Map<string, Promise<Tree>>();

/**
 * Makes a repository of a folder, with one commit of everything there is. A repository of files that were committed
 * before is a copy: three processes of git cost more than most tests.
 */
export async function initRepository(git: Git, folder: string): Promise<void> {
  const files = await readTree(folder);
  const key = JSON.stringify(files.map((file) => ({ ...file, content: file.content?.toString('latin1') })));
  const made = repositories.get(key);
  if (made === undefined) {
    repositories.set(key, createRepository(git, folder));
    await repositories.get(key);
    return;
  }
  await mkdir(join(folder, '.git'));
  for (const { path, mode, content } of await made) {
    if (content === undefined) await mkdir(join(folder, '.git', path), { recursive: true });
    else await writeFile(join(folder, '.git', path), content, { mode });
  }
  // The index names the files by their inodes.
  await git('-C', folder, 'update-index', '-q', '--refresh');
}

async function createRepository(git: Git, folder: string): Promise<Tree> {
  await git('-C', folder, 'init', '-q');
  await git('-C', folder, 'add', '-A');
  await git('-C', folder, 'commit', '-q', '--allow-empty', '-m', 'Start');
  return readTree(join(folder, '.git'));
}

async function readTree(folder: string): Promise<Tree> {
  const paths = (await readdir(folder, { recursive: true })).sort();
  return Promise.all(
    paths.map(async (path) => {
      const whole = join(folder, path);
      const entry = await lstat(whole);
      const content = entry.isSymbolicLink()
        ? Buffer.from(await readlink(whole))
        : entry.isFile()
          ? await readFile(whole)
          : undefined;
      return { path, mode: entry.mode, content };
    }),
  );
}
