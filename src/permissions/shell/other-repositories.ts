import { dirname, join } from 'node:path/posix';
import { splitWords } from '../../lib/text/lines.ts';
import { type DecisionContext, resolveCallPath } from '../decision-context.ts';
import type { PermissionFs } from '../permission-fs.ts';
import { isPathInside } from '../resolve-path.ts';
import { findProgramFacts } from './programs/find-program-facts.ts';
import {
  findRepositoryTop,
  findUnlistedConfigKey,
  readGitConfig,
  resolveGitFolders,
} from './programs/git-repository.ts';
import { isThere, listNames } from './programs/nearby-files.ts';

/**
 * Returns whether a command runs in a folder that selects another host, or what it starts, than the workspace does: a
 * rule is about the workspace, not about a repository that lies in it.
 */
export function runsInOtherRepository(
  context: DecisionContext,
  argv: readonly string[],
  cwds: readonly string[],
): boolean {
  const { usesGit, shownContents, hostFiles = [] } = findProgramFacts(argv[0] ?? '');
  const usesRepository = usesGit === true || shownContents !== undefined;
  if (!usesRepository && hostFiles.length === 0) return false;
  const { fs } = context;
  const [root = context.policy.cwd] = context.roots;
  const usesHost = shownContents === undefined || argv.some((arg) => CONNECTING_SUBCOMMANDS.includes(arg));
  return cwds
    .map((cwd) => resolveCallPath(context, cwd, '.').real)
    .filter((folder) => folder !== root)
    .some(
      (folder) =>
        listFoldersBelow(root, folder).some((each) => hostFiles.some((name) => isThere(fs, join(each, name)))) ||
        (usesRepository && isOtherRepository(fs, folder, root, { usesHost })),
    );
}

/** Sub-commands of git that connect to a remote. */
const CONNECTING_SUBCOMMANDS = splitWords(
  'fetch pull push ls-remote remote submodule lfs send-pack fetch-pack subtree',
);

/** Lists a folder and those above it, as far as they are below another. */
const listFoldersBelow = (root: string, folder: string): readonly string[] =>
  folder !== root && isPathInside(folder, root) ? [folder, ...listFoldersBelow(root, dirname(folder))] : [];

/** Hosts for which every client has its own token. */
const COMMON_HOSTS = splitWords('github.com ssh.github.com gist.github.com gitlab.com bitbucket.org codeberg.org');

function isOtherRepository(
  fs: PermissionFs,
  folder: string,
  root: string,
  { usesHost }: { readonly usesHost: boolean },
): boolean {
  const top = findRepositoryTop(fs, folder);
  // A bare repository, which may be any folder with the right names.
  if (top === undefined) return listFoldersBelow(root, folder).some((each) => isThere(fs, join(each, 'HEAD')));
  const rootTop = findRepositoryTop(fs, root);
  if (top === rootTop) return false;
  const folders = resolveGitFolders(fs, top);
  const rootFolders = rootTop === undefined ? [] : (resolveGitFolders(fs, rootTop) ?? []);
  if (folders === undefined) return true;
  if (folders.at(-1) === rootFolders.at(-1)) return false;
  const entries = readEntries(fs, folders);
  if (entries === undefined || entries.some(isSteering) || folders.some((each) => hasHooks(fs, each))) return true;
  const known = [...COMMON_HOSTS, ...listRemoteHosts(readEntries(fs, rootFolders) ?? [])];
  return usesHost && listRemoteHosts(entries).some((host) => !known.includes(host));
}

type Entries = Exclude<ReturnType<typeof readGitConfig>, string>;

/** Reads the configuration of a repository; `undefined` if it is not known for certain. */
function readEntries(fs: PermissionFs, folders: readonly string[]): Entries | undefined {
  const read = folders.flatMap((folder) =>
    ['config', 'config.worktree'].map((name) => readGitConfig(fs, join(folder, name))),
  );
  return read.some((entries) => typeof entries === 'string')
    ? undefined
    : read.flatMap((entries) => (typeof entries === 'string' ? [] : entries));
}

/** True for an entry that is not known to be harmless, that names hooks, or a default repository on another host. */
const isSteering = (entry: Entries[number]) =>
  findUnlistedConfigKey(entry) !== undefined ||
  entry.name === 'hookspath' ||
  (entry.name === 'gh-resolved' && !/^(?:base|[\w.-]+\/[\w.-]+)$/.test(entry.value ?? ''));

const hasHooks = (fs: PermissionFs, folder: string) =>
  listNames(fs, join(folder, 'hooks')).some((name) => !name.endsWith('.sample'));

/** Lists the hosts of the remotes; a local path has none. */
const listRemoteHosts = (entries: Entries): readonly string[] =>
  entries
    .filter(({ section, name }) => section === 'remote' && /^(?:push)?url$/.test(name))
    .flatMap(({ value = '' }) => {
      const [, url, scp] = /^[\w+]+:\/\/(?:[^/@]*@)?([^/]*)|^(?:[^/@:]+@)?([^/:]+):(?!\/\/)/.exec(value) ?? [];
      return url ?? scp ?? [];
    })
    .map((host) => host.toLowerCase());
