/** What of a path matters for a mount. A link is never mounted: what was made in the box would say where it leads. */
export type PathKind = 'directory' | 'file' | 'link' | 'missing';

export type SandboxPlan = {
  /** Real folders that may be written: the workspace and those beside it. */
  readonly roots: readonly string[];
  /** More places to write, and places not to read. Real paths. */
  readonly allowWrite: readonly string[];
  readonly denyRead: readonly string[];
  readonly home: string;
  readonly ouroHome: string;
  /** Where large outputs were put aside: read back, not written. */
  readonly sessionFolder: string;
  readonly network: 'none' | 'open';
  readonly user: 'root' | 'plain';
  readonly kindOf: (path: string) => PathKind;
  /** Where a path really is; itself when it leads nowhere. */
  readonly follow: (path: string) => string;
};

const CREDENTIALS = [
  '.ssh',
  '.aws',
  '.azure',
  '.gnupg',
  '.kube',
  '.docker',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.pgpass',
  '.config/gh',
  '.config/gcloud',
  '.terraform.d',
];
/** What of a repository decides which programs run: read, never written, and never moved out of the way. */
const GUARDED = ['.mcp.json', '.envrc', '.npmrc', '.vscode', '.idea', '.husky', '.gitmodules', 'bunfig.toml'];
/** The same inside of a git folder: other repositories keep their own of it in there. */
const GUARDED_OF_GIT = ['hooks', 'config', 'config.worktree', 'commondir', 'modules', 'worktrees'];

/** The words in front of a command that keep it in the sandbox. Later mounts lie over earlier ones. */
export function sandboxArguments(plan: SandboxPlan): readonly string[] {
  const { roots, home, kindOf } = plan;
  const bind = (path: string) => ['--bind', path, path];
  const hide = (spelled: string): readonly string[] => {
    const path = plan.follow(spelled);
    const kind = kindOf(path);
    if (kind === 'missing' || kind === 'link') return [];
    return kind === 'directory' ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
  };
  return [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/run'],
    ...(plan.network === 'open'
      ? ['--ro-bind-try', '/run/systemd/resolve', '/run/systemd/resolve']
      : ['--unshare-net']),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent', '--new-session'],
    ...capabilities(plan.user),
    ...[...roots, ...plan.allowWrite].filter((path) => isMountable(kindOf(path))).flatMap(bind),
    ...roots.flatMap((root) => guards(root, plan)),
    // Hidden last: nothing that may be written uncovers it.
    ...hide(plan.ouroHome),
    ...(kindOf(plan.sessionFolder) === 'directory' ? ['--ro-bind', plan.sessionFolder, plan.sessionFolder] : []),
    ...CREDENTIALS.flatMap((name) => hide(`${home}/${name}`)),
    ...plan.denyRead.flatMap(hide),
    ...['--setenv', 'TMPDIR', '/tmp', '--'],
  ];
}

/** Folders that must be there before the sandbox starts, or they could be made inside of it. */
export function foldersToMake({ roots, kindOf }: SandboxPlan): readonly string[] {
  return roots.map((root) => `${root}/.claude`).filter((folder) => kindOf(folder) === 'missing');
}

/** What would lead git to settings elsewhere, and cannot be guarded while it is not there. */
export function strayFiles({ roots, kindOf }: SandboxPlan): readonly string[] {
  const folders = roots.map((root) => `${root}/.git`).filter((git) => kindOf(git) === 'directory');
  return folders.map((git) => `${git}/commondir`).filter((path) => kindOf(path) === 'missing');
}

function guards(root: string, { roots, kindOf, follow }: SandboxPlan): readonly string[] {
  const readOnly = (spelled: string) => {
    const path = follow(spelled);
    return isMountable(kindOf(path)) ? ['--ro-bind', path, path] : [];
  };
  const git = follow(`${root}/.git`);
  const isOurs = kindOf(git) === 'directory' && roots.some((each) => git.startsWith(`${each}/`));
  const repository = isOurs
    ? // Bound to itself, so that the folder cannot be moved away and made anew.
      ['--bind', git, git, ...GUARDED_OF_GIT.flatMap((name) => readOnly(`${git}/${name}`))]
    : readOnly(git);
  return [...repository, ...readOnly(`${root}/.claude`), ...GUARDED.flatMap((name) => readOnly(`${root}/${name}`))];
}

function isMountable(kind: PathKind): boolean {
  return kind === 'directory' || kind === 'file';
}

/** Root would keep the right to mount anew; only what files need stays. */
function capabilities(user: SandboxPlan['user']): readonly string[] {
  const kept = user === 'root' ? ['CAP_DAC_OVERRIDE', 'CAP_CHOWN', 'CAP_FOWNER'] : [];
  return ['--cap-drop', 'ALL', ...kept.flatMap((name) => ['--cap-add', name])];
}
