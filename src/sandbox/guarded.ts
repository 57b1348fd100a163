import { GUARDED, GUARDED_IF_THERE, GUARDED_OF_GIT, GUARDED_OF_HOME, GUARDED_OF_WORKTREE } from './places.ts';
import { isMountable, type SandboxPlan } from './plan.ts';

type Guarded = {
  readonly path: string;
  readonly as: 'folder' | 'file';
  readonly mount: 'writable' | 'read-only' | 'if-there';
};

type Names = { readonly [kind in 'folders' | 'files']: readonly string[] };

/** What decides which programs run, wherever something may be written: read, never written, made or moved away. */
export function guardedPlaces(plan: SandboxPlan): readonly Guarded[] {
  const ours = gitFolders(plan);
  const { worktree } = plan;
  return [
    ...plan.roots.flatMap((root) => ofRoot(plan, root, ours)),
    ...plan.allowWrite.flatMap((place) => below(plan, place, GUARDED, 'if-there')),
    ...below(plan, plan.home, GUARDED_OF_HOME, 'read-only').filter(({ path }) => isBelowWritable(plan, path)),
    ...ofGitNames(plan),
    ...plan.denyWrite.map((path) => ({ path: plan.follow(path), as: 'file', mount: 'read-only' }) as const),
    ...plan.nested.flatMap((git) =>
      plan.kindOf(git) === 'file' ? [{ path: git, as: 'file', mount: 'read-only' } as const] : [],
    ),
    ...ours.flatMap((git) => ofGit(plan, git)),
    ...(worktree === undefined
      ? []
      : [
          { path: worktree.own, as: 'folder', mount: 'writable' } as const,
          ...below(plan, worktree.own, GUARDED_OF_WORKTREE, 'read-only'),
        ]),
  ];
}

/**
 * Guarded places that are not there. Folders have to be made before the box; over files nothing is laid, which leaves
 * an empty file behind. Both are to be taken away when the last command has ended.
 */
export function placesToCover(plan: SandboxPlan): readonly Pick<Guarded, 'path' | 'as'>[] {
  return guardedPlaces(plan).filter(({ path, mount }) => mount !== 'if-there' && plan.kindOf(path) === 'missing');
}

/** What would lead git to settings elsewhere: nothing can lie over it, for git would read that. */
export function strayFiles(plan: SandboxPlan): readonly string[] {
  return gitFolders(plan)
    .map((git) => `${git}/commondir`)
    .filter((path) => plan.kindOf(path) === 'missing');
}

/** Guarded names that are links: nothing lies over a link, so it is put back when somebody replaced it. */
export function guardedLinks(plan: SandboxPlan): readonly string[] {
  const within = (folders: readonly string[], names: readonly string[]) =>
    folders.flatMap((folder) => names.map((name) => `${folder}/${name}`));
  const all = [
    ...within(plan.roots, ['.git', ...GUARDED.folders, ...GUARDED.files, ...GUARDED_IF_THERE]),
    ...within(gitFolders(plan), [...GUARDED_OF_GIT.folders, ...GUARDED_OF_GIT.files]),
    ...within([plan.home], [...GUARDED_OF_HOME.folders, ...GUARDED_OF_HOME.files]).filter((path) =>
      isBelowWritable(plan, path),
    ),
    ...plan.nested,
    ...[...plan.gitNames.folders, ...plan.gitNames.files].filter((path) => isBelowWritable(plan, path)),
  ];
  return all.filter((path) => plan.kindOf(path) === 'link');
}

/** The mounts that hold all this. */
export function guards(plan: SandboxPlan): readonly string[] {
  return guardedPlaces(plan).flatMap(({ path, as, mount }) => {
    const kind = plan.kindOf(path);
    if (kind === 'missing' && mount !== 'if-there' && as === 'file') return ['--ro-bind', '/dev/null', path];
    return isMountable(kind) ? [mount === 'writable' ? '--bind' : '--ro-bind', path, path] : [];
  });
}

/**
 * The folders on the way to what is guarded, bound to themselves: none of them is moved away with what is guarded in it,
 * to make another one in its place.
 */
