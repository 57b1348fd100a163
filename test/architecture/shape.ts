import { basename, dirname } from 'node:path/posix';
import type { Sources } from './sources.ts';

const FOLDER_LIMIT = 25;
const LINE_LIMIT = 300;
/** A file of at most this many lines with one reader in its folder belongs to that reader. */
const SMALL_FILE_LINES = 60;
/** Small files with one reader that stay separate, each with the reason. */
const SEPARATE_FILES: Readonly<Record<string, string>> = {
  'sdk/model.ts': 'an entry point of the package',
  'model/providers/cloud-port.ts': 'left out of the browser build',
  'model/providers/foundry.ts': 'one file per provider',
  'packages/eval/src/shipped-tasks.ts': 'replaced by the build',
  'checkpoints/folder-ignore-rules.ts': 'how nested ignore files combine',
  'checkpoints/cross-process-writes.ts': 'the format of files that processes share',
  'tools/read/notebook.ts': 'one file per kind of file',
  'cli/commands/help-pages.ts': 'loaded only for --help',
  'ui/widgets/markdown/highlight-languages.ts': 'loaded on first use',
};

/** Rooms that a file may import from, besides its own, `contracts` and `lib`. */
const ROOM_LIMIT = 6;
/** Files that join more, each with the reason. */
const JOINING_FILES: Readonly<Record<string, string>> = {
  'app/compose.ts': 'the parts of a conversation and the list of its features',
};

/** The file of app/ that all its folders may import. */
const CORE = 'app/core.ts';

/** The folders of app/ by rank: each may import those before it. */
const APP_FOLDERS = ['trust', 'permissions', 'replay', 'session', 'setup', 'loop', 'commands'];

export type Edges = ReadonlyMap<string, readonly string[]>;

/** The rules for folders, functions and the order of the folders of app/. */
export const SHAPE_RULES: Readonly<
  Record<string, (sources: Sources, edges: Edges, capabilities: readonly string[]) => readonly string[]>
> = {
  'no folder has too many files': (sources) => largeFolders(Object.keys(sources)),
  'no folder has only one file': (sources) => foldersOfOneFile(Object.keys(sources)),
  'no folders form a cycle': (sources, edges) => folderCycles(Object.keys(sources), edges),
  'a small file with one reader in its folder belongs to the reader': smallFiles,
  'a file imports from few rooms': (_sources, edges) => [...edges].flatMap(manyRooms),
  'the core of app/ imports no other folder of app/': (_sources, edges) =>
    (edges.get(CORE) ?? [])
      .filter((target) => target.startsWith('app/'))
      .map((target) => `${CORE}: every folder of app/ imports the core, so it may not import ${target}`),
  'the folders of app/ are ordered': (sources, edges) =>
    filesInAppFolders(sources).flatMap((path) => appOrderViolations(path, edges)),
  'a file in a folder of app/ joins two capabilities': (sources, edges, capabilities) =>
    filesInAppFolders(sources).flatMap((path) => appJoinViolations(path, edges, capabilities)),
};

function largeFolders(paths: readonly string[]): readonly string[] {
  return listFolders(paths).flatMap((folder) => {
    const files = paths.filter((path) => dirname(path) === folder);
    return files.length > FOLDER_LIMIT ? [`${folder}/: has ${files.length} files, more than ${FOLDER_LIMIT}`] : [];
  });
}

function foldersOfOneFile(paths: readonly string[]): readonly string[] {
  return listFolders(paths)
    .filter((folder) => folder.includes('/'))
    .flatMap((folder) => {
      const [file, ...others] = paths.filter((path) => path.startsWith(`${folder}/`));
      return others.length === 0 ? [`${folder}/: has only ${file}; move it up`] : [];
    });
}

function listFolders(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.flatMap((path) => ancestors(path)))].sort();
}

/** Reports small files whose only reader stands in the same folder and has room for them. */
function smallFiles(sources: Sources, edges: Edges): readonly string[] {
  const readers = new Map<string, string[]>();
  for (const [path, targets] of edges)
    for (const target of new Set(targets)) readers.set(target, [...(readers.get(target) ?? []), path]);
  const linesOf = (path: string): number => (sources[path] ?? '').trimEnd().split('\n').length;
  return Object.keys(sources).flatMap((path) => {
    const [reader, ...others] = readers.get(path) ?? [];
    const isSmall = reader !== undefined && others.length === 0 && linesOf(path) <= SMALL_FILE_LINES;
    if (!isSmall || dirname(reader) !== dirname(path) || path in SEPARATE_FILES) return [];
    if (linesOf(path) + linesOf(reader) > LINE_LIMIT || isComponent(path)) return [];
    return [`${path}: has ${linesOf(path)} lines and one reader, ${basename(reader)}; move it there`];
  });
}

