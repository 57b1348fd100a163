import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { ToolFailure } from '../contracts/tool.ts';
import { splitWords } from '../lib/text/lines.ts';
import { listCredentialPaths } from './credentials.ts';
import { lstatIfReachable, resolveFuturePath } from './host-paths.ts';
import { isMountable, type SandboxPlan } from './plan.ts';
import {
  listGitDirs,
  listGitRedirectFiles,
  listReadOnlyGitEntries,
  PROTECTED_IN_GIT_DIR,
} from './repositories/git-dirs.ts';

/** Folders and files of a project that determine which programs run; protected even if they do not exist yet. */
export const PROTECTED_IN_PROJECT = {
  folders: ['.claude', '.vscode', '.idea', '.husky', '.cargo', '.cursor', '.codex', '.devcontainer'],
  files: [
    ...['.mcp.json', '.envrc', '.npmrc', '.yarnrc', '.yarnrc.yml', '.gitmodules', '.pre-commit-config.yaml'],
    ...['.bunfig.toml', 'bunfig.toml', '.corepack.env', '.bazelrc', '.exrc'],
  ],
} as const;

/** Paths in a writable home folder that run on login or when a shell or an editor starts. */
const PROTECTED_IN_HOME = {
  folders: [
    ...['.ssh', '.gnupg', '.vim', '.emacs.d', '.local/bin', 'bin', '.local/share/applications', '.local/share/systemd'],
    ...['.config/autostart', '.config/systemd', '.config/environment.d', '.config/fish', '.config/git', '.config/nvim'],
    ...['.config/plasma-workspace', 'Library/LaunchAgents'],
  ],
  files: splitWords(`
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .inputrc .npmrc .zshrc .zshenv .zprofile
    .zlogin .zlogout .xprofile .xsession .xsessionrc .xinitrc .pam_environment .gitconfig .vimrc .exrc .emacs
    .tmux.conf .screenrc .gdbinit .lldbinit .wgetrc .curlrc .irbrc .pryrc .pythonrc .Rprofile .hushlogin .kshrc
    .cshrc .tcshrc
  `),
} as const;

/** Files in the git folder of a linked worktree. */
const PROTECTED_IN_WORKTREE = { folders: [], files: ['config.worktree', 'commondir', 'gitdir'] } as const;

type ProtectedPath = {
  readonly path: string;
  readonly as: 'folder' | 'file';
  /** Content of the placeholder of a missing file. */
  readonly content?: string;
  /** `if-there`: mounted read-only, but only if it exists. */
  readonly mount: 'writable' | 'read-only' | 'if-there';
};

type Names = { readonly [kind in 'folders' | 'files']: readonly string[] };

/** Lists paths in writable folders that determine which programs run; they must not be written, created or moved. */
export function listProtectedPaths(plan: SandboxPlan): readonly ProtectedPath[] {
  const gitDirs = listGitDirs(plan);
  const { worktree } = plan;
  return [
    ...plan.roots.flatMap((root) => protectRoot(plan, root, gitDirs)),
    ...plan.allowWrite.flatMap((folder) => protectNames(plan, folder, PROTECTED_IN_PROJECT, 'if-there')),
    ...protectNames(plan, plan.home, PROTECTED_IN_HOME, 'read-only').filter(({ path }) => isBelowWritable(plan, path)),
    ...protectGitConfigPaths(plan),
    ...plan.programFiles.map((path) => ({ path: plan.resolveLinks(path), as: 'file', mount: 'if-there' }) as const),
    ...plan.denyWrite.map((path) => ({ path: plan.resolveLinks(path), as: 'file', mount: 'read-only' }) as const),
    ...plan.nestedGitPaths.flatMap((gitPath) =>
      plan.getPathKind(gitPath) === 'file' ? [{ path: gitPath, as: 'file', mount: 'read-only' } as const] : [],
    ),
    ...gitDirs.flatMap((gitDir) => protectGitDir(plan, gitDir)),
    ...(worktree === undefined
      ? []
      : [
          { path: worktree.gitDir, as: 'folder', mount: 'writable' } as const,
          ...protectNames(plan, worktree.gitDir, PROTECTED_IN_WORKTREE, 'read-only'),
        ]),
  ];
}

/**
 * Lists the protected paths that the sandbox mounts. A missing path in a folder where the user cannot create anything
 * has no mount; if a command could unlock that folder, the folder is read-only instead.
 */
export function listMountedPaths(plan: SandboxPlan): readonly ProtectedPath[] {
  const locked = new Set<string>();
  const mounted = listProtectedPaths(plan).filter(({ path, mount }) => {
    if (mount === 'if-there' || plan.getPathKind(path) !== 'missing') return true;
    const folder = findExistingFolder(path, plan);
    const access = plan.getFolderAccess(folder);
    if (access === 'locked') locked.add(folder);
    return access === 'open';
  });
  return [
    // First: the other mounts are inside of these.
    ...[...locked].map((path) => ({ path, as: 'folder', mount: 'read-only' }) as const),
    ...mounted.filter(({ path }) => !locked.has(path)),
  ];
}

