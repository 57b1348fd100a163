import { basename } from 'node:path/posix';
import { contractHomes } from './contract-homes.ts';
import { KNOWLEDGE_RULES } from './knowledge.ts';
import { networkViolations } from './network.ts';
import { type Edges, SHAPE_RULES } from './shape.ts';
import { isPackaged, packageOf, resolveImport, type Sources } from './sources.ts';
import { type Import, importsOf } from './syntax.ts';
import { TERMINAL_OUTPUT_RULES } from './terminal-output.ts';
import { WORDING_RULES } from './wording.ts';

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
  /** Shared parts of the commands of the command line: flags, streams, exit codes, shutdown. */
  command: [...BASE, 'ui'],
  /** Parts that the core offers to packages. */
  exports: [...BASE, ...CAPABILITIES, 'app', 'ui', 'command'],
  'packages/fleet': ['exports'],
  'packages/import': ['exports'],
  'packages/eval': ['exports', 'packages/fleet'],
  cli: [...BASE, ...CAPABILITIES, 'app', 'ui', 'command'],
};

/** The table of commands: the only file of the core that names packages, whose code it loads on demand. */
const COMMAND_TABLE = 'cli/packages.ts';

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

/** Returns one sentence for each violation of a rule in the sources. */
export type Rule = (sources: Sources) => readonly string[];

/** Returns what is wrong with a file, if anything is. The code is the text without comments. */
type TextRule = (text: string, code: string, path: string) => string | false;