const isComponent = (path: string): boolean => path.endsWith('.tsx');

/** Reports cycles between the entries of each folder: its files one by one, its folders as wholes. */
function folderCycles(paths: readonly string[], edges: Edges): readonly string[] {
  return listFolders(paths).flatMap((folder) => {
    // A widget and the state it belongs to refer to each other's types, so the order of folders means nothing here.
    if (folder === 'ui' || folder.startsWith('ui/')) return [];
    const inside = (path: string) => folder === '.' || path.startsWith(`${folder}/`);
    const child = (path: string) => childOf(folder, path);
    const graph = new Map<string, Set<string>>();
    for (const path of paths.filter(inside)) {
      const from = child(path);
      const to = graph.get(from) ?? new Set();
      for (const name of (edges.get(path) ?? []).filter(inside).map(child)) if (name !== from) to.add(name);
      graph.set(from, to);
    }
    const cycle = firstCycle(graph);
    // Cycles of files alone are reported by the caller.
    return cycle === undefined || cycle.every((name) => /\.tsx?$/.test(name))
      ? []
      : [`${folder === '.' ? 'src' : folder}/: a cycle of folders: ${cycle.join(' → ')}`];
  });
}

/** Returns the entry of a folder that holds the file. */
function childOf(folder: string, path: string): string {
  return (folder === '.' ? path : path.slice(folder.length + 1)).split('/')[0] ?? '';
}

function ancestors(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === '.' ? ['.'] : [folder, ...ancestors(folder)];
}

function firstCycle(graph: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (name: string, trail: readonly string[]): readonly string[] | undefined => {
    const at = trail.indexOf(name);
    if (at !== -1) return [...trail.slice(at), name];
    if (done.has(name)) return undefined;
    for (const next of graph.get(name) ?? []) {
      const found = visit(next, [...trail, name]);
      if (found !== undefined) return found;
    }
    done.add(name);
    return undefined;
  };
  for (const name of [...graph.keys()].sort()) {
    const found = visit(name, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Reports files that join more rooms of the tree than a reader keeps in mind. */
function manyRooms([path, targets]: readonly [string, readonly string[]]): readonly string[] {
  const own = path.split('/')[0];
  const rooms = new Set(targets.map((target) => target.split('/')[0] ?? ''));
  const joined = [...rooms].filter((room) => ![own, 'contracts', 'lib'].includes(room));
  if (joined.length <= ROOM_LIMIT || path in JOINING_FILES) return [];
  return [`${path}: imports from ${joined.length} rooms, more than ${ROOM_LIMIT}: ${joined.sort().join(', ')}`];
}

function filesInAppFolders(sources: Sources): readonly string[] {
  return Object.keys(sources).filter((path) => /^app\/.+\//.test(path));
}

/** Reports imports against the order of the folders of app/. */
function appOrderViolations(path: string, edges: Edges): readonly string[] {
  const folder = childOf('app', path);
  const rank = APP_FOLDERS.indexOf(folder);
  if (rank === -1) return [`${path}: app/${folder} is not a known folder`];
  return (edges.get(path) ?? [])
    .filter((target) => /^app\/[^/]+\//.test(target) && APP_FOLDERS.indexOf(childOf('app', target)) > rank)
    .map((target) => `${path}: app/${folder} may not import ${target}`);
}

/**
 * Reports files of app/ that use fewer than two capabilities, those that they use through other files of app/ included.
 * The core counts as one, however many it uses itself.
 */
function appJoinViolations(path: string, edges: Edges, capabilities: readonly string[]): readonly string[] {
  const used = [...reachable(path, edges, (target) => target.startsWith('app/') && target !== CORE)];
  const partners = used.map((target) => (target === CORE ? 'the core' : (target.split('/')[0] ?? '')));
  const joined = new Set(partners.filter((name) => name === 'the core' || capabilities.includes(name)));
  const only = [...joined].join();
  return joined.size >= 2 ? [] : [`${path}: uses ${only === '' ? 'no capability' : `only ${only}`}; move it there`];
}

/** Returns what a file imports, and what the imports accepted by `through` import in turn. */
function reachable(path: string, edges: Edges, through: (path: string) => boolean): ReadonlySet<string> {
  const seen = new Set<string>();
  const waiting = [path];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const next of edges.get(at) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      if (through(next)) waiting.push(next);
    }
  }
  return seen;
}
