import { join } from 'node:path/posix';
import type { GitConfigEntry } from '../../../lib/text/git-config.ts';
import { splitWords } from '../../../lib/text/lines.ts';
import type { PermissionFs } from '../../permission-fs.ts';
import { isPathInside, type ResolvedPath, resolvePath } from '../../resolve-path.ts';
import {
  findRepositoryTop,
  parsePathLine,
  readGitConfig,
  readTextFile,
  resolveGitFolders,
  resolveGitPath,
} from './git-repository.ts';

/** A path outside of the git folders that git reads and may print, and where it is named. */
export type GitReference = {
  readonly from: string;
  /** A `gitdir` was searched for links, too; other folders were not. */
  readonly as: 'link' | 'gitdir' | 'alternate' | 'setting';
  readonly target: ResolvedPath;
};

/** The references of a repository, or the reason why they are unknown. */
export type GitReferences =
  | { readonly ok: true; readonly references: readonly GitReference[] }
  | { readonly ok: false; readonly problem: string };

/**
 * Lists the paths outside of its git folders that a repository makes git read: links in the git folder, `.git` files
 * and alternates that lead elsewhere, and files that its configuration names. Git prints lines of most of them. Where
 * things lead counts, not their names: a list of names would be incomplete with the next version of git.
 */
export function listGitReferences(fs: PermissionFs, cwd: string, home: string): GitReferences {
  const top = findRepositoryTop(fs, cwd);
  const folders = top === undefined ? undefined : resolveGitFolders(fs, top);
  if (top === undefined || folders === undefined) return { ok: true, references: [] };
  const isInGitFolder = (path: ResolvedPath) =>
    path.problem === undefined && folders.some((folder) => isPathInside(path.real, folder));
  const links = new Map(folders.map((folder) => [folder, findLinks(fs, folder)]));
  const unclear = [...links.values()].find((found) => typeof found === 'string');
  if (typeof unclear === 'string') return { ok: false, problem: unclear };
  const found = [...links].flatMap(([folder, paths]) =>
    typeof paths === 'string'
      ? []
      : paths.map(
          (path): GitReference => ({ from: path, as: 'link', target: resolvePath(fs, { cwd: folder, home }, path) }),
        ),
  );
  return {
    ok: true,
    references: [
      ...listForeignFolders(fs, top, folders),
      ...found.filter(({ target }) => !isInGitFolder(target)),
      ...folders.flatMap((folder) => listAlternates(fs, folder)).filter(({ target }) => !isInGitFolder(target)),
      ...folders
        .flatMap((folder) => ['config', 'config.worktree'].map((name) => join(folder, name)))
        .flatMap((file) => listConfiguredFiles(fs, { file, top, home }))
        .filter(({ target }) => !isInGitFolder(target)),
    ],
  };
}

/** Describes a reference for the question about it. */
export function describeGitReference({ from, as, target }: GitReference): string {
  const verb = as === 'setting' ? 'names' : 'leads to';
  return `${from} ${verb} ${target.real}, which git would read and could print.`;
}

/** Lists the git folders if the repository does not confirm that the `.git` file belongs to it. */
function listForeignFolders(fs: PermissionFs, top: string, folders: readonly string[]): readonly GitReference[] {
  const [gitDir = '', commonDir] = folders;
  const dotGit = join(top, '.git');
  if (gitDir === dotGit) return [];
  const backLink = parsePathLine(readTextFile(fs, join(gitDir, 'gitdir')), '');
  const isLinkedWorktree =
    commonDir !== undefined &&
    isPathInside(gitDir, join(commonDir, 'worktrees')) &&
    backLink !== undefined &&
    resolveGitPath(fs, gitDir, backLink).real === resolveGitPath(fs, top, '.git').real;
  if (isLinkedWorktree) return [];
  return folders.map((folder) => ({ from: dotGit, as: 'gitdir', target: resolveGitPath(fs, folder, '.') }));
}

/** Limit of entries of a git folder that are looked at. */
const MAX_ENTRIES = 200_000;

/**
 * Folders that git does not print from: hooks only run, the others belong to submodules and extensions, whose git
 * folders are checked when they are used.
 */
const UNREAD_FOLDERS = new Set(splitWords('hooks lfs annex modules'));

/** Returns the links in a git folder, or the reason why they are unknown. Reads only the names and kinds of entries. */
function findLinks(fs: PermissionFs, gitDir: string): readonly string[] | string {
  const links: string[] = [];
  const pending = [gitDir];
  let seen = 0;
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const { name, kind } of fs.listEntries(folder)) {
      seen += 1;
      const path = join(folder, name);
      if (folder === gitDir && UNREAD_FOLDERS.has(name)) continue;
      if (kind === 'directory') pending.push(path);
      else if (kind === 'link') links.push(path);
      else if (kind === 'other' && name !== 'fsmonitor--daemon.ipc') return `${path} is not a regular file.`;
    }
    if (seen > MAX_ENTRIES) return `${gitDir} has too many entries to check them for links.`;
  }
  return links;
}

/** Lists the folders of other repositories whose objects git uses as if they were its own. */
function listAlternates(fs: PermissionFs, gitDir: string): readonly GitReference[] {
  const file = join(gitDir, 'objects/info/alternates');
  if (fs.lstat(file)?.kind !== 'file') return [];
  return (readTextFile(fs, file) ?? '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replace(/^"(.*)"$/, '$1'))
    .map((line) => ({ from: file, as: 'alternate', target: resolveGitPath(fs, join(gitDir, 'objects'), line) }));
}

/** Sections whose values name remotes, identities and files that git neither reads nor prints while it shows something. */
const OTHER_SECTIONS = new Set(splitWords('remote url submodule user gpg http branch gui lfs commit init sendemail'));

/** Keys whose value is a file that git reads, wherever it is. */
const FILE_KEY = /^(?:blame\.ignorerevsfile|(?:.+\.)?fsck\.skiplist|mailmap\.file|core\.(?:excludes|attributes)file)$/;

/** A value that starts like a path to somewhere else, or leads there. Git accepts a mark before a path. */
const PATH_ELSEWHERE = /^(?::\(optional\))?(?:\/|~|\.\.(?:\/|$)|.*\/\.\.\/)/;

type ConfigFile = { readonly file: string; readonly top: string; readonly home: string };

function listConfiguredFiles(fs: PermissionFs, { file, top, home }: ConfigFile): readonly GitReference[] {
  const entries = readGitConfig(fs, file);
  return typeof entries === 'string'
    ? []
    : entries.filter(namesFile).map(({ value = '' }) => ({
        from: file,
        as: 'setting',
        target: resolvePath(fs, { cwd: top, home }, value.replace(/^:\(optional\)/, '')),
      }));
}

/** Tells whether an entry names a file. Of keys that are not known, a value that looks like a path to elsewhere does. */
function namesFile({ section, subsection, name, value }: GitConfigEntry): boolean {
  if (value === undefined || value === '') return false;
  const key = [section, ...(subsection === undefined ? [] : [subsection]), name].join('.').toLowerCase();
  // Hooks are disabled for commands that only read.
  const isOther = OTHER_SECTIONS.has(section) || key === 'core.hookspath';
  return FILE_KEY.test(key) || (!isOther && PATH_ELSEWHERE.test(value));
}
