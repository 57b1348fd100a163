import { basename, join } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import type { Policy } from '../contracts/permission.ts';
import type { SandboxSettings } from '../contracts/settings.ts';
import { expandHomePath } from '../lib/files/path-style.ts';
import { computeShortHash } from '../lib/text/short-hash.ts';
import { isProgramControlFile } from '../permissions/paths/program-files.ts';
import { isPathInside } from '../permissions/resolve-path.ts';
import { createPathRuleTest, listRuleGlobs } from '../permissions/rules/path-rules.ts';
import { getRuleFamily } from '../permissions/rules/rule-families.ts';
import { isSecretVariable } from './credentials.ts';
import {
  getFolderAccess,
  getPathKind,
  listForbiddenSockets,
  resolveAllLinks,
  resolveFuturePath,
} from './host-paths.ts';
import type { SandboxPlan } from './plan.ts';
import { createProgramPathFinder } from './program-paths.ts';
import {
  findLinkedWorktree,
  findPathsInGitConfig,
  type GitConfigPaths,
  listForeignGitPaths,
} from './repositories/git-paths.ts';
import type { ScanFolders } from './scan-folders.ts';
import { writeSeccompFilter } from './seccomp-filter.ts';
import { createSystemSecretFinder, listVisiblePaths } from './visible-paths.ts';

/** Limit of files that are made read-only one by one; those nearest to the root come first. */
const MAX_PROGRAM_FILES = 200;

/** Everything a plan depends on besides the sandbox settings. */
type PlanDeps = {
  readonly environment: Environment;
  readonly cwd: string;
  readonly now: () => number;
  readonly getRoots: () => readonly string[];
  readonly sessionFolder: string;
  /** Folder of ouro for caches and the seccomp filter. */
  readonly folder: string;
  /** Returns the paths that rules deny to read or to write. */
  readonly getDeniedPaths: (use: 'read' | 'write') => DeniedPaths;
  readonly scanFolders: ScanFolders;
  /** Returns the names of variables the settings define for commands; these are kept even if they look like secrets. */
  readonly listSetVariables: () => readonly string[];
};

/**
 * Creates the function that plans the next sandbox from the current settings and the disk. `opened` paths are writable
 * in addition.
 */
