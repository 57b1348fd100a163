import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createGitEnv, hardenGitArgs } from '../../git/run-git.ts';
import { readTextOrEmpty } from '../../lib/files/read-or-default.ts';
import { createLazy } from '../../lib/memoize.ts';
import { type GitConfigEntry, parseGitConfig } from '../../lib/text/git-config.ts';
import { isPathInside } from '../../permissions/resolve-path.ts';
import { findCommandConfigKey } from '../../permissions/shell/programs/git-repository.ts';
import { addOwnerPermissions, forceRemove, getPathKind, resolveAllLinks } from '../host-paths.ts';
import type { SandboxPlan } from '../plan.ts';

const getGitEnv = createLazy(() =>
  createGitEnv({ PATH: '/usr/local/bin:/usr/bin:/bin' }, { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }),
);
const TIMEOUT_MS = 2_000;

/**
 * Creates the guard of a session: repositories that sandboxed commands create must not run programs outside. Drafts of
 * configurations are written to the folder.
 */
export function createRepositoryGuard(draftFolder: string) {
  let known: ReadonlySet<string> = new Set();
  const listRepositories = ({ nestedGitPaths, roots }: SandboxPlan) => [
    ...nestedGitPaths,
    ...roots.flatMap(listGitLinks),
  ];
  return {
    /** Records the repositories of the workspace; called before a command runs while no other one does. */
    remember(plan: SandboxPlan) {
      known = new Set(listRepositories(plan));
    },
    /** Disarms repositories that were not recorded; called when a command has ended. */
    disarmNew(plan: SandboxPlan) {
      for (const path of listRepositories(plan))
        if (!known.has(path)) disarmRepository(path, { roots: plan.roots, draftFolder });
    },
  };
}

/** Lists the `.git` paths of repositories that the index of a root names; git looks into them in any folder. */
function listGitLinks(root: string): readonly string[] {
  const args = hardenGitArgs(['ls-files', '--stage', '-z']);
  const { stdout } = spawnSync('git', args, { cwd: root, env: getGitEnv(), encoding: 'utf8', timeout: TIMEOUT_MS });
  return (stdout ?? '')
    .split('\0')
    .filter((line) => line.startsWith('160000 '))
    .map((line) => join(root, line.slice(line.indexOf('\t') + 1), '.git'));
}

/** The folders that commands write, and a private folder for drafts. */
type DisarmDeps = { readonly roots: readonly string[]; readonly draftFolder: string };

/**
 * Removes the settings of a repository that start a program. Git reads them outside of the sandbox as soon as it lists
 * the changes of the repository around it. Only files inside the workspace are changed: no command could write others.
 */
function disarmRepository(gitPath: string, { roots, draftFolder }: DisarmDeps): void {
  const gitDir = resolveGitDir(gitPath);
  if (gitDir === undefined || !roots.some((root) => gitDir !== join(root, '.git') && isPathInside(gitDir, root)))
    return;
  // A hidden repository can become visible later.
  addOwnerPermissions(gitDir, 0o700);
  // Git takes its configuration from the folder that this file names.
  forceRemove(join(gitDir, 'commondir'));
  for (const file of [join(gitDir, 'config'), join(gitDir, 'config.worktree')]) {
    const kind = getPathKind(file);
    if (kind === 'file') disarmConfig(file, join(draftFolder, randomUUID()));
    else if (kind !== 'missing') forceRemove(file);
  }
}

function disarmConfig(file: string, draft: string): void {
  addOwnerPermissions(file, 0o600);
  const text = readTextOrEmpty(file);
  const config = parseGitConfig(text);
  const keys = config.ok ? [...new Set(config.entries.flatMap(findDangerousKey))] : [];
  if (config.ok && keys.length === 0) return;
  if (config.ok) writeFileSync(draft, text, { mode: 0o600 });
  const isDisarmed = config.ok && keys.every((key) => unsetKey(draft, key));
  const safe = isDisarmed ? readTextOrEmpty(draft) : '';
  rmSync(draft, { force: true });
  // Replaced by renaming, which follows no link that a running command may put there.
  const replacement = `${file}.${randomUUID().slice(0, 8)}`;
  writeFileSync(replacement, safe, { flag: 'wx' });
  renameSync(replacement, file);
}

/** Sections whose keys only change what git shows. */
const HARMLESS_SECTIONS = ['submodule', 'status', 'log', 'format', 'pretty'];

function findDangerousKey(entry: GitConfigEntry): readonly string[] {
  if (entry.section === 'core' && entry.name === 'hookspath') return ['core.hookspath'];
  const key = HARMLESS_SECTIONS.includes(entry.section) ? undefined : findCommandConfigKey(entry);
  return key === undefined ? [] : [key];
}

function unsetKey(file: string, key: string): boolean {
  const args = hardenGitArgs(['config', '--file', file, '--unset-all', key]);
  return spawnSync('git', args, { cwd: '/', env: getGitEnv(), timeout: TIMEOUT_MS }).status === 0;
}

/** Resolves a `.git` folder, or a `.git` file that names one. */
function resolveGitDir(gitPath: string): string | undefined {
  const kind = getPathKind(gitPath);
  if (kind === 'missing') return undefined;
  if (kind === 'link' || kind === 'directory') return resolveAllLinks(gitPath);
  const [, target] = /^gitdir: (.+)\n?$/.exec(readTextOrEmpty(gitPath)) ?? [];
  return target === undefined ? undefined : resolveAllLinks(resolve(dirname(gitPath), target));
}
