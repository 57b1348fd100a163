import { basename, dirname, join } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { Policy } from '../../contracts/permission.ts';
import type { CallEnforcement } from '../../contracts/sandbox.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { getSecretPathReason } from '../../permissions/paths/secret-paths.ts';
import { diskFs } from '../../permissions/permission-fs.ts';
import { isPathInside } from '../../permissions/resolve-path.ts';
import { analyzeShell, listCertainCommands } from '../../permissions/shell/analyze.ts';
import { collectShellEffects } from '../../permissions/shell/effects/collect-shell-effects.ts';
import { analyzeReadOnly } from '../../permissions/shell/exact/analyze-read-only.ts';
import { getProgramBaseName } from '../../permissions/shell/parse/shell-words.ts';
import { findRepositoryTop, listTrackedFiles } from '../../permissions/shell/programs/git-repository.ts';
import { listDeniedPaths, listReadablePaths } from '../create-plan.ts';
import { listCredentialPaths } from '../credentials.ts';
import { getPathKind, lstatIfReachable, resolveAllLinks } from '../host-paths.ts';
import { MAX_MOUNTED_PATHS, mergePaths, SYSTEM_FOLDERS } from '../merge-paths.ts';
import { isPlainFile } from '../plain-files.ts';
import type { ReadOnlySandboxPlan } from '../plan.ts';
import { findLinkedWorktree, findSubmoduleGitDir, listForeignGitPaths } from '../repositories/git-paths.ts';
import { isShown, listVisiblePaths, type VisiblePathsDeps } from '../visible-paths.ts';

/** A command that runs in the read-only sandbox. */
export type ReadOnlySandboxCommand = {
  readonly command: string;
  readonly cwd: string;
  /** Secret files that a rule allows the command to read. Real paths. */
  readonly readable: CallEnforcement['readable'];
  /** Further files to hide. Real paths. */
  readonly hidden?: CallEnforcement['hidden'];
};

/** The inputs of a read-only plan. */
export type ReadOnlySandboxPlanDeps = Omit<VisiblePathsDeps, 'environment'> & {
  readonly environment: Environment;
  readonly sessionFolder: string;
  /** Returns the policy without a sandbox, for a working directory. */
  readonly getPolicy: (cwd: string) => Policy;
};

/** Plans what a command sees in the read-only sandbox. */
export function createReadOnlySandboxPlan(
  deps: ReadOnlySandboxPlanDeps,
  { command, cwd, readable, hidden: searched = [] }: ReadOnlySandboxCommand,
): ReadOnlySandboxPlan {
  const { environment, sessionFolder, getPolicy, scanFolders } = deps;
  const policy = getPolicy(cwd);
  const home = resolveAllLinks(environment.home);
  const roots = [...new Set([...policy.workspaceRoots.map(resolveAllLinks), resolveAllLinks(cwd)])].filter(isPresent);
  const allowed = listReadablePaths(policy).map(resolveAllLinks).filter(isPresent);
  const visible = listVisiblePaths(deps, {
    roots: [...policy.workspaceRoots, cwd],
    readable: [...listReadablePaths(policy), ...roots.flatMap(listGitDirs)],
  });
  const denied = listDeniedPaths(policy, 'read');
  const scan = scanFolders(roots, {
    key: [denied.key, policy.home, ...policy.sensitivePaths, ...(policy.taintedPaths ?? [])].join('\0'),
    isUnreadable: (path) => denied.isDenied(path) || getSecretPathReason(createFoundPath(path), policy) !== undefined,
    isUnwritable: () => false,
  });
  const hidden = [
    ...[environment.ouroHome, environment.runtimeCache, ...listCredentialPaths(home), ...visible.secretFiles],
    ...denied.paths,
    ...searched,
    ...(policy.taintedPaths ?? []),
    ...hideTrackedFiles(
      scan.unreadablePaths.filter((path) => !isPlainConfiguration(path)),
      command,
      cwd,
    ),
    ...scan.pipes,
    ...listForeignGitPaths(roots, home, allowed),
  ].map(resolveAllLinks);
  // Sandboxed hooks make empty files appear and vanish, and what is gone cannot be covered.
  const all = [...new Set(hidden)].filter((path) => isPresent(path) && !isEmptyFile(path));
  // Whatever is shown inside a hidden folder is shown nevertheless.
  const open = [...visible.shown, ...roots, ...allowed];
  const isAlreadyHidden = (path: string) =>
    !isShown(visible, path) ||
    all.some(
      (folder) =>
        folder !== path &&
        isPathInside(path, folder) &&
        !open.some((inner) => isPathInside(path, inner) && isPathInside(inner, folder)),
    );
  const isHideable = (path: string) =>
    !isAlreadyHidden(path) &&
    isPresent(path) &&
    !readable.includes(path) &&
    ![home, ...SYSTEM_FOLDERS].some((folder) => isPathInside(folder, path));
  return {
    home,
    visible,
    hidden: mergePaths(all.filter(isHideable), [...open, ...readable, home, cwd], explainTooMany),
    readable: [...readable, sessionFolder].map(resolveAllLinks).filter(isPresent),
  };
}

