import { dirname, join } from 'node:path/posix';
import { memoizeByKey } from '../../../lib/memoize.ts';
import { listSteeringLines } from '../../../lib/programs/package-runners.ts';
import type { PermissionFs } from '../../permission-fs.ts';
import { readTextFile } from './git-repository.ts';
import { computeHash, findNearest, isThere, listNames, readPresentFile } from './nearby-files.ts';

/** A task of a project that a command runs, such as a script of `package.json`: what it is, and its command lines. */
export type ProjectTask = {
  /** The folder in which it is looked for, a line break, and its name. A nearer file counts as a change. */
  readonly key: string;
  readonly hash: string;
  /** The folder in which its command lines run. */
  readonly folder: string;
  readonly lines: readonly string[];
};

/** A program that runs entries of `package.json`: `targets` precede the name of one, other words are names themselves. */
export type ScriptRunner = {
  readonly targets: RegExp;
  /** Files that may change how it runs them. */
  readonly settings: readonly string[];
};

/** Scripts that package managers run without being told their names. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];
const PACK_SCRIPTS = ['prepack', 'postpack', 'prepare', 'prepublishOnly'];
const LIFECYCLES: Readonly<Record<string, readonly string[]>> = {
  ...{ t: ['test'], tst: ['test'], restart: ['restart', 'stop', 'start'] },
  ...{ install: INSTALL_SCRIPTS, i: INSTALL_SCRIPTS, ci: INSTALL_SCRIPTS, add: INSTALL_SCRIPTS },
  ...{ update: INSTALL_SCRIPTS, up: INSTALL_SCRIPTS, link: INSTALL_SCRIPTS },
  pack: ['pack', ...PACK_SCRIPTS],
  publish: ['publish', ...PACK_SCRIPTS],
  version: ['version', ...PACK_SCRIPTS],
};
/** Sub-commands that are always names of scripts. */
const NAMED = ['test', 'start', 'stop', 'restart'];
const MAX_PACKAGES = 100;