export function createSandboxPlanner(
  deps: PlanDeps,
): (settings: SandboxSettings, opened?: readonly string[]) => SandboxPlan {
  const { environment, cwd, now, getRoots, sessionFolder, folder, listSetVariables, getDeniedPaths, scanFolders } =
    deps;
  const search = {
    ...{ environment, scanFolders, findProgramPaths: createProgramPathFinder(environment) },
    findSystemSecrets: createSystemSecretFinder(now),
  };
  /** Real paths at the first plan. A path that leads elsewhere later is no longer writable. */
  const realPaths = new Map<string, string>();

  const toAbsolute = (path: string) => expandHomePath(path, environment.home, cwd);

  function resolveUnmoved(path: string): readonly string[] {
    const real = realPaths.get(path) ?? resolveFuturePath(path);
    realPaths.set(path, real);
    return resolveFuturePath(real) === real ? [real] : [];
  }

  return (settings, opened = []) => {
    const { network, allowRead = [], allowWrite = [], denyRead = [], denyWrite = [], allowUnixSockets = [] } = settings;
    const unixSockets =
      settings.allowAllUnixSockets === true ? 'all' : allowUnixSockets.map((path) => resolveAllLinks(toAbsolute(path)));
    const [first] = getRoots();
    const worktree = first === undefined ? undefined : findLinkedWorktree(resolveAllLinks(first));
    const userVariables = new Set([...listSetVariables(), ...(settings.allowEnv ?? [])]);
    const [deniedReads, deniedWrites] = [getDeniedPaths('read'), getDeniedPaths('write')];
    const writable = [...allowWrite.map(toAbsolute).flatMap(resolveUnmoved), ...opened];
    // Scanned separately: each has its own limit, so a large writable folder does not use up that of the workspace.
    const scans = [getRoots(), writable].map((folders) =>
      scanFolders(folders, {
        key: `${deniedReads.key}\n${deniedWrites.key}`,
        isUnreadable: deniedReads.isDenied,
        isUnwritable: (path) => deniedWrites.isDenied(path) || isProgramControlFile(basename(path)),
      }),
    );
    const nestedGitPaths = scans.flatMap((scan) => scan.nestedGitPaths);
    // A folder that contains the workspace cannot be hidden or read-only; there only the rules apply.
    const containsRoot = (path: string) =>
      getRoots().some((root) => root === path || root.startsWith(`${path === '/' ? '' : path}/`));
    const isWritableInside = (path: string) =>
      [...getRoots(), ...writable].some((folder) => isPathInside(folder, path));
    const isEnforceable = (path: string) => !containsRoot(path) && getPathKind(path) !== 'missing';
    return {
      roots: getRoots().flatMap(resolveUnmoved),
      allowWrite: writable,
      denyRead: [
        ...new Set([
          ...denyRead.map(toAbsolute),
          ...deniedReads.paths.filter(isEnforceable),
          ...scans.flatMap(({ unreadablePaths }) => unreadablePaths),
          ...listForeignGitPaths(getRoots(), environment.home, [...allowRead.map(toAbsolute), ...writable]).filter(
            isEnforceable,
          ),
        ]),
      ],
      denyWrite: [
        ...new Set([
          ...denyWrite.map(toAbsolute),
          ...deniedWrites.paths.filter(isEnforceable),
          ...scans.flatMap(({ unwritablePaths }) => unwritablePaths.filter(deniedWrites.isDenied)),
        ]),
      ],
      home: resolveAllLinks(environment.home),
      visible: listVisiblePaths(search, {
        roots: [...getRoots(), ...writable],
        readable: allowRead.map(toAbsolute),
      }),
      runtimeCache: resolveAllLinks(environment.runtimeCache),
      ouroHome: resolveAllLinks(environment.ouroHome),
      nestedGitPaths,
      gitConfigPaths: collectGitConfigPaths(
        [...[...getRoots(), ...writable].map((folder) => resolveAllLinks(join(folder, '.git'))), ...nestedGitPaths],
        environment.home,
      ),
      ...(worktree === undefined ? {} : { worktree }),
      programFiles: scans
        .flatMap(({ unwritablePaths }) => unwritablePaths)
        .filter((path) => !isWritableInside(path))
        .slice(0, MAX_PROGRAM_FILES),
      ignoreFiles: listIgnoreFiles(getRoots().map(resolveAllLinks), folder, worktree?.commonDir),
      secretVariables: listSecretVariables(environment, { userVariables, network }),
      setVariables: [...Object.keys(environment.variables), ...userVariables],
      cacheFolder: join(folder, 'caches', computeShortHash(resolveAllLinks(first ?? cwd), 12)),
      unixSockets,
      blockedSockets: unixSockets === 'all' || unixSockets.length === 0 ? [] : listForbiddenSockets(unixSockets),
      localPorts: settings.allowLocalBinding === true ? 'open' : 'closed',
      ...writeSeccompFilter(folder, unixSockets.length === 0 ? 'network' : 'network and unix'),
      sessionFolder,
      network: network === undefined ? 'hosts' : network ? 'open' : 'none',
      user: process.getuid?.() === 0 ? 'root' : 'plain',
      getPathKind,
      getFolderAccess,
      resolveLinks: resolveAllLinks,
    };
  };
}

/** Lists the variables that commands do not get. */
function listSecretVariables(
  { variables }: Pick<Environment, 'variables'>,
  { userVariables, network }: { readonly userVariables: ReadonlySet<string> } & Pick<SandboxSettings, 'network'>,
): readonly string[] {
  // With an open network, commands need the proxy variables of the environment.
  const isKept = (name: string) => userVariables.has(name) || (network === true && /_proxy$/i.test(name));
  return Object.entries(variables).flatMap(([name, value]) =>
    !isKept(name) && isSecretVariable(name, value ?? '') ? [name] : [],
  );
}

