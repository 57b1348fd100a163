import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TaskPlace } from '../../contracts/fleet.ts';
import { lockedFile } from '../../lib/files/file-lock.ts';
import { type FleetGit, gitOutput } from './fleet-git.ts';

/** A repository as this machine keeps it, for as many working folders as are needed. */
export type Mirrors = {
  /** A folder with the commit in it; one that is there already stays as it is. */
  checkOut(place: TaskPlace, folder: string): Promise<'fresh' | 'found'>;
  /** Makes sure that the commit is in the mirror, and answers with where that is. */
  bring(place: TaskPlace): Promise<string>;
  /** Takes the folder away. */
  remove(place: Pick<TaskPlace, 'url'>, folder: string): Promise<void>;
  /** Takes the copy of a repository away that nobody needs any more; one that somebody works in stays. */
  forget(url: string): Promise<void>;
  folderOf(url: string): string;
};

/** Nothing in the configuration of a mirror is anybody's but ours: work that changed it changes nothing. */
const CONFIGURATION = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n';
/** One git at a time in each mirror: two that add a folder at once fail. */
const PATIENCE_MS = 900_000;

export function openMirrors(fleetFolder: string, git: FleetGit): Mirrors {
  const folderOf = (url: string) =>
    join(fleetFolder, 'mirrors', `${createHash('sha256').update(url).digest('hex').slice(0, 24)}.git`);

  const alone = <Answer>(mirror: string, work: () => Promise<Answer>): Promise<Answer> =>
    lockedFile(
      mirror,
      async () => {
        if (existsSync(mirror)) await writeFile(join(mirror, 'config'), CONFIGURATION);
        return work();
      },
      PATIENCE_MS,
    );

  return {
    folderOf,
    async checkOut(place, folder) {
      const mirror = folderOf(place.url);
      await mkdir(dirname(mirror), { recursive: true, mode: 0o700 });
      return alone(mirror, async () => {
        await fetchCommit(mirror, place, git);
        if (existsSync(join(folder, '.git'))) return 'found';
        await rm(folder, { recursive: true, force: true });
        await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
        const inMirror = { cwd: mirror, env: { GIT_DIR: mirror } };
        gitOutput(await git({ args: ['worktree', 'prune'], ...inMirror }), 'The mirror could not be tidied');
        const add = ['worktree', 'add', '--quiet', '--force', '--detach', folder, place.commit];
        gitOutput(await git({ args: add, ...inMirror }), 'No working folder could be made');
        return 'fresh';
      });
    },
    async bring(place) {
      const mirror = folderOf(place.url);
      await mkdir(dirname(mirror), { recursive: true, mode: 0o700 });
      await alone(mirror, () => fetchCommit(mirror, place, git));
      return mirror;
    },
    async remove({ url }, folder) {
      const mirror = folderOf(url);
      if (!existsSync(mirror)) return;
      await alone(mirror, async () => {
        await rm(folder, { recursive: true, force: true });
        await git({ args: ['worktree', 'prune'], cwd: mirror, env: { GIT_DIR: mirror } });
      });
    },
    async forget(url) {
      const mirror = folderOf(url);
      if (!existsSync(mirror)) return;
      await alone(mirror, async () => {
        await git({ args: ['worktree', 'prune'], cwd: mirror, env: { GIT_DIR: mirror } });
        if (!existsSync(join(mirror, 'worktrees'))) await rm(mirror, { recursive: true, force: true });
      });
    },
  };
}

async function fetchCommit(mirror: string, { url, commit }: TaskPlace, git: FleetGit): Promise<void> {
  const inMirror = { cwd: dirname(mirror), env: { GIT_DIR: mirror } };
  if (!existsSync(join(mirror, 'HEAD'))) {
    const init = await git({ args: ['init', '--quiet', '--bare', mirror], cwd: dirname(mirror) });
    gitOutput(init, 'No mirror could be made');
    await writeFile(join(mirror, 'config'), CONFIGURATION);
  }
  const isThere = async () => (await git({ args: ['cat-file', '-e', `${commit}^{commit}`], ...inMirror })).code === 0;
  if (await isThere()) return;
  const options = ['fetch', '--quiet', '--no-tags', '--force', '--no-recurse-submodules', '--no-write-fetch-head'];
  const all = await git({
    args: [...options, '--', url, '+refs/heads/*:refs/heads/*'],
    ...inMirror,
    configuration: 'own',
  });
  if (await isThere()) return;
  const one = await git({ args: [...options, '--', url, commit], ...inMirror, configuration: 'own' });
  if (await isThere()) return;
  gitOutput(all.code === 0 ? one : all, `The commit ${commit.slice(0, 12)} of ${url} cannot be had`);
  throw new Error(`The commit ${commit.slice(0, 12)} is not in ${url}.`);
}
