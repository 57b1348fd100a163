import { basename, dirname, join, normalize } from 'node:path/posix';
import { knowledgeViolations } from './knowledge.ts';
import { type Edges, shapeViolations } from './shape.ts';
import { type Import, importsOf } from './syntax.ts';
import { terminalOutputViolations } from './terminal-output.ts';
import { wordingViolations } from './wording.ts';

/** Source files by their path from src/, for example `engine/query.ts`. */
export type Sources = Readonly<Record<string, string>>;

/** The capabilities by rank: each may import those before it. */
const CAPABILITIES = [
  'git',
  'model',
  'extensions',
  'settings',
  'permissions',
  'sandbox',
  'tools',
  'lsp',
  'context',
  'prompt',
  'hooks',
  'checkpoints',
  'mcp',
  'ide',
  'session',
];
const BASE = ['contracts', 'lib'];

/** Each layer with the layers it may import besides itself. A folder of src/ that is not listed is a violation. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  lib: [],
  engine: BASE,
  ...Object.fromEntries(CAPABILITIES.map((name, rank) => [name, [...BASE, ...CAPABILITIES.slice(0, rank)]])),
  agent: [...BASE, ...CAPABILITIES, 'engine'],
  ui: BASE,
  app: [...BASE, ...CAPABILITIES, 'engine', 'agent'],
  sdk: [...BASE, ...CAPABILITIES, 'engine', 'agent'],
  /** The fleet starts ouro as separate processes, so it needs neither engine, agent nor app. */
  fleet: [...BASE, ...CAPABILITIES],
  'fleet/cli': [...BASE, ...CAPABILITIES, 'fleet', 'app', 'ui', 'cli'],
  eval: [...BASE, ...CAPABILITIES, 'fleet', 'fleet/cli', 'app', 'cli'],
  cli: [...BASE, ...CAPABILITIES, 'app', 'ui', 'fleet', 'fleet/cli', 'eval'],
};

const LINE_LIMIT = 300;
const ENTRY = 'cli/main.ts';
/** Packages the entry may load before it has read the arguments. */
const ENTRY_PACKAGES = ['commander'];
/** The imports that are data: the version, from outside src/, and the model catalogue. */
const DATA = ['../../package.json', './catalogue.jsonl'];
/** The files that may read the environment: one for the program, one for the library. */
const ENVIRONMENT_READERS = ['app/environment.ts', 'sdk/runtime.ts'];
/** Layers that also run in a browser, so they must not import Node modules. */
const BROWSER_LAYERS = ['contracts', 'engine', 'agent', 'context'];

/** Returns one sentence for each violation of the rules in the sources. */
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
    ...terminalOutputViolations(sources),
    ...knowledgeViolations(sources),
    ...wordingViolations(sources),
    ...shapeViolations(sources, edges, [...CAPABILITIES, 'engine', 'agent']),
  ];
}

function importViolations(path: string, text: string, sources: Sources): readonly string[] {
  const layer = layerOf(path);
  const allowed = LAYERS[layer];
  if (allowed === undefined) return [`${path}: "${layer}" is not a layer`];
  return importsOf(path, text).flatMap(({ kind, target }) => {
    if (target === undefined) return [`${path}: a dynamic import must name its file as plain text`];
    if (target.startsWith('node:') && BROWSER_LAYERS.includes(layer))
      return [`${path}: ${layer} imports ${target}, which browsers do not have`];
    if (!target.startsWith('.') || DATA.includes(target)) return [];
    const imported = resolve(path, target);
    if (sources[imported] === undefined) return [`${path}: "${target}" is not a source file with its extension`];
    const other = layerOf(imported);
    if (other === layer || allowed.includes(other)) return [];
    return [`${path}: ${layer} may not import ${other} (${kind} import of ${imported})`];
  });
}

function textViolations(path: string, text: string): readonly string[] {
  const code = withoutComments(text);
  const lines = text.trimEnd().split('\n').length;
  const rules: readonly (readonly [boolean, string])[] = [
    [lines > LINE_LIMIT, `has ${lines} lines, more than ${LINE_LIMIT}`],
    [/^\s*export\s+default\b|\bas\s+default\b/m.test(code), 'has a default export'],
    [
      !ENVIRONMENT_READERS.includes(path) && readsEnvironment(code),
      `reads the environment, which only ${ENVIRONMENT_READERS[0]} may`,
    ],
    [/@ts-(ignore|expect-error|nocheck)|biome-ignore/.test(text), 'suppresses a check'],
    [/\bTODO\b(?! ?\(?#\d+)/.test(text), 'has a TODO without an issue number'],
    [/\.unwrap\(\)\./.test(code), 'unwraps a schema, which creates a lazy one again; read _zod.innerType'],
    [/^(?:let|var)\s/m.test(code) || /^export\s+(?:let|var)\s/m.test(code), 'has mutable module state'],
  ];
  return rules.filter(([broken]) => broken).map(([, problem]) => `${path}: ${problem}`);
}

function withoutComments(text: string): string {
  return text.replace(/^\s*(\/\/|\/?\*).*$/gm, '').replace(/\s\/\/ .*$/gm, '');
}

function readsEnvironment(code: string): boolean {
  return /\bprocess\s*(\?\.|\.)\s*env\b|\benv\b[^=;]*\}\s*=\s*(globalThis\.)?process\b|\bprocess\[|\b(Bun|import\.meta)\.env\b|\benv\b[^;]*from ['"](node:)?process/.test(
    code,
  );
}

function nameViolations(path: string): readonly string[] {
  const name = basename(path);
  if (/^index\.tsx?$/.test(name)) return [`${path}: import the file itself, not an index`];
  const isNamed = /^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(name) || /^([A-Z][A-Za-z0-9]*|use(-[a-z0-9]+)+)\.tsx$/.test(name);
  return isNamed ? [] : [`${path}: files are kebab-case.ts, components PascalCase.tsx`];
}

function edgesOf(sources: Sources): Edges {
  return new Map(
    Object.entries(sources).map(([path, text]) => [path, importsOf(path, text).flatMap(within(path, sources))]),
  );
}

/** Reports each cycle once, from the file that is first in the alphabet. */
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

/** Reports packages that every start would load, `--version` included. */
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

function layerOf(path: string): string {
  return path.startsWith('fleet/cli/') ? 'fleet/cli' : (path.split('/')[0] ?? '');
}

const resolve = (path: string, target: string): string => normalize(join(dirname(path), target));