function collectGitConfigPaths(gitDirs: readonly string[], home: string): GitConfigPaths {
  const paths = gitDirs.map((gitDir) => findPathsInGitConfig(gitDir, home));
  return { folders: paths.flatMap(({ folders }) => folders), files: paths.flatMap(({ files }) => files) };
}

/** Lists the ignore lists of the repositories of the roots; the files that replace them are written before a command. */
function listIgnoreFiles(
  roots: readonly string[],
  folder: string,
  commonDir: string | undefined,
): SandboxPlan['ignoreFiles'] {
  return roots.flatMap((root, index) => {
    const gitDir = index === 0 && commonDir !== undefined ? commonDir : join(root, '.git');
    if (getPathKind(join(gitDir, 'HEAD')) === 'missing') return [];
    const path = join(gitDir, 'info/exclude');
    return [{ root, path, source: join(folder, 'ignore', computeShortHash(path, 12)) }];
  });
}

/** The paths that rules deny: those that a rule spells out, and a test for all others. */
export type DeniedPaths = {
  readonly paths: readonly string[];
  readonly isDenied: (path: string) => boolean;
  /** Folders outside which the patterns of the rules match nothing, except for patterns that match anywhere. */
  readonly folders: readonly string[];
  /** Changes whenever `isDenied` may give another answer. Empty if there is no rule. */
  readonly key: string;
};

/** Returns the paths that deny rules keep from being read or written, for the sandbox to enforce. */
export function listDeniedPaths(policy: Policy, use: 'read' | 'write'): DeniedPaths {
  const rules = selectPathRules(policy, 'deny', use);
  const globs = rules
    .flatMap((rule) => listRuleGlobs(rule, policy))
    .map((glob) => glob.replace(/(?<!\/|\/\*\*)(?:\/|\/\*\*)+$/, ''));
  // Programs that ouro starts stay as they were approved.
  const frozen = use === 'write' ? (policy.frozenPaths ?? []) : [];
  const tests = rules.map((rule) => createPathRuleTest(rule, { tool: rule.tool, use }, policy));
  return {
    paths: [...globs.filter((glob) => glob.startsWith('/') && !WILDCARD.test(glob)).map(unescapeGlob), ...frozen],
    isDenied: (path) =>
      tests.some((matches) => matches({ original: path, lexical: path, real: path, kind: 'other', nlink: 1 })),
    folders: globs.filter((glob) => WILDCARD.test(glob)).flatMap(listFixedFolder),
    key: [...globs, ...frozen].join('\0'),
  };
}

/** Returns the folders and files in which rules allow reading: the part of each rule before its first wildcard. */
export function listReadablePaths(policy: Policy): readonly string[] {
  return selectPathRules(policy, 'allow', 'read')
    .flatMap((rule) => listRuleGlobs(rule, policy))
    .flatMap(listFixedFolder);
}

/** Returns the part of a glob before its first wildcard; nothing for one that says nothing about where it matches. */
function listFixedFolder(glob: string): readonly string[] {
  const names = glob.split('/');
  const wildcard = names.findIndex((name) => WILDCARD.test(name));
  const path = unescapeGlob(names.slice(0, wildcard < 0 ? names.length : wildcard).join('/'));
  return path.startsWith('/') && path.length > 1 ? [path] : [];
}

const WILDCARD = /(?<!\\)[*?[{!]/;

const unescapeGlob = (glob: string) => glob.replace(/\\(.)/g, '$1');

function selectPathRules({ rules }: Policy, wanted: 'allow' | 'deny', use: 'read' | 'write') {
  const family = use === 'read' ? 'read' : 'edit';
  return rules.filter(
    ({ behavior, tool, specifier, problem }) =>
      behavior === wanted && problem === undefined && specifier !== undefined && getRuleFamily(tool) === family,
  );
}
