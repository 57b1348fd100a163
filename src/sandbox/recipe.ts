import { CREDENTIALS, GUARDED, GUARDED_IF_THERE, GUARDED_OF_GIT, isSecretName } from './places.ts';

/** What of a path matters for a mount. A link is never mounted: what was made in the box would say where it leads. */
export type PathKind = 'directory' | 'file' | 'link' | 'missing';

export type SandboxPlan = {
  /** Real folders that may be written: the workspace and those beside it. */
  readonly roots: readonly string[];
  /** Git folders of repositories inside of the roots. Real paths. */
  readonly nested: readonly string[];
  /** More places to write, and places not to read. Real paths. */
  readonly allowWrite: readonly string[];
  readonly denyRead: readonly string[];
  readonly home: string;
  readonly ouroHome: string;
  /** Where large outputs were put aside: read back, not written. */
  readonly sessionFolder: string;
  readonly network: 'none' | 'open';
  readonly user: 'root' | 'plain';
  /** The names of the variables a command would see. */
  readonly variables: readonly string[];
  /** The file that holds the filter of system calls; none for a processor we have no filter for. */
  readonly filter?: string;
  readonly kindOf: (path: string) => PathKind;
  /** Where a path really is; itself when it leads nowhere. */
  readonly follow: (path: string) => string;
};

/** The words in front of a command that keep it in the sandbox of bubblewrap. Later mounts lie over earlier ones. */
export function sandboxArguments(program: string, plan: SandboxPlan): readonly string[] {
  const { roots, home, kindOf } = plan;
  const bind = (path: string) => ['--bind', path, path];
  const hide = (spelled: string): readonly string[] => {
    const path = plan.follow(spelled);
    const kind = kindOf(path);
    if (kind === 'missing' || kind === 'link') return [];
    return kind === 'directory' ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
  };
  return [
    ...withoutSecrets(plan),
    ...(plan.filter === undefined ? [program] : [...WITH_FILTER, plan.filter, program, '--seccomp', '9']),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/run'],
    ...(plan.network === 'open'
      ? ['--ro-bind-try', '/run/systemd/resolve', '/run/systemd/resolve']
      : ['--unshare-net']),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent', '--new-session'],
    ...capabilities(plan.user),
    ...[...roots, ...plan.allowWrite].filter((path) => isMountable(kindOf(path))).flatMap(bind),
    ...pins(plan).flatMap(bind),
    ...guards(plan),
    // Hidden last: nothing that may be written uncovers it.
    ...hide(plan.ouroHome),
    ...(kindOf(plan.sessionFolder) === 'directory' ? ['--ro-bind', plan.sessionFolder, plan.sessionFolder] : []),
    ...CREDENTIALS.flatMap((name) => hide(name.startsWith('/') ? name : `${home}/${name}`)),
    ...plan.denyRead.flatMap(hide),
    ...['--setenv', 'TMPDIR', '/tmp', '--'],
  ];
}

/**
 * The filter is read from an open file; the number is one that no command is told about otherwise. By bash: another
 * shell drops functions from the environment, and with them those that keep searches from secrets.
 */
const WITH_FILTER = ['/bin/bash', '--noprofile', '--norc', '-c', 'exec 9<"$0"; exec "$@"'];

/** Taken away before the box is made: the memory of its first process would still hold them. */
export function withoutSecrets({ variables }: SandboxPlan): readonly string[] {
  const secret = variables.filter(isSecretName);
  return secret.length === 0 ? [] : ['/usr/bin/env', ...secret.flatMap((name) => ['-u', name])];
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

function guards(plan: SandboxPlan): readonly string[] {
  return guardedPlaces(plan).flatMap(({ path, as, mount }) => {
    const kind = plan.kindOf(path);
    if (kind === 'missing' && mount !== 'if-there' && as === 'file') return ['--ro-bind', '/dev/null', path];
    return isMountable(kind) ? [mount === 'writable' ? '--bind' : '--ro-bind', path, path] : [];
  });
}

/** The folders on the way to a nested repository, bound to themselves: none is moved away with what is guarded in it. */
function pins(plan: SandboxPlan): readonly string[] {
  const above = gitFolders(plan).flatMap((git) => {
    const root = plan.roots.find((each) => git.startsWith(`${each}/`)) ?? git;
    const names = git
      .slice(root.length + 1)
      .split('/')
      .slice(0, -1);
    return names.map((_, at) => `${root}/${names.slice(0, at + 1).join('/')}`);
  });
  return [...new Set(above)];
}

type Guarded = {
  readonly path: string;
  readonly as: 'folder' | 'file';
  readonly mount: 'writable' | 'read-only' | 'if-there';
};

/** What of the workspace decides which programs run: read, never written, made or moved out of the way. */
export function guardedPlaces(plan: SandboxPlan): readonly Guarded[] {
  const { roots, follow } = plan;
  const ours = gitFolders(plan);
  const below = (folder: string, { folders, files }: { readonly [kind in 'folders' | 'files']: readonly string[] }) => {
    const guarded = (as: Guarded['as']) => (name: string) =>
      ({ path: follow(`${folder}/${name}`), as, mount: 'read-only' }) as const;
    return [...folders.map(guarded('folder')), ...files.map(guarded('file'))];
  };
  const ofRoot = (root: string): readonly Guarded[] => {
    const git = follow(`${root}/.git`);
    return [
      ...(ours.includes(git) ? [] : [{ path: git, as: 'folder', mount: 'read-only' } as const]),
      ...below(root, GUARDED),
      ...GUARDED_IF_THERE.map((name) => ({ path: follow(`${root}/${name}`), as: 'file', mount: 'if-there' }) as const),
    ];
  };
  const ofGit = (git: string): readonly Guarded[] => [
    // Bound to itself, so that the folder cannot be moved away and made anew.
    { path: git, as: 'folder', mount: 'writable' },
    ...below(git, GUARDED_OF_GIT),
    { path: follow(`${git}/commondir`), as: 'file', mount: 'if-there' },
  ];
  return [...roots.flatMap(ofRoot), ...ours.flatMap(ofGit)];
}

/** The git folders that lie in the workspace, of the roots and of what is nested in them. */
function gitFolders({ roots, nested, follow, kindOf }: SandboxPlan): readonly string[] {
  const all = [...roots.map((root) => follow(`${root}/.git`)), ...nested];
  const inside = all.filter((git) => roots.some((root) => git.startsWith(`${root}/`)));
  // An empty one is none yet: it may have been made by us, so that nobody makes one in the box.
  return [...new Set(inside)].filter((git) => kindOf(git) === 'directory' && kindOf(`${git}/HEAD`) !== 'missing');
}

function isMountable(kind: PathKind): boolean {
  return kind === 'directory' || kind === 'file';
}

/** Root would keep the right to mount anew; only what files need stays. */
function capabilities(user: SandboxPlan['user']): readonly string[] {
  const kept = user === 'root' ? ['CAP_DAC_OVERRIDE', 'CAP_CHOWN', 'CAP_FOWNER'] : [];
  return ['--cap-drop', 'ALL', ...kept.flatMap((name) => ['--cap-add', name])];
}
