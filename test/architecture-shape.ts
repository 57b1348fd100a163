import { dirname } from 'node:path/posix';
import type { Sources } from './architecture-rules.ts';
import { isNode, treeOf } from './architecture-source.ts';

const MOST_FILES = 20;
const MOST_APP_FILES = 10;
const MOST_FUNCTION_LINES = 80;

/** The one file above the rooms that all of them know: what every part is made with. */
const CORE = 'app/core.ts';

/** The rooms of `app/`, lowest first; a room may use those before it. */
const APP_ROOMS: Readonly<Record<string, readonly string[]>> = {
  settings: [],
  permissions: ['settings'],
  mcp: ['settings'],
  replay: [],
  session: ['settings', 'replay'],
  loop: ['settings', 'permissions', 'mcp', 'session'],
  slash: ['settings', 'permissions', 'mcp', 'session', 'loop', 'start'],
  start: ['settings'],
};

export type Edges = ReadonlyMap<string, readonly string[]>;

/** What folders, functions and the rooms of `app/` may not be. */
export function shapeViolations(sources: Sources, edges: Edges, capabilities: readonly string[]): readonly string[] {
  const paths = Object.keys(sources);
  return [
    ...crowded(paths),
    ...folderCycles(paths, edges),
    ...paths.flatMap((path) => longFunctions(path, sources[path] ?? '')),
    ...paths.filter((path) => path.startsWith('app/')).flatMap((path) => roomViolations(path, edges, capabilities)),
  ];
}

function crowded(paths: readonly string[]): readonly string[] {
  const folders = Map.groupBy(paths, dirname);
  return [...folders].flatMap(([folder, files]) => {
    const most = folder === 'app' ? MOST_APP_FILES : MOST_FILES;
    return files.length > most ? [`${folder}/: has ${files.length} files, more than ${most}`] : [];
  });
}

/** Seen from each folder, what it holds (sub-folders as wholes, files one by one) forms no circle. */
function folderCycles(paths: readonly string[], edges: Edges): readonly string[] {
  const folders = new Set(paths.flatMap((path) => ancestors(path)));
  return [...folders].sort().flatMap((folder) => {
    const inside = (path: string) => folder === '.' || path.startsWith(`${folder}/`);
    const child = (path: string) => (folder === '.' ? path : path.slice(folder.length + 1)).split('/')[0] ?? '';
    const graph = new Map<string, Set<string>>();
    for (const path of paths.filter(inside)) {
      const from = child(path);
      const to = (edges.get(path) ?? []).filter(inside).map(child);
      graph.set(from, (graph.get(from) ?? new Set()).union(new Set(to.filter((name) => name !== from))));
    }
    const circle = firstCircle(graph);
    // A circle of files alone is told as such already.
    return circle === undefined || circle.every((name) => /\.tsx?$/.test(name))
      ? []
      : [`${folder === '.' ? 'src' : folder}/: a circle of folders: ${circle.join(' → ')}`];
  });
}

function ancestors(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === '.' ? ['.'] : [folder, ...ancestors(folder)];
}

function firstCircle(graph: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | undefined {
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

/** Every function, those inside of others too, with the lines from its first word to its closing brace. */
function longFunctions(path: string, text: string): readonly string[] {
  if (text.split('\n').length <= MOST_FUNCTION_LINES) return [];
  const found: string[] = [];
  const visit = (node: unknown, name: string): void => {
    if (Array.isArray(node)) for (const one of node) visit(one, name);
    if (!isNode(node)) return;
    const own = isNode(node.id) && typeof node.id.name === 'string' ? node.id.name : name;
    const named = isNode(node.key) && typeof node.key.name === 'string' ? node.key.name : own;
    if (node.type === 'StaticBlock' || (/Function/.test(node.type) && isNode(node.body))) {
      const lines = text.slice(node.start, node.end).split('\n').length;
      if (lines > MOST_FUNCTION_LINES)
        found.push(`${path}: ${own} has ${lines} lines, more than ${MOST_FUNCTION_LINES}`);
    }
    for (const part of Object.values(node)) if (typeof part === 'object') visit(part, named);
  };
  visit(treeOf(path, text), 'a function');
  return found;
}

/** A file of `app/` joins at least two capabilities, and looks only at rooms below its own. */
function roomViolations(path: string, edges: Edges, capabilities: readonly string[]): readonly string[] {
  const [, room = '', ...rest] = path.split('/');
  if (path === CORE)
    return (edges.get(path) ?? [])
      .filter((one) => one.startsWith('app/'))
      .map((one) => `${path}: every room knows the core, so it may not use ${one}`);
  if (rest.length === 0) return [];
  const allowed = APP_ROOMS[room];
  if (allowed === undefined) return [`${path}: there is no room app/${room}`];
  // The core is one partner of a file, however many capabilities it is made of itself.
  const used = [...reached(path, edges, (one) => one.startsWith('app/') && one !== CORE)];
  const partners = used.map((one) => (one === CORE ? 'the core' : (one.split('/')[0] ?? '')));
  const joined = new Set(partners.filter((one) => one === 'the core' || capabilities.includes(one)));
  const only = [...joined].join();
  return [
    ...(joined.size >= 2
      ? []
      : [`${path}: joins ${only === '' ? 'no capability' : `only ${only}`}, so it belongs there`]),
    ...(edges.get(path) ?? [])
      .filter((one) => one.startsWith('app/') && one !== CORE && !one.startsWith(`app/${room}/`))
      .filter((one) => !allowed.includes(one.split('/')[1] ?? ''))
      .map((one) => `${path}: the room ${room} may not use ${one}`),
  ];
}

/** Everything a file imports, and what those of its imports that `through` lets pass import. */
function reached(path: string, edges: Edges, through: (path: string) => boolean): ReadonlySet<string> {
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
