import { isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import type { SandboxSettings } from '../contracts/settings.ts';
import { shortHash } from '../lib/text/short-hash.ts';
import { type GitNames, gitNames } from './git-names.ts';
import { follow, kindOf, lookThrough, placeOf, socketsBut } from './host-places.ts';
import { linkedGit } from './linked-git.ts';
import { isSecret } from './places.ts';
import type { SandboxPlan } from './plan.ts';
import { filterIn } from './probe.ts';

/** Where plans are made for. */
type Surroundings = {
  readonly environment: Environment;
  readonly cwd: string;
  readonly roots: () => readonly string[];
  readonly sessionFolder: string;
  /** Ours, for what a box is made with. */
  readonly folder: string;
  /** What rules deny, by name and by a test. */
  readonly denied: (use: 'read' | 'write') => {
    readonly places: readonly string[];
    readonly denies: (path: string) => boolean;
  };
  /** Names of variables that the person set for commands: they stay, whatever they are called. */
  readonly setVariables: () => readonly string[];
};

/** Makes the plan of the next box from settings and disk as they are now; places that were opened to it are writable too. */
export function planMaker(
  surroundings: Surroundings,
): (settings: SandboxSettings, opened?: readonly string[]) => SandboxPlan {
  const { environment, cwd, roots, sessionFolder, folder, setVariables, denied } = surroundings;
  /** Where each place really was before the first command: one that leads elsewhere since is not opened. */
  const known = new Map<string, string>();

  const placed = (path: string) =>
    isAbsolute(path) ? path : path.startsWith('~/') ? join(environment.home, path.slice(2)) : resolve(cwd, path);

  function namesOf(gits: readonly string[]): GitNames {
    const named = gits.map((git) => gitNames(git, environment.home));
    return { folders: named.flatMap(({ folders }) => folders), files: named.flatMap(({ files }) => files) };
  }

  function unmoved(path: string): readonly string[] {
    const real = known.get(path) ?? placeOf(path);
    known.set(path, real);
    return placeOf(real) === real ? [real] : [];
  }

  return (settings, opened = []) => {
    const { network, allowWrite = [], denyRead = [], denyWrite = [], allowUnixSockets = [] } = settings;
    const unixSockets =
      settings.allowAllUnixSockets === true ? 'all' : allowUnixSockets.map((path) => follow(placed(path)));
    const [first] = roots();
    const worktree = first === undefined ? undefined : linkedGit(follow(first));
    const isSet = new Set(setVariables());
    const [read, write] = [denied('read'), denied('write')];
    const writable = [...allowWrite.map(placed).flatMap(unmoved), ...opened];
    // Each with a limit of its own: a large place beside the workspace takes nothing from that.
    const seen = [roots(), writable].map((folders) => lookThrough(folders, { read: read.denies, write: write.denies }));
    const nested = seen.flatMap(({ nested: found }) => found);
    // What holds the workspace itself cannot be taken out of it: there the rules decide alone.
    const isBeside = (path: string) =>
      !roots().some((root) => root === path || root.startsWith(`${path === '/' ? '' : path}/`));
    const isThere = (path: string) => isBeside(path) && kindOf(path) !== 'missing';
    return {
      roots: roots().flatMap(unmoved),
      allowWrite: writable,
      denyRead: [
        ...new Set([...denyRead.map(placed), ...read.places.filter(isThere), ...seen.flatMap(({ hidden }) => hidden)]),
      ],
      denyWrite: [
        ...new Set([...denyWrite.map(placed), ...write.places.filter(isThere), ...seen.flatMap(({ kept }) => kept)]),
      ],
      home: follow(environment.home),
      ouroHome: follow(environment.ouroHome),
      nested,
      gitNames: namesOf([...[...roots(), ...writable].map((place) => follow(join(place, '.git'))), ...nested]),
      ...(worktree === undefined ? {} : { worktree }),
      secrets: Object.entries(environment.variables).flatMap(([name, value]) =>
        // Where all of the network is open, its own proxy is the way there.
        !isSet.has(name) && !(network === true && /_proxy$/i.test(name)) && isSecret(name, value ?? '') ? [name] : [],
      ),
      set: [...Object.keys(environment.variables), ...isSet],
      caches: join(folder, 'caches', shortHash(follow(first ?? cwd), 12)),
      unixSockets,
      otherSockets: unixSockets === 'all' || unixSockets.length === 0 ? [] : socketsBut(unixSockets),
      localPorts: settings.allowLocalBinding === true ? 'open' : 'closed',
      ...filterIn(folder, unixSockets.length === 0 ? 'refused' : 'made'),
      sessionFolder,
      network: network === undefined ? 'hosts' : network ? 'open' : 'none',
      user: process.getuid?.() === 0 ? 'root' : 'plain',
      kindOf,
      follow,
    };
  };
}
