import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** The branch a repository is on, read from its own file: git is not asked, so nobody waits and nothing runs. */
export async function headBranch(root: string): Promise<string | undefined> {
  try {
    const head = await readFile(join(await gitFolder(root), 'HEAD'), 'utf8');
    return /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1];
  } catch {
    return undefined;
  }
}

/** In a worktree `.git` is a file that names the folder. */
async function gitFolder(root: string): Promise<string> {
  const path = join(root, '.git');
  if ((await stat(path)).isDirectory()) return path;
  const named = /^gitdir: (.+)$/m.exec(await readFile(path, 'utf8'))?.[1] ?? '';
  return resolve(root, named);
}
