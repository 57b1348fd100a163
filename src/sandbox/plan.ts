/** A link, which sandboxes have at the same place. */
export type PathLink = { readonly path: string; readonly target: string };

/** The part of the disk that sandboxes show, as real paths. Nothing else exists in them. */
export type VisiblePaths = {
  /** Files and folders that are shown, outer ones first. */
  readonly shown: readonly string[];
  /** Folders inside those that are empty but for what is shown inside them in turn. */
  readonly emptied: readonly string[];
  /** Links that lead to what is shown. */
  readonly links: readonly PathLink[];
  /** Files in what is shown that hold a secret. */
  readonly secretFiles: readonly string[];
};

/** Arguments that start a command in the sandbox network, and the proxy variables it needs there. */
export type NetworkLaunch = {
  readonly entryArgs: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
};

/** The kind of a path. Links are never mounted, since a sandboxed command could have created them. */
export type PathKind = 'directory' | 'file' | 'link' | 'missing';

/** The access to a folder: `locked` if the user can create no entries in it before changing its mode. */
export type FolderAccess = 'open' | 'locked' | 'closed';

/** Everything that determines the sandbox of one command. */
export type SandboxPlan = {
  /** Real paths of the workspace folders, which are writable. */
  readonly roots: readonly string[];
  /** Real paths of `.git` folders and files of repositories inside the writable folders. */
  readonly nestedGitPaths: readonly string[];
  /** Hook folders and included files that git configs name; they determine which programs git runs. */
  readonly gitConfigPaths: { readonly folders: readonly string[]; readonly files: readonly string[] };
  /** Existing files and folders in writable folders that other programs run from. They are read-only. */
  readonly programFiles: readonly string[];
  /** Files that commands see in place of the ignore lists of repositories, so that git skips placeholders. */
  readonly ignoreFiles: readonly { readonly root: string; readonly path: string; readonly source: string }[];
  /** Real paths that are writable besides the roots. */
  readonly allowWrite: readonly string[];
  /** Paths that are hidden. */
  readonly denyRead: readonly string[];
  /** Paths inside writable folders that stay read-only. */
  readonly denyWrite: readonly string[];
  /** Git folders of a linked worktree: its own one, and the common one of the main repository. */
  readonly worktree?: { readonly gitDir: string; readonly commonDir: string };
  readonly home: string;
  /** The visible paths besides the writable folders. */
  readonly visible: VisiblePaths;
  readonly ouroHome: string;
  /** Folder with compiled sources of ouro, which it runs. */
  readonly runtimeCache: string;
  /** Writable cache folder for package managers, whose caches in the home folder are read-only. */
  readonly cacheFolder: string;
  /** Folder that is shown as `/tmp`; without one, `/tmp` is empty and gone when the command ends. */
  readonly tmpFolder?: string;
  /** Session folder with stored large outputs; read-only. */
  readonly sessionFolder: string;
  /** `hosts`: per host, through the proxy of ouro. */
  readonly network: 'none' | 'hosts' | 'open';
  /** Access to the proxy for this command; without it, `hosts` means no network. */
  readonly networkAccess?: NetworkLaunch;
  /** Unix sockets outside the sandbox that commands may connect to. */
  readonly unixSockets: readonly string[] | 'all';
  /** Existing Unix sockets that commands must not connect to. */
  readonly blockedSockets: readonly string[];
  readonly localPorts: 'open' | 'closed';
  readonly user: 'root' | 'plain';
  /** Names of environment variables that hold secrets and are removed. */
  readonly secretVariables: readonly string[];
  /** Names of variables set by the environment or the settings, which are not overwritten. */
  readonly setVariables: readonly string[];
  /** File with the compiled seccomp filter; absent on unsupported processors. */
  readonly seccompFilter?: string;
  readonly getPathKind: (path: string) => PathKind;
  readonly getFolderAccess: (path: string) => FolderAccess;
  /** Resolves links; returns the path itself if it does not exist. */
  readonly resolveLinks: (path: string) => string;
};

/** Returns whether a path of this kind can be a mount point. */
export function isMountable(kind: PathKind): boolean {
  return kind === 'directory' || kind === 'file';
}

/** Everything that determines the read-only sandbox of one command. All paths are real and exist. */
export type ReadOnlySandboxPlan = {
  readonly home: string;
  readonly visible: VisiblePaths;
  /** Paths that are hidden wherever they are: secrets, denied paths, named pipes. */
  readonly hidden: readonly string[];
  /** Secret files that are visible. */
  readonly readable: readonly string[];
};
