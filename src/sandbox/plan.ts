import type { GitNames } from './git-names.ts';

/** What stands in front of a command that may ask us for hosts, and what it is told. */
export type Way = { readonly enter: readonly string[]; readonly variables: Readonly<Record<string, string>> };

/** What of a path matters for a mount. A link is never mounted: what was made in the box would say where it leads. */
export type PathKind = 'directory' | 'file' | 'link' | 'missing';

export type SandboxPlan = {
  /** Real folders that may be written: the workspace and those beside it. */
  readonly roots: readonly string[];
  /** Git folders of repositories inside of the roots, and files that stand for some. Real paths. */
  readonly nested: readonly string[];
  /** What their settings name that decides which programs git runs. */
  readonly gitNames: GitNames;
  /** More places to write, and places not to read. Real paths. */
  readonly allowWrite: readonly string[];
  readonly denyRead: readonly string[];
  /** What of all this stays as it is. */
  readonly denyWrite: readonly string[];
  /** The repository that the first root is a worktree of, when it says so itself: its folder there, and all of it. */
  readonly worktree?: { readonly own: string; readonly common: string };
  readonly home: string;
  readonly ouroHome: string;
  /** What package managers keep between commands of this workspace: theirs at home is not written. */
  readonly caches: string;
  /** Where large outputs were put aside: read back, not written. */
  readonly sessionFolder: string;
  /** Hosts: one by one, through us. */
  readonly network: 'none' | 'hosts' | 'open';
  /** The way to us, for the command that is to run: without it there is no network. */
  readonly way?: Way;
  /** Unix sockets that programs outside listen on: none is reached, these, or whatever can be seen. */
  readonly unixSockets: readonly string[] | 'all';
  /** Of those that are there and are not to be reached. */
  readonly otherSockets: readonly string[];
  readonly localPorts: 'open' | 'closed';
  readonly user: 'root' | 'plain';
  /** The names of the variables that hold keys. */
  readonly secrets: readonly string[];
  /** Variables that somebody set, in the surroundings or in the settings. */
  readonly set: readonly string[];
  /** The file that holds the filter of system calls; none for a processor we have no filter for. */
  readonly filter?: string;
  readonly kindOf: (path: string) => PathKind;
  /** Where a path really is; itself when it leads nowhere. */
  readonly follow: (path: string) => string;
};

/** Something a mount can be laid over. */
export function isMountable(kind: PathKind): boolean {
  return kind === 'directory' || kind === 'file';
}
