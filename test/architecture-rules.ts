import { basename, dirname, join, normalize } from 'node:path/posix';
import { doorViolations } from './architecture-doors.ts';
import { knowledgeViolations } from './architecture-knowledge.ts';
import { type Edges, shapeViolations } from './architecture-shape.ts';
import { type Import, importsOf } from './architecture-source.ts';

/** Source files by their path from src/, for example `engine/query.ts`. */
export type Sources = Readonly<Record<string, string>>;

const CAPABILITIES = [
  'model',
  'tools',
  'permissions',
  'sandbox',
  'git',
  'context',
  'prompt',
  'hooks',
  'session',
  'checkpoints',
  'settings',
  'extensions',
  'mcp',
  'languages',
];

/** Each layer and the layers it may import besides itself. A layer that is not here may not exist. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  lib: [],
  engine: ['contracts', 'lib'],
  ...Object.fromEntries(CAPABILITIES.map((capability) => [capability, ['contracts', 'lib']])),
  agent: ['contracts', 'lib', 'engine'],
  ui: ['contracts', 'lib'],
  app: ['contracts', 'lib', 'engine', 'agent', ...CAPABILITIES],
  /** Starts conversations as programs of their own, so of the parts it needs only git and what is stored. */
  fleet: ['contracts', 'lib', 'git', 'session'],
  cli: ['contracts', 'lib', 'app', 'ui', 'fleet'],
  library: ['contracts', 'lib', 'engine', 'agent', ...CAPABILITIES],
};

const CEILING_LINES = 250;
/** The part that grows without limit in every program of this kind. */
const ENGINE_CEILING_LINES = 150;
const ENTRY = 'cli/main.ts';
/** What the entry may load before it knows what it was asked to do. */
const ENTRY_PACKAGES = ['commander'];
/** The one file outside of src/ that may be imported: it knows the version. */
const MANIFEST = '../../package.json';
const ENVIRONMENT = 'app/environment.ts';
/** Whoever builds on the parts has no program around them that would read it. */
const LIBRARY_ENVIRONMENT = 'library/surroundings.ts';
/** What also runs in a browser: nothing of Node may be needed there. */
const EVERYWHERE = ['contracts', 'engine', 'agent', 'context'];

/** Every way in which the sources break the rules of the tree, one sentence each. */
export function violations(sources: Sources): readonly string[] {
  const found = Object.entries(sources).flatMap(([path, text]) => [
    ...importViolations(path, text, sources),
    ...textViolations(path, text),
    ...nameViolations(path),
  ]);
  const edges = edgesOf(sources);
  return [
    ...found,
    ...cycles(sources, edges),
    ...entryViolations(sources),
    ...doorViolations(sources),
    ...knowledgeViolations(sources),
    ...shapeViolations(sources, edges, [...CAPABILITIES, 'engine', 'agent']),
  ];
}

function importViolations(path: string, text: string, sources: Sources): readonly string[] {
  const layer = layerOf(path);
  const allowed = LAYERS[layer];
  if (allowed === undefined) return [`${path}: "${layer}" is not a layer`];
  return importsOf(path, text).flatMap(({ kind, target }) => {
    if (target === undefined) return [`${path}: a dynamic import must name its file as plain text`];
    if (target.startsWith('node:') && EVERYWHERE.includes(layer))
      return [`${path}: ${layer} needs ${target}, which no browser has`];
    if (!target.startsWith('.') || target === MANIFEST) return [];
    const imported = resolve(path, target);
    if (sources[imported] === undefined) return [`${path}: "${target}" is not a source file with its extension`];
    const other = layerOf(imported);
    if (other === layer || allowed.includes(other)) return [];
    return [`${path}: ${layer} may not import ${other} (${kind} import of ${imported})`];
  });
}

function withoutComments(text: string): string {
  return text.replace(/^\s*(\/\/|\/?\*).*$/gm, '').replace(/\s\/\/ .*$/gm, '');
}

function textViolations(path: string, text: string): readonly string[] {
  const code = withoutComments(text);
  const lines = text.trimEnd().split('\n').length;
  const ceiling = path.startsWith('engine/') ? ENGINE_CEILING_LINES : CEILING_LINES;
  const rules: readonly (readonly [boolean, string])[] = [
    [lines > ceiling, `has ${lines} lines, more than ${ceiling}`],
    [/^\s*export\s+default\b|\bas\s+default\b/m.test(code), 'has a default export'],
    [
      path !== ENVIRONMENT && path !== LIBRARY_ENVIRONMENT && readsEnvironment(code),
      `reads the environment, which only ${ENVIRONMENT} may`,
    ],
    [/@ts-(ignore|expect-error|nocheck)|biome-ignore/.test(text), 'silences a tool'],
    [/\bTODO\b(?! ?\(?#\d+)/.test(text), 'has a TODO without an issue number'],
    [/^(?:let|var)\s/m.test(code) || /^export\s+(?:let|var)\s/m.test(code), 'has mutable state in the module'],
  ];
  return rules.filter(([broken]) => broken).map(([, what]) => `${path}: ${what}`);
}

function readsEnvironment(code: string): boolean {
  return /\bprocess\s*(\?\.|\.)\s*env\b|\benv\b[^=;]*\}\s*=\s*(globalThis\.)?process\b|\bprocess\[|\b(Bun|import\.meta)\.env\b|\benv\b[^;]*from ['"](node:)?process/.test(
    code,
  );
}

function nameViolations(path: string): readonly string[] {
  const name = basename(path);
  if (/^index\.tsx?$/.test(name)) return [`${path}: import the file that holds the thing, not an index`];
  const isNamed = /^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(name) || /^([A-Z][A-Za-z0-9]*|use(-[a-z0-9]+)+)\.tsx$/.test(name);
  return isNamed ? [] : [`${path}: files are kebab-case.ts, components PascalCase.tsx`];
}

function edgesOf(sources: Sources): Edges {
  return new Map(
    Object.entries(sources).map(([path, text]) => [path, importsOf(path, text).flatMap(within(path, sources))]),
  );
}

/** A cycle is reported once, from its first file in the order of the alphabet. */
function cycles(sources: Sources, edges: Edges): readonly string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at !== -1) found.push(`cycle: ${[...trail.slice(at), path].join(' → ')}`);
    if (at !== -1 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of Object.keys(sources).sort()) visit(path, []);
  return found;
}

const within =
  (path: string, sources: Sources) =>
  ({ target }: Import): readonly string[] => {
    const imported = target?.startsWith('.') ? resolve(path, target) : undefined;
    return imported !== undefined && sources[imported] !== undefined ? [imported] : [];
  };

/** Whatever the entry loads at once delays every start, `--version` included. */
function entryViolations(sources: Sources): readonly string[] {
  const waiting = [ENTRY];
  const seen = new Set<string>();
  const found: string[] = [];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    for (const edge of importsOf(path, sources[path] ?? '').filter(({ kind }) => kind === 'static')) {
      waiting.push(...within(path, sources)(edge));
      if (isHeavy(edge.target)) found.push(`${path}: loads ${edge.target} at every start; import it where it is used`);
    }
  }
  return found;
}

function isHeavy(target = ''): boolean {
  return !target.startsWith('.') && !target.startsWith('node:') && !ENTRY_PACKAGES.includes(target);
}

const layerOf = (path: string): string => path.split('/')[0] ?? '';
const resolve = (path: string, target: string): string => normalize(join(dirname(path), target));