export function pins(plan: SandboxPlan): readonly string[] {
  const writable = [...plan.roots, ...plan.allowWrite];
  const guarded = guardedPlaces(plan).flatMap(({ path, mount }) =>
    mount === 'if-there' && !isMountable(plan.kindOf(path)) ? [] : [path],
  );
  const above = guarded.flatMap((path) => {
    const root = writable.find((each) => path.startsWith(`${each}/`));
    if (root === undefined) return [];
    const names = path
      .slice(root.length + 1)
      .split('/')
      .slice(0, -1);
    return names.map((_, at) => `${root}/${names.slice(0, at + 1).join('/')}`);
  });
  // The shortest first: what is bound later lies in what was bound before.
  return [...new Set(above)]
    .filter((path) => isMountable(plan.kindOf(path)) && !guarded.includes(path))
    .toSorted((a, b) => a.length - b.length);
}

function ofRoot(plan: SandboxPlan, root: string, ours: readonly string[]): readonly Guarded[] {
  const git = plan.follow(`${root}/.git`);
  const isNone = !ours.includes(git) && plan.kindOf(git) !== 'file';
  return [
    ...(ours.includes(git) ? [] : [{ path: git, as: 'folder', mount: 'read-only' } as const]),
    // With it the folder itself could become a repository, with settings of its own.
    ...(isNone ? [{ path: `${root}/HEAD`, as: 'file', mount: 'read-only' } as const] : []),
    ...below(plan, root, GUARDED, 'read-only'),
    ...below(plan, root, { folders: [], files: GUARDED_IF_THERE }, 'if-there'),
  ];
}

/** What the settings of repositories name, where it could be written. */
function ofGitNames(plan: SandboxPlan): readonly Guarded[] {
  const { folders, files } = plan.gitNames;
  const isOpen = ({ path }: Guarded) => isBelowWritable(plan, path) && !isGitItself(plan, path);
  const guarded = (as: Guarded['as']) => (path: string) =>
    ({ path: plan.follow(path), as, mount: 'read-only' }) as const;
  return [...folders.map(guarded('folder')), ...files.map(guarded('file'))].filter(isOpen);
}

/** The work tree as a whole, or a git folder, cannot be closed: what is guarded in it is guarded by its own names. */
function isGitItself(plan: SandboxPlan, path: string): boolean {
  return [...plan.roots, ...gitFolders(plan)].some((each) => each === path || each.startsWith(`${path}/`));
}

function ofGit(plan: SandboxPlan, git: string): readonly Guarded[] {
  return [
    // Bound to itself, so that the folder cannot be moved away and made anew.
    { path: git, as: 'folder', mount: 'writable' },
    ...below(plan, git, GUARDED_OF_GIT, 'read-only'),
    ...below(plan, git, { folders: [], files: ['commondir'] }, 'if-there'),
  ];
}

function below({ follow }: SandboxPlan, folder: string, { folders, files }: Names, mount: Guarded['mount']) {
  const guarded = (as: Guarded['as']) => (name: string) => ({ path: follow(`${folder}/${name}`), as, mount }) as const;
  return [...folders.map(guarded('folder')), ...files.map(guarded('file'))];
}

/** The git folders that may be written: of the roots, of what is nested in them, and of whose worktree this is. */
function gitFolders({ roots, allowWrite, nested, worktree, follow, kindOf }: SandboxPlan): readonly string[] {
  const writable = [...roots, ...allowWrite];
  const all = [...writable.map((root) => follow(`${root}/.git`)), ...nested];
  const inside = all.filter((git) => writable.some((root) => git.startsWith(`${root}/`)));
  // An empty one is none yet: it may have been made by us, so that nobody makes one in the box.
  const there = inside.filter((git) => kindOf(git) === 'directory' && kindOf(`${git}/HEAD`) !== 'missing');
  return [...new Set([...there, ...(worktree === undefined ? [] : [worktree.common])])];
}

/** It came along with a larger place; one that was named itself is meant. */
function isBelowWritable({ roots, allowWrite }: SandboxPlan, path: string): boolean {
  return [...roots, ...allowWrite].some((place) => path.startsWith(`${place === '/' ? '' : place}/`));
}