/** Many projects keep such a file in git, without a token. */
const isPlainConfiguration = (path: string) => ['.npmrc', '.pypirc'].includes(basename(path)) && isPlainFile(path);

function isEmptyFile(path: string): boolean {
  const entry = lstatIfReachable(path);
  return entry?.isFile() === true && entry.size === 0;
}

const isPresent = (path: string) => ['directory', 'file'].includes(getPathKind(path));

function explainTooMany(count: number): string {
  return `Nothing was run: ${count} secret files in the workspace would have to be hidden from the command, and only ${MAX_MOUNTED_PATHS} can be. Read single files instead, or ask the user to allow the command by a rule.`;
}

function createFoundPath(path: string) {
  return { original: path, lexical: path, real: path, kind: 'other', nlink: 1 } as const;
}

/** Lists the git folders outside a root that belong to it: those of a linked worktree or of a submodule. */
function listGitDirs(root: string): readonly string[] {
  const worktree = findLinkedWorktree(root);
  const gitDirs = worktree === undefined ? [findSubmoduleGitDir(root)] : [worktree.gitDir, worktree.commonDir];
  return gitDirs.filter((gitDir) => gitDir !== undefined);
}

/**
 * Leaves tracked files visible to git where it is the only program: it would report hidden ones as changed, and print
 * their content from the repository. The permission analysis decides about what git shows. Throws if other programs, for
 * which they are hidden, run beside git.
 */
function hideTrackedFiles(paths: readonly string[], command: string, cwd: string): readonly string[] {
  if (paths.length === 0) return paths;
  const programs = listPrograms(command);
  if (programs !== undefined && !programs.includes('git')) return paths;
  const top = findRepositoryTop(diskFs, cwd);
  const tracked = top === undefined ? undefined : listTrackedFiles(diskFs, top);
  if (top === undefined || tracked === undefined) return paths;
  const trackedPaths = new Set<string>();
  for (const name of tracked)
    for (let path = join(top, name); path !== top && path !== '/'; path = dirname(path)) trackedPaths.add(path);
  const visible = paths.filter((path) => trackedPaths.has(path));
  const [first] = visible;
  if (first === undefined) return paths;
  if (programs === undefined || (programs.some((name) => name !== 'git') && !opensNoOtherFile(command, cwd)))
    throw new ToolFailure(
      `Nothing was run: git tracks ${first}, which is hidden from other programs. Run git in a command of its own, without pipes (git log -5, git diff --stat).`,
    );
  return paths.filter((path) => !trackedPaths.has(path));
}

/** Builtins of the shell that open no file. */
const HARMLESS_BUILTINS = ['cd', 'true', 'false', ':', 'pwd', 'echo', 'printf'];

/** Returns whether all commands of a line besides git open no file: they read what git prints. */
function opensNoOtherFile(command: string, cwd: string): boolean {
  const commands = listCertainCommands(command, cwd, analyzeShell(command).parse);
  return (
    commands?.every(({ argv: [first, ...args], redirects }) => {
      const name = getProgramBaseName(first?.text ?? '');
      if (redirects.some(({ use }) => use === 'read')) return false;
      if (first === undefined || name === 'git' || HARMLESS_BUILTINS.includes(name)) return true;
      // The shell may expand other words to the names of files.
      const analysis = args.every(({ kind }) => kind === 'literal') ? analyzeReadOnly([first, ...args]) : undefined;
      return analysis?.ok === true && analysis.reads.length + analysis.searches.length === 0;
    }) === true
  );
}

/** Lists the programs of a command line, besides builtins that open no file; `undefined` if some may be unknown. */
function listPrograms(command: string): readonly string[] | undefined {
  const { parse } = analyzeShell(command);
  const { commands, isTruncated } = collectShellEffects(parse(command), parse);
  if (isTruncated || /[<`]|\$\(/.test(command.replaceAll(/<\s*\/dev\/null\b/g, '')))
    return /\bgit\b/.test(command) ? undefined : [];
  // The permission analysis judges what git itself could start.
  const started = commands.filter(({ via }) => via !== 'git');
  return [...new Set(started.map(({ argv }) => getProgramBaseName(argv[0] ?? '')))].filter(
    (name) => !HARMLESS_BUILTINS.includes(name),
  );
}
