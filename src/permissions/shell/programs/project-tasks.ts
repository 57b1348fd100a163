import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path/posix';
import { memoizeByKey } from '../../../lib/memoize.ts';
import { listSteeringLines } from '../../../lib/programs/package-runners.ts';
import { splitWords } from '../../../lib/text/lines.ts';
import type { PermissionFs } from '../../permission-fs.ts';
import { getProgramBaseName } from '../parse/shell-words.ts';
import { readTextFile } from './git-repository.ts';

/** A task of a project that a command runs, such as a script of `package.json`: what it is, and its command lines. */
export type ProjectTask = {
  /** The folder in which it is looked for, a line break, and its name. A nearer file counts as a change. */
  readonly key: string;
  readonly hash: string;
  /** The folder in which its command lines run. */
  readonly folder: string;
  readonly lines: readonly string[];
};

/** The way in which a program finds its tasks. */
type TaskSource =
  /** Entries of `package.json`. `targets` precede the name of an entry, other sub-commands are names themselves. */
  | { readonly kind: 'scripts'; readonly targets: RegExp; readonly settings: readonly string[] }
  /** Whole files, the nearest of which counts, or the one that an option names. */
  | { readonly kind: 'files'; readonly names: readonly string[]; readonly option: RegExp; readonly subcommand?: string }
  /** Tables of a TOML file. */
  | { readonly kind: 'tables'; readonly name: string; readonly subcommand: string };

const NPM: TaskSource = {
  kind: 'scripts',
  targets: /^(?:run|run-script|rum|urn|foreach)$/,
  settings: ['.npmrc', '.yarnrc', '.yarnrc.yml', 'pnpm-workspace.yaml', 'bunfig.toml'],
};
const FILE_OPTION = /^(?:-f|-d|--file|--justfile|--taskfile|--rakefile|--config)$/;
const COMPOSE: TaskSource = {
  kind: 'files',
  names: ['compose', 'docker-compose'].flatMap((name) =>
    ['', '.override'].flatMap((part) => [`${name}${part}.yaml`, `${name}${part}.yml`]),
  ),
  option: FILE_OPTION,
};
const PYTHON: TaskSource = { kind: 'tables', name: 'pyproject.toml', subcommand: 'run' };

const SOURCES: Readonly<Record<string, TaskSource>> = {
  ...{ npm: NPM, pnpm: NPM, yarn: NPM, bun: NPM, node: { ...NPM, targets: /^--run$/ } },
  deno: { kind: 'files', names: ['deno.json', 'deno.jsonc'], option: FILE_OPTION, subcommand: 'task' },
  just: { kind: 'files', names: ['justfile', 'Justfile', '.justfile'], option: FILE_OPTION },
  task: { kind: 'files', names: ['Taskfile.yml', 'Taskfile.yaml', 'taskfile.yml'], option: FILE_OPTION },
  rake: { kind: 'files', names: ['Rakefile', 'rakefile'], option: FILE_OPTION },
  docker: { ...COMPOSE, subcommand: 'compose' },
  podman: { ...COMPOSE, subcommand: 'compose' },
  'docker-compose': COMPOSE,
  ...{ uv: PYTHON, poetry: PYTHON, pdm: PYTHON, hatch: PYTHON, poe: { ...PYTHON, subcommand: '' } },
};

/** Returns whether a program runs tasks of a project. */
export const hasProjectTasks = (word: string): boolean => Object.hasOwn(SOURCES, getProgramBaseName(word));

/** Lists the tasks of a project that a command runs in one of these folders. */
export function listProjectTasks(
  [word = '', ...args]: readonly string[],
  folders: readonly string[],
  fs: PermissionFs,
): readonly ProjectTask[] {
  const name = getProgramBaseName(word);
  const source = Object.hasOwn(SOURCES, name) ? SOURCES[name] : undefined;
  switch (source?.kind) {
    case 'scripts':
      return listScriptEntries(args, folders, { source, fs });
    case 'files':
      return source.subcommand === undefined || args.includes(source.subcommand)
        ? listTaskFiles(args, folders, { source, fs })
        : [];
    case 'tables':
      return source.subcommand === '' || args.includes(source.subcommand) ? listTables(folders, source.name, fs) : [];
    default:
      return [];
  }
}

type Search<Kind extends TaskSource['kind']> = {
  readonly source: Extract<TaskSource, { readonly kind: Kind }>;
  readonly fs: PermissionFs;
};

/** Scripts that package managers run without being told their names. */
const LIFECYCLES: Readonly<Record<string, readonly string[]>> = {
  ...{ t: ['test'], tst: ['test'], restart: ['restart', 'stop', 'start'] },
  ...Object.fromEntries(
    splitWords('install i ci add update up link').map((name) => [
      name,
      ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'],
    ]),
  ),
  ...Object.fromEntries(
    splitWords('pack publish version').map((name) => [
      name,
      [name, 'prepack', 'postpack', 'prepare', 'prepublishOnly'],
    ]),
  ),
};
/** Sub-commands that are always names of scripts. */
const NAMED = ['test', 'start', 'stop', 'restart'];
const MAX_PACKAGES = 100;

