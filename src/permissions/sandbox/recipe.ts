/** What of a path matters for a mount; links are followed before. */
export type PathKind = 'directory' | 'file' | 'missing';

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

/** The words in front of a command that keep it in the sandbox. Later mounts lie over earlier ones. */
export function sandboxArguments(plan: SandboxPlan): readonly string[] {
  const { roots, home, kindOf } = plan;
  const bind = (path: string) => ['--bind', path, path];
  const hide = (path: string): readonly string[] => {
    const kind = kindOf(path);
    if (kind === 'missing') return [];
    return kind === 'directory' ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
  };
  return [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/run'],
    ...(plan.network === 'open'
      ? ['--ro-bind-try', '/run/systemd/resolve', '/run/systemd/resolve']
      : ['--unshare-net']),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent', '--new-session'],
    ...capabilities(plan.user),
    ...[...roots, ...plan.allowWrite].filter((path) => kindOf(path) !== 'missing').flatMap(bind),
    ...roots.flatMap((root) => guards(root, kindOf)),
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

function guards(root: string, kindOf: SandboxPlan['kindOf']): readonly string[] {
  const readOnly = (path: string) => (kindOf(path) === 'missing' ? [] : ['--ro-bind', path, path]);
  const git = `${root}/.git`;
  const repository =
    kindOf(git) === 'directory'
      ? // Bound to itself, so that the folder cannot be moved away and made anew.
        ['--bind', git, git, ...readOnly(`${git}/hooks`), ...readOnly(`${git}/config`)]
      : readOnly(git);
  return [...repository, ...readOnly(`${root}/.claude`), ...GUARDED.flatMap((name) => readOnly(`${root}/${name}`))];
}

/** Root would keep the right to mount anew; only what files need stays. */
function capabilities(user: SandboxPlan['user']): readonly string[] {
  const kept = user === 'root' ? ['CAP_DAC_OVERRIDE', 'CAP_CHOWN', 'CAP_FOWNER'] : [];
  return ['--cap-drop', 'ALL', ...kept.flatMap((name) => ['--cap-add', name])];
}
