import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFolderNames, readTextOrEmpty } from '../../lib/files/read-or-default.ts';
import { parseGitConfig } from '../../lib/text/git-config.ts';
import { addOwnerPermissions, forceRemove, getPathKind } from '../host-paths.ts';
import type { SandboxPlan } from '../plan.ts';

/**
 * Paths in a git folder that are read-only, whether they exist or not; `modules` and `worktrees` hold git folders of other repositories, `branches` and `remotes` define where to push to.
 */
export const PROTECTED_IN_GIT_DIR = {
  folders: ['hooks', 'modules', 'worktrees', 'branches', 'remotes'],
  files: ['config', 'config.worktree'],
} as const;

/**
 * Entries of a git folder that commits, branches, stashes, merges and rebases write. All others are read-only if they
 * exist.
 */
const WRITABLE =
  /^(?:[A-Z_]+|index|info|objects|refs|logs|reftable|packed-refs|shallow|rr-cache|lfs|rebase-merge|rebase-apply|sequencer|gc\.\w+|addp-hunk-edit\.diff|(?:next-|shared)?index[.-].+|.+\.lock)$/;

/**
 * Lists files that would lead git elsewhere if they existed, with contents that lead nowhere. Git reads them, also
 * outside of the sandbox, so a placeholder must be a real file.
 */
export function listGitRedirectFiles(gitDir: string): readonly { readonly path: string; readonly content?: string }[] {
  return [
    { path: `${gitDir}/info/attributes`, content: '' },
    { path: `${gitDir}/objects/info/alternates`, content: '' },
    // Git takes the folder itself for the common one, which it is.
    { path: `${gitDir}/commondir`, ...(acceptsCommonDir(gitDir) ? { content: '.\n' } : {}) },
  ];
}

/** Lists the writable git folders: of the roots, of nested repositories, and of the linked worktree. */
export function listGitDirs({
  roots,
  allowWrite,
  nestedGitPaths,
  worktree,
  resolveLinks,
  getPathKind,
}: SandboxPlan): readonly string[] {
  const writable = [...roots, ...allowWrite];
  const all = [...writable.map((root) => resolveLinks(`${root}/.git`)), ...nestedGitPaths];
  const inside = all.filter((gitDir) => writable.some((root) => gitDir.startsWith(`${root}/`)));
  // Without HEAD it is not a repository: it may be the placeholder that keeps a command from creating one.
  const repositories = inside.filter(
    (gitDir) => getPathKind(gitDir) === 'directory' && getPathKind(`${gitDir}/HEAD`) !== 'missing',
  );
  return [...new Set([...repositories, ...(worktree === undefined ? [] : [worktree.commonDir])])];
}

/** Lists the entries of a git folder that are read-only because no ordinary git command writes them. */
export function listReadOnlyGitEntries(gitDir: string): readonly string[] {
  return listFolderNames(gitDir).filter((name) => !WRITABLE.test(name));
}

/**
 * Returns whether git works as before with a `commondir` that names the folder itself. It then ignores `core.bare` and
 * `core.worktree`, which only some repositories set.
 */
function acceptsCommonDir(gitDir: string): boolean {
  const config = parseGitConfig(readTextOrEmpty(join(gitDir, 'config')));
  return (
    config.ok &&
    !config.entries.some(
      ({ section, name, value }) =>
        section === 'core' && (name === 'worktree' || (name === 'bare' && value?.toLowerCase() !== 'false')),
    )
  );
}

/** The state of git folders before a command, which the command must not extend. */
export type GitDirSnapshot = { readonly links: ReadonlySet<string>; readonly steps: ReadonlySet<string> };

/** Files with the steps of an unfinished rebase or cherry-pick; git runs their `exec` lines when it goes on. */
const STEP_FILES = ['rebase-merge/git-rebase-todo', 'rebase-merge/git-rebase-todo.backup', 'sequencer/todo'];
const EXEC_STEP = /^\s*(?:x|exec)\s/;

/** Returns the links in git folders, and the steps of their unfinished rebases that run a program. */
export function readGitDirState(gitDirs: readonly string[]): GitDirSnapshot {
  return {
    links: new Set(gitDirs.flatMap(findLinks)),
    steps: new Set(gitDirs.flatMap((gitDir) => readStepFiles(gitDir).flatMap(({ lines }) => lines.filter(isExecStep)))),
  };
}

/**
 * Undoes what a command could have left for git outside of the sandbox: links, through which git would write other
 * files, and steps of a rebase that run a program.
 */
export function repairGitDirs(gitDirs: readonly string[], before: GitDirSnapshot): void {
  for (const gitDir of gitDirs) {
    for (const path of findLinks(gitDir)) if (!before.links.has(path)) forceRemove(path);
    for (const { path, lines } of readStepFiles(gitDir)) {
      const isAdded = (line: string) => isExecStep(line) && !before.steps.has(line);
      if (!lines.some(isAdded)) continue;
      addOwnerPermissions(path, 0o600);
      writeFileSync(
        path,
        lines.map((line) => (isAdded(line) ? `# Removed after a sandboxed command: ${line}` : line)).join('\n'),
      );
    }
  }
}

const isExecStep = (line: string) => EXEC_STEP.test(line);

function readStepFiles(gitDir: string): readonly { readonly path: string; readonly lines: readonly string[] }[] {
  return STEP_FILES.map((name) => join(gitDir, name))
    .filter((path) => getPathKind(path) === 'file')
    .map((path) => ({ path, lines: readTextOrEmpty(path).split('\n') }));
}

/** Limit of entries that are searched for links. */
const MAX_ENTRIES = 5_000;

/** Finds links among the files that git writes: those directly in the folder, and its logs. */
function findLinks(gitDir: string): readonly string[] {
  const found: string[] = [];
  const pending = [gitDir];
  let seen = 0;
  for (let folder = pending.pop(); folder !== undefined && seen < MAX_ENTRIES; folder = pending.pop()) {
    for (const entry of readEntries(folder)) {
      seen += 1;
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) found.push(path);
      else if (entry.isDirectory() && (folder !== gitDir || LINK_FOLDERS.includes(entry.name))) pending.push(path);
    }
  }
  return found;
}

const LINK_FOLDERS = ['logs', 'rebase-merge', 'rebase-apply', 'sequencer'];

function readEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