function findExistingFolder(path: string, plan: SandboxPlan): string {
  const parent = dirname(path);
  return parent === path || plan.getPathKind(parent) !== 'missing' ? parent : findExistingFolder(parent, plan);
}

/**
 * Lists protected paths that do not exist. Folders must be created before the sandbox starts; mounting over a missing
 * file leaves an empty file behind. Both are removed when the last command has ended.
 */
export function listMissingProtectedPaths(
  plan: SandboxPlan,
): readonly Pick<ProtectedPath, 'path' | 'as' | 'content'>[] {
  return listMountedPaths(plan).filter(
    ({ path, mount }) => mount !== 'if-there' && plan.getPathKind(path) === 'missing',
  );
}

/** Lists missing files that could lead git elsewhere and cannot have a placeholder. They are deleted after a command. */
export function listStrayGitFiles(plan: SandboxPlan): readonly string[] {
  return listGitDirs(plan)
    .flatMap(listGitRedirectFiles)
    .flatMap(({ path, content }) => (content === undefined && plan.getPathKind(path) === 'missing' ? [path] : []));
}

/** Lists protected paths that are links. A link cannot be a mount point, so it is restored if a command replaced it. */
export function listProtectedLinks(plan: SandboxPlan): readonly string[] {
  const join = (folders: readonly string[], names: readonly string[]) =>
    folders.flatMap((folder) => names.map((name) => `${folder}/${name}`));
  const all = [
    ...join(plan.roots, ['.git', ...PROTECTED_IN_PROJECT.folders, ...PROTECTED_IN_PROJECT.files]),
    ...plan.programFiles,
    ...join(listGitDirs(plan), [...PROTECTED_IN_GIT_DIR.folders, ...PROTECTED_IN_GIT_DIR.files]),
    ...join([plan.home], [...PROTECTED_IN_HOME.folders, ...PROTECTED_IN_HOME.files]).filter((path) =>
      isBelowWritable(plan, path),
    ),
    ...plan.nestedGitPaths,
    ...[...plan.gitConfigPaths.folders, ...plan.gitConfigPaths.files].filter((path) => isBelowWritable(plan, path)),
  ];
  return all.filter((path) => plan.getPathKind(path) === 'link');
}

/** Lists the placeholders directly in a root: missing files, and empty ones that another process created. */
export function listPlaceholderFileNames(root: string, plan: SandboxPlan): readonly string[] {
  return PROTECTED_IN_PROJECT.files.filter((name) => {
    const path = `${root}/${name}`;
    return plan.getPathKind(path) === 'missing' || lstatIfReachable(path)?.size === 0;
  });
}

/** Builds the bwrap mounts of the protected paths. */
export function buildBwrapProtectionArgs(plan: SandboxPlan): readonly string[] {
  const ignoreFiles = plan.ignoreFiles.filter(
    ({ path, source }) => plan.getPathKind(path) === 'file' && plan.getPathKind(source) === 'file',
  );
  return [...listMounts(plan), ...ignoreFiles.flatMap(({ path, source }) => ['--ro-bind', source, path])];
}

function listMounts(plan: SandboxPlan): readonly string[] {
  return listMountedPaths(plan).flatMap(({ path, as, mount }) => {
    const kind = plan.getPathKind(path);
    if (kind === 'missing' && mount !== 'if-there' && as === 'file') return ['--ro-bind', '/dev/null', path];
    return isMountable(kind) ? [mount === 'writable' ? '--bind' : '--ro-bind', path, path] : [];
  });
}

/**
 * Lists the parent folders of protected paths that must be bound to themselves, so that a command cannot move them away
 * and create others in their place.
 */
export function listUnmovableFolders(plan: SandboxPlan): readonly string[] {
  const writable = [...plan.roots, ...plan.allowWrite];
  const protectedPaths = listProtectedPaths(plan).flatMap(({ path, mount }) =>
    mount === 'if-there' && !isMountable(plan.getPathKind(path)) ? [] : [path],
  );
  const parents = protectedPaths.flatMap((path) => {
    const root = writable.find((folder) => path.startsWith(`${folder}/`));
    if (root === undefined) return [];
    const names = path
      .slice(root.length + 1)
      .split('/')
      .slice(0, -1);
    return names.map((_, index) => `${root}/${names.slice(0, index + 1).join('/')}`);
  });
  // Shortest first: inner folders must be bound after outer ones.
  return [...new Set(parents)]
    .filter((path) => isMountable(plan.getPathKind(path)) && !protectedPaths.includes(path))
    .toSorted((a, b) => a.length - b.length);
}