function listScriptEntries(
  args: readonly string[],
  folders: readonly string[],
  { source, fs }: Search<'scripts'>,
): readonly ProjectTask[] {
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  const words = own.filter((arg) => !arg.startsWith('-'));
  // Node runs scripts only with an option; everything else is its own.
  if (source.targets.test('--run') && !own.some((arg) => arg.startsWith('--run'))) return [];
  if (words.length === 0) return [];
  const targets = own.filter((arg, index) => source.targets.test(own[index - 1] ?? '') || arg.startsWith('--run='));
  const wanted = new Set([
    ...targets.map((arg) => arg.replace(/^--run=/, '')),
    ...words.filter((word) => NAMED.includes(word)),
  ]);
  const candidates = [...new Set([...wanted, ...words.flatMap((word) => LIFECYCLES[word] ?? [word])])];
  const all = args.some((arg) =>
    /^(?:-r|-ws|--recursive|--workspaces|--filter|-F|foreach|workspaces)(?:$|=)/.test(arg),
  );
  return listPackages(folders, words, { all, fs }).flatMap(({ base, folder, manifest }) => {
    const settings = source.settings.flatMap((name) =>
      listSteeringLines(name, readPresentFile(fs, join(folder, name))),
    );
    const fixed = [manifest.packageManager, manifest.devEngines, settings];
    return candidates.flatMap((name) => {
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
  const listed = readTextFile(fs, join(top, 'pnpm-workspace.yaml'))?.matchAll(/^\s*-\s*['"]?([\w@./*-]+)/gm) ?? [];
  const patterns = [...workspaces, ...[...listed].flatMap(([, pattern]) => pattern ?? [])];
  return patterns.flatMap((pattern) => {
    const folder = join(top, pattern.replace(/\/?\*.*$/, ''));
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
  const json = parseJson(text);
  if (json === undefined) return undefined;
  const { scripts, workspaces, packageManager, devEngines }: Readonly<Record<string, unknown>> = { ...json };
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

function parseJson(text: string): object | undefined {
  try {
    const json: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return typeof json === 'object' && json !== null ? json : undefined;
  } catch {
    return undefined;
  }
}

function listTaskFiles(
  args: readonly string[],
  folders: readonly string[],
  { source, fs }: Search<'files'>,
): readonly ProjectTask[] {
  const named = args.flatMap((arg, index) => {
    if (source.option.test(args[index - 1] ?? '')) return [arg];
    const [option = '', ...value] = arg.split('=');
    return source.option.test(option) && value.length > 0 ? [value.join('=')] : /^-f./.test(arg) ? [arg.slice(2)] : [];
  });
  return folders.flatMap((folder) => {
    const paths = [
      ...findNearest(folder, source.names, fs),
      ...named.map((name) => (name.startsWith('/') ? name : join(folder, name))),
    ];
    const texts = paths.flatMap((path) => {
      const text = readTextFile(fs, path);
      return text === undefined ? [] : [[path, text]];
    });
    const key = `${folder}\n${named[0] ?? source.names[0]}`;
    return texts.length === 0 ? [] : [{ key, hash: computeHash(JSON.stringify(texts)), folder, lines: [] }];
  });
}

/** Tables of a TOML file that name what commands run. */
const TASK_TABLE =
  /^\[(?:project\.(?:gui-)?scripts|tool\.(?:poetry\.scripts|pdm\.scripts|hatch\.envs|poe|taskipy|uv\.sources))\b/;

function listTables(folders: readonly string[], name: string, fs: PermissionFs): readonly ProjectTask[] {
  return folders.flatMap((folder) => {
    const [path] = findNearest(folder, [name], fs);
    if (path === undefined) return [];
    const tables = (readTextFile(fs, path) ?? '').split(/^(?=\[)/m).filter((table) => TASK_TABLE.test(table));
    return [{ key: `${folder}\n${name}`, hash: computeHash([path, ...tables].join('\0')), folder, lines: [] }];
  });
}

/** Finds the files of these names in the nearest folder above that has one. */
function findNearest(folder: string, names: readonly string[], fs: PermissionFs): readonly string[] {
  const found = names.map((name) => join(folder, name)).filter((path) => isThere(fs, path));
  return found.length > 0 || folder === dirname(folder) ? found : findNearest(dirname(folder), names, fs);
}

function isThere(fs: PermissionFs, path: string): boolean {
  try {
    return fs.lstat(path) !== undefined;
  } catch {
    return false;
  }
}

/** Reads a file that is most often missing: errors are slow. */
const readPresentFile = (fs: PermissionFs, path: string) => (isThere(fs, path) ? (readTextFile(fs, path) ?? '') : '');

function listNames(fs: PermissionFs, folder: string): readonly string[] {
  try {
    return fs.readdir(folder).slice(0, MAX_PACKAGES);
  } catch {
    return [];
  }
}

const computeHash = (text: string) => createHash('sha256').update(text).digest('hex');

/** Describes a key: the path of a script, or a task and the folder in which it is looked for. */
export function describeTaskKey(key: string): string {
  const [path = '', task] = key.split('\n');
  return task === undefined ? path : `"${task}" of ${path}`;
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