const TEXT_RULES: Readonly<Record<string, TextRule>> = {
  'no file is too long': (text) => {
    const lines = text.trimEnd().split('\n').length;
    return lines > LINE_LIMIT && `has ${lines} lines, more than ${LINE_LIMIT}`;
  },
  'exports are named': (_, code) => /^\s*export\s+default\b|\bas\s+default\b/m.test(code) && 'has a default export',
  'one file reads the environment': (_, code, path) =>
    !ENVIRONMENT_READERS.includes(path) &&
    readsEnvironment(code) &&
    `reads the environment, which only ${ENVIRONMENT_READERS[0]} may`,
  'no check is suppressed': (text) =>
    /@ts-(ignore|expect-error|nocheck)|biome-ignore/.test(text) && 'suppresses a check',
  'a TODO has an issue number': (text) => /\bTODO\b(?! ?\(?#\d+)/.test(text) && 'has a TODO without an issue number',
  'no schema is unwrapped': (_, code) =>
    /\.unwrap\(\)\./.test(code) && 'unwraps a schema, which creates a lazy one again; read _zod.innerType',
  'modules have no mutable state': (_, code) =>
    (/^(?:let|var)\s/m.test(code) || /^export\s+(?:let|var)\s/m.test(code)) && 'has mutable module state',
};

const INDEX = /^index\.tsx?$/;

/** Returns what is wrong with an import, if anything is. */
type ImportRule = (path: string, edge: Import, sources: Sources) => string | false;

const IMPORT_RULES: Readonly<Record<string, ImportRule>> = {
  'a layer imports only the layers below it': (path, { kind, target }, sources) => {
    const layer = layerOf(path);
    const imported = resolveImport(path, target ?? '');
    if (!isOwnFile(target) || sources[imported] === undefined) return false;
    const other = layerOf(imported);
    const isCommand = path === COMMAND_TABLE && kind === 'dynamic' && isPackaged(imported);
    const isAllowed = other === layer || isCommand || LAYERS[layer]?.includes(other) !== false;
    return !isAllowed && `${layer} may not import ${other} (${kind} import of ${imported})`;
  },
  'a package imports others by their public exports': (path, { target = '' }) =>
    isPackaged(path) &&
    target.startsWith('.') &&
    packageOf(resolveImport(path, target)) !== packageOf(path) &&
    `"${target}" is not in ${packageOf(path)}; import a public export by its name`,
  'a dynamic import names its file': (_, { target }) =>
    target === undefined && 'a dynamic import must name its file as plain text',
  'what runs in browsers imports no Node modules': (path, { target }) =>
    target?.startsWith('node:') === true &&
    BROWSER_LAYERS.includes(layerOf(path)) &&
    `${layerOf(path)} imports ${target}, which browsers do not have`,
  'imports name source files with their extensions': (path, { target }, sources) =>
    isOwnFile(target) &&
    sources[resolveImport(path, target ?? '')] === undefined &&
    `"${target}" is not a source file with its extension`,
};

/** The rules of the source tree, by the fact that each of them keeps. */
export const RULES: Readonly<Record<string, Rule>> = {
  ...mapValues(
    IMPORT_RULES,
    (problemOf) => (sources) =>
      Object.entries(sources).flatMap(([path, text]) =>
        importsOf(path, text).flatMap((one) => {
          const problem = problemOf(path, one, sources);
          return problem === false ? [] : [`${path}: ${problem}`];
        }),
      ),
  ),
  'every folder of src is a layer, and so is every package': (sources) =>
    Object.keys(sources)
      .filter((path) => LAYERS[layerOf(path)] === undefined)
      .map((path) => `${path}: "${layerOf(path)}" is not a layer`),
  ...mapValues(
    TEXT_RULES,
    (problemOf) => (sources) =>
      Object.entries(sources).flatMap(([path, text]) => {
        const problem = problemOf(text, withoutComments(text), path);
        return problem === false ? [] : [`${path}: ${problem}`];
      }),
  ),
  'no file is an index': (sources) =>
    Object.keys(sources)
      .filter((path) => INDEX.test(basename(path)))
      .map((path) => `${path}: import the file itself, not an index`),
  'files are named by kind': (sources) =>
    Object.keys(sources)
      .filter((path) => !INDEX.test(basename(path)) && !isNamedByKind(basename(path)))
      .map((path) => `${path}: files are kebab-case.ts, components PascalCase.tsx`),
  'no imports form a cycle': (sources) => cycles(sources, edgesOf(sources)),
  'the entry loads only what every start needs': entryViolations,
  ...TERMINAL_OUTPUT_RULES,
  'requests to this machine take no proxy': networkViolations,
  'contracts/ has what two rooms share': contractHomes,
  ...KNOWLEDGE_RULES,
  ...WORDING_RULES,
  ...mapValues(
    SHAPE_RULES,
    (violationsOf) => (sources) => violationsOf(sources, edgesOf(sources), [...CAPABILITIES, 'engine', 'agent']),
  ),
};

function mapValues<T>(record: Readonly<Record<string, T>>, toRule: (value: T) => Rule): Readonly<Record<string, Rule>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, toRule(value)]));
}

/** Returns one sentence for each violation of any rule. */
export function violations(sources: Sources): readonly string[] {
  return Object.values(RULES).flatMap((violationsOf) => violationsOf(sources));
}

function withoutComments(text: string): string {
  return text.replace(/^\s*(\/\/|\/?\*).*$/gm, '').replace(/\s\/\/ .*$/gm, '');
}

function readsEnvironment(code: string): boolean {
  return /\bprocess\s*(\?\.|\.)\s*env\b|\benv\b[^=;]*\}\s*=\s*(globalThis\.)?process\b|\bprocess\[|\b(Bun|import\.meta)\.env\b|\benv\b[^;]*from ['"](node:)?process/.test(
    code,
  );
}

function isNamedByKind(name: string): boolean {
  return /^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(name) || /^([A-Z][A-Za-z0-9]*|use(-[a-z0-9]+)+)\.tsx$/.test(name);
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
    const imported = isOwnFile(target) ? resolveImport(path, target ?? '') : undefined;
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
  return isPackaged(path) ? packageOf(path) : (path.split('/')[0] ?? '');
}

const isOwnFile = (target = ''): boolean =>
  (target.startsWith('.') && !DATA.includes(target)) || /^@ouro-cli\//.test(target);
