import { dirname, isAbsolute, join } from 'node:path';
import { type GitConfigEntry, readGitConfig } from '../../../lib/text/git-config.ts';
import type { PermissionFs } from '../../paths/fs.ts';
import { resolvePath } from '../../paths/paths.ts';
import { readGitIndex } from './git-index.ts';
import { programKey } from './git-keys.ts';

export type GitPreflight = { readonly ok: true } | { readonly ok: false; readonly why: string };

type KeyOf = (entry: GitConfigEntry) => string | undefined;

/** Reads the repository's own configuration by hand: git itself would already run what it names. */
export function gitPreflight(fs: PermissionFs, cwd: string, root: string, keyOf: KeyOf = programKey): GitPreflight {
  const here = findRepository(fs, cwd);
  const expected = findRepository(fs, root);
  if (here === 'bare' || expected === 'bare') return refused('A folder on the way looks like a bare repository.');
  if (here === undefined) return { ok: true };
  if (here !== expected) return refused(`${here} is another repository than the one of the workspace.`);
  const problem = repositoryProblem(fs, here, keyOf) ?? modulesProblem(fs, here) ?? outerProblem(fs, here, keyOf);
  return problem === undefined ? { ok: true } : refused(problem);
}

function refused(why: string): GitPreflight {
  return { ok: false, why };
}

/** Why git could run a program of the repository whose top this is. */
function repositoryProblem(fs: PermissionFs, top: string, keyOf: KeyOf): string | undefined {
  const folders = gitFolders(fs, top);
  if (folders === undefined) return `${top}/.git points elsewhere, or is no repository that can be read for certain.`;
  for (const folder of folders) {
    for (const file of ['config', 'config.worktree']) {
      const path = join(folder, file);
      const entries = configAt(fs, path);
      if (typeof entries === 'string') return entries;
      const key = entries.map(keyOf).find((each) => each !== undefined);
      if (key !== undefined) return `${key} is set in ${path}; it can make git run a program.`;
    }
  }
  return undefined;
}

/** A submodule is looked into, with its own configuration, where .gitmodules says so, whatever the environment says. */
function modulesProblem(fs: PermissionFs, top: string): string | undefined {
  const path = join(top, '.gitmodules');
  // Without the file git takes what it keeps of it.
  const index = fs.lstat(path) === undefined ? gitIndex(fs, top) : undefined;
  if (index?.includes('.gitmodules') === true)
    return `${path} is not there, so what git does with submodules is not certain.`;
  const entries = configAt(fs, path);
  if (typeof entries === 'string') return entries;
  return entries.some(({ name }) => name === 'ignore')
    ? `${path} makes git look into submodules, whose configuration is theirs.`
    : undefined;
}

/** The top of the repository a folder belongs to. */
export function repositoryOf(fs: PermissionFs, cwd: string): string | undefined {
  const found = findRepository(fs, cwd);
  return found === 'bare' ? undefined : found;
}

/** What the repository keeps track of; nothing where that cannot be read for certain. */
export function gitIndex(fs: PermissionFs, top: string): readonly string[] | undefined {
  const [folder] = gitFolders(fs, top) ?? [];
  const path = folder === undefined ? undefined : join(folder, 'index');
  if (path === undefined || !['file', undefined].includes(fs.lstat(path)?.kind)) return undefined;
  return readGitIndex(fs.readBytes(path));
}

/** Git passes by a `.git` it takes for none and uses the next one above: that one may not run anything either. */
function outerProblem(fs: PermissionFs, top: string, keyOf: KeyOf): string | undefined {
  if (top === dirname(top)) return undefined;
  const outer = findRepository(fs, dirname(top));
  if (outer === undefined) return undefined;
  if (outer === 'bare') return `A folder above ${top} looks like a bare repository.`;
  return repositoryProblem(fs, outer, keyOf) ?? outerProblem(fs, outer, keyOf);
}

/** What a file of configuration says; a sentence where that is not certain. One that is not there says nothing. */
function configAt(fs: PermissionFs, path: string): readonly GitConfigEntry[] | string {
  const kind = fs.lstat(path)?.kind;
  if (kind === undefined) return [];
  if (kind !== 'file') return `${path} is a link or no file, so what git would read there is not certain.`;
  const text = textAt(fs, path);
  if (text === undefined) return `${path} cannot be read.`;
  const config = readGitConfig(text);
  return config.ok ? config.entries : `${path} cannot be read for certain: ${config.why}.`;
}

function textAt(fs: PermissionFs, path: string): string | undefined {
  try {
    return fs.readFile(path);
  } catch {
    return undefined;
  }
}

/** The folder whose `.git` git would use, walking up; `bare` when a folder itself could be the repository. */
function findRepository(fs: PermissionFs, from: string): string | 'bare' | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const has = (name: string) => fs.lstat(join(folder, name)) !== undefined;
    if (has('.git')) return folder;
    if (has('HEAD') && (has('commondir') || (has('objects') && has('refs')))) return 'bare';
    if (folder === dirname(folder)) return undefined;
  }
}

/** The git folder and, for a linked worktree, the common one. Links and what git may not take for one are refused. */
function gitFolders(fs: PermissionFs, root: string): readonly string[] | undefined {
  const dotGit = join(root, '.git');
  const kind = fs.lstat(dotGit)?.kind;
  if (kind === 'directory') return isPlain(fs, dotGit) ? [dotGit] : undefined;
  if (kind !== 'file') return undefined;
  const target = lineOf(textAt(fs, dotGit), 'gitdir: ');
  if (target === undefined) return undefined;
  const folder = resolvePath(fs, { cwd: root, home: root }, isAbsolute(target) ? target : join(root, target));
  if (folder.problem !== undefined || folder.kind !== 'directory') return undefined;
  if (fs.lstat(join(folder.real, 'commondir')) === undefined)
    return isPlain(fs, folder.real) ? [folder.real] : undefined;
  const common = lineOf(textAt(fs, join(folder.real, 'commondir')), '');
  if (common === undefined) return undefined;
  const shared = resolvePath(
    fs,
    { cwd: folder.real, home: root },
    isAbsolute(common) ? common : join(folder.real, common),
  );
  return shared.problem === undefined && isPlain(fs, shared.real) ? [folder.real, shared.real] : undefined;
}

/** Everything that git wants to see in a repository of its own is there. */
function isPlain(fs: PermissionFs, folder: string): boolean {
  const kindOf = (name: string) => fs.lstat(join(folder, name))?.kind;
  return (
    kindOf('commondir') === undefined &&
    kindOf('config') === 'file' &&
    kindOf('objects') === 'directory' &&
    kindOf('refs') === 'directory' &&
    kindOf('HEAD') === 'file' &&
    /^(?:ref: refs\/|[0-9a-f]{40})/.test(textAt(fs, join(folder, 'HEAD')) ?? '')
  );
}

/** The path a file of one line holds. Spaces at its end are part of it for git. */
function lineOf(text: string | undefined, start: string): string | undefined {
  if (text?.startsWith(start) !== true) return undefined;
  const path = text.slice(start.length).replace(/[\r\n]+$/, '');
  return path === '' || /[\0-\x1f]/.test(path) ? undefined : path;
}