/** Lists the scripts of packages that a command runs in one of these folders. */
export function listPackageScripts(
  args: readonly string[],
  folders: readonly string[],
  source: ScriptRunner,
  fs: PermissionFs,
): readonly ProjectTask[] {
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  // `concurrently "npm:build" "npm run test"`
  const words = own
    .filter((arg) => !arg.startsWith('-'))
    .flatMap((arg) => arg.split(/\s+/))
    .map((word) => word.replace(/^(?:npm|pnpm|yarn|bun):/, ''));
  // Node runs scripts only with an option; everything else is its own.
  if (source.targets.test('--run') && !own.some((arg) => arg.startsWith('--run'))) return [];
  if (words.length === 0) return [];
  const targets = own.filter((arg, index) => source.targets.test(own[index - 1] ?? '') || arg.startsWith('--run='));
  const wanted = new Set([
    ...targets.map((arg) => arg.replace(/^--run=/, '')),
    ...words.filter((word) => NAMED.includes(word)),
  ]);
  const candidates = [...new Set([...wanted, ...words.flatMap((word) => LIFECYCLES[word] ?? [word])])];
  // The name comes from a variable, a substitution or, after `xargs`, from the input.
  const isUnknown = words.some((word) => /[$`]/.test(word)) || source.targets.test(words.at(-1) ?? '');
  const all = args.some((arg) =>
    /^(?:-r|-ws|--recursive|--workspaces|--filter|-F|foreach|workspaces)(?:$|=)/.test(arg),
  );
  return listPackages(folders, words, { all, fs }).flatMap(({ base, folder, manifest }) => {
    const settings = source.settings.flatMap((name) =>
      listSteeringLines(name, readPresentFile(fs, join(folder, name))),
    );
    const fixed = [manifest.packageManager, manifest.devEngines, settings];
    const listed = Object.keys(manifest.scripts).filter((name) => words.some((word) => matchesPattern(word, name)));
    return [...candidates, ...(isUnknown ? Object.keys(manifest.scripts) : listed)].flatMap((name) => {
      const entries = [`pre${name}`, name, `post${name}`].map((key) => manifest.scripts[key]);
      if (!wanted.has(name) && entries.every((entry) => entry === undefined)) return [];
      return {
        key: `${base}\n${name}`,
        hash: computeHash(JSON.stringify([folder, entries, fixed])),
        folder,
        lines: entries.filter((entry) => entry !== undefined),
      };
    });
  });
}

/** Returns whether a name matches a pattern such as `build:*`. */
function matchesPattern(pattern: string, name: string): boolean {
  const [start = '', ...rest] = pattern.split('*');
  return rest.length > 0 && name.startsWith(start) && name.endsWith(rest.at(-1) ?? '');
}

const MANIFEST = 'package.json';

/** A package, and the folder in which a line looks for it. */
type Package = { readonly base: string; readonly folder: string; readonly manifest: Manifest };

/** Lists the packages whose scripts a line may run: those of its folders, and those of a workspace that it names. */
function listPackages(
  folders: readonly string[],
  words: readonly string[],
  { all, fs }: { readonly all: boolean; readonly fs: PermissionFs },
): readonly Package[] {
  const own = folders.flatMap((base) => findNearest(base, [MANIFEST], fs).map((path) => ({ base, path })));
  const tops = [...new Set(own.map(({ path }) => dirname(path)))];
  const linked = tops.flatMap((top) => words.map((word) => join(top, 'node_modules', word, MANIFEST)));
  const members = all ? tops.flatMap((top) => listMembers(top, fs)) : [];
  const others = [...linked.filter((path) => isThere(fs, path)), ...members];
  const found = [...own, ...others.map((path) => ({ base: dirname(path), path }))].slice(0, MAX_PACKAGES);
  return found.flatMap(({ base, path }) => {
    const manifest = readManifest(path, fs);
    return manifest === undefined ? [] : [{ base, folder: dirname(path), manifest }];
  });
}

/** Lists the packages of a workspace, one level below the folders of its patterns. */
function listMembers(top: string, fs: PermissionFs): readonly string[] {
  const { workspaces = [] } = readManifest(join(top, MANIFEST), fs) ?? {};
  const listed =
    readTextFile(fs, join(top, 'pnpm-workspace.yaml'))?.matchAll(/^[\t ]*-[\t ]*['"]?([\w@./*-]+)/gm) ?? [];
  const patterns = [...workspaces, ...[...listed].flatMap(([, pattern]) => pattern ?? [])];
  return patterns.flatMap((pattern) => {
    const folder = join(top, pattern.split('*', 1)[0] ?? '');
    const names = pattern.includes('*') ? listNames(fs, folder) : [''];
    return names.map((name) => join(folder, name, MANIFEST)).filter((path) => isThere(fs, path));
  });
}

type Manifest = {
  readonly scripts: Readonly<Record<string, string | undefined>>;
  readonly workspaces: readonly string[];
  readonly packageManager: unknown;
  readonly devEngines: unknown;
};

const readManifest = (path: string, fs: PermissionFs) => parseManifest(readTextFile(fs, path) ?? '');

const parseManifest = memoizeByKey((text): Manifest | undefined => {
  const json = parseJsonObject(text);
  if (json === undefined) return undefined;
  const { scripts, workspaces, packageManager, devEngines } = json;
  const listed =
    typeof workspaces === 'object' && workspaces !== null && 'packages' in workspaces
      ? workspaces.packages
      : workspaces;
  return {
    scripts: Object.fromEntries(
      Object.entries(Object(scripts)).flatMap(([name, line]) => (typeof line === 'string' ? [[name, line]] : [])),
    ),
    workspaces: Array.isArray(listed) ? listed.filter((one) => typeof one === 'string') : [],
    packageManager,
    devEngines,
  };
});

/** Parses a JSON object; `undefined` for anything else. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return typeof json === 'object' && json !== null ? { ...json } : undefined;
  } catch {
    return undefined;
  }
}

/** The lines of a script of a package, as a question shows them. */
type TaskLines = { readonly path: string; readonly entry: string; readonly lines: readonly string[] };

/** Reads the lines of a script of a package; none for other tasks, and `undefined` for the key of a file. */
export function readTaskLines(key: string, fs: PermissionFs): TaskLines | undefined {
  const [folder = '', entry] = key.split('\n');
  if (entry === undefined) return undefined;
  const [path = ''] = findNearest(folder, [MANIFEST], fs);
  const scripts: Manifest['scripts'] = readManifest(path, fs)?.scripts ?? {};
  const names = [`pre${entry}`, entry, `post${entry}`].filter((name) => scripts[name] !== undefined);
  return { path, entry, lines: names.map((name) => `${name}: ${scripts[name]}`) };
}