function protectRoot(plan: SandboxPlan, root: string, gitDirs: readonly string[]): readonly ProtectedPath[] {
  const gitDir = plan.resolveLinks(`${root}/.git`);
  const hasRepository = gitDirs.includes(gitDir) || plan.getPathKind(gitDir) === 'file';
  return [
    ...(gitDirs.includes(gitDir) ? [] : [{ path: gitDir, as: 'folder', mount: 'read-only' } as const]),
    // A HEAD file could turn the folder itself into a bare repository with its own config.
    ...(!hasRepository ? [{ path: `${root}/HEAD`, as: 'file', mount: 'read-only' } as const] : []),
    ...protectNames(plan, root, PROTECTED_IN_PROJECT, 'read-only'),
  ];
}

/** Protects hook folders and config files that git configs name, if they are in writable folders. */
function protectGitConfigPaths(plan: SandboxPlan): readonly ProtectedPath[] {
  const { folders, files } = plan.gitConfigPaths;
  const isWritable = ({ path }: ProtectedPath) => isBelowWritable(plan, path) && !containsWorkTree(plan, path);
  const protect = (as: ProtectedPath['as']) => (path: string) =>
    ({ path: plan.resolveLinks(path), as, mount: 'read-only' }) as const;
  return [...folders.map(protect('folder')), ...files.map(protect('file'))].filter(isWritable);
}

/** Returns whether a path contains a root or git folder, which must stay writable as a whole. */
function containsWorkTree(plan: SandboxPlan, path: string): boolean {
  return [...plan.roots, ...listGitDirs(plan)].some((folder) => folder === path || folder.startsWith(`${path}/`));
}

function protectGitDir(plan: SandboxPlan, gitDir: string): readonly ProtectedPath[] {
  const protectedPaths = protectNames(plan, gitDir, PROTECTED_IN_GIT_DIR, 'read-only');
  const redirects = listGitRedirectFiles(gitDir);
  const covered = [...protectedPaths, ...redirects].map(({ path }) => path);
  return [
    // Bound to itself, so that a command cannot move the folder away and create another.
    { path: gitDir, as: 'folder', mount: 'writable' },
    ...protectedPaths,
    ...protectNames(plan, gitDir, { folders: [], files: listReadOnlyGitEntries(gitDir) }, 'if-there').filter(
      ({ path }) => !covered.includes(path),
    ),
    ...redirects.map(
      (file) => ({ ...file, as: 'file', mount: file.content === undefined ? 'if-there' : 'read-only' }) as const,
    ),
  ];
}

function protectNames(
  { resolveLinks }: SandboxPlan,
  folder: string,
  { folders, files }: Names,
  mount: ProtectedPath['mount'],
) {
  const protect = (as: ProtectedPath['as']) => (name: string) =>
    ({ path: resolveLinks(`${folder}/${name}`), as, mount }) as const;
  return [...folders.map(protect('folder')), ...files.map(protect('file'))];
}

/** Returns whether a path is strictly inside a writable folder. A path listed as writable itself does not count. */
function isBelowWritable({ roots, allowWrite }: SandboxPlan, path: string): boolean {
  return [...roots, ...allowWrite].some((folder) => path.startsWith(`${folder === '/' ? '' : folder}/`));
}

/** Lists paths that no exception can make writable: credentials, protected paths, and mounts of the sandbox itself. */
export function listNeverWritablePaths(plan: SandboxPlan): readonly string[] {
  const { ouroHome, home, denyRead, resolveLinks } = plan;
  const protectedPaths = listProtectedPaths(plan).flatMap(({ path, mount }) => (mount === 'writable' ? [] : [path]));
  const hidden = [
    ...[ouroHome, plan.runtimeCache, ...plan.visible.secretFiles, ...listCredentialPaths(home), ...denyRead],
  ].map(resolveLinks);
  return [...new Set([...SANDBOX_MOUNTS, ...hidden, ...protectedPaths])];
}

/** Mounts of the sandbox itself; those of the host would expose other processes or lead out of the sandbox. */
const SANDBOX_MOUNTS = ['/proc', '/sys', '/dev', '/run', '/var/run'];

/** Creates the missing folders among newly writable paths. Throws if a path changed since it was approved. */
export function prepareWritablePaths(paths: readonly string[], plan: SandboxPlan): void {
  const closed = listNeverWritablePaths(plan);
  for (const path of paths) {
    const isMoved = resolveFuturePath(path) !== path;
    if (isMoved || closed.some((folder) => path === folder || path.startsWith(`${folder}/`)))
      throw new ToolFailure(
        `Nothing was run: ${path} was changed after access to it was approved. Check it and try again.`,
      );
    if (plan.getPathKind(path) === 'missing') mkdirSync(path, { recursive: true });
  }
}
