import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { parseFileUri } from '../lib/files/file-uri.ts';
import { isPathBelow } from '../lib/files/path-style.ts';
import { sanitizeUntrusted, sanitizeUntrustedLine } from '../lib/text/sanitize.ts';
import type { RunningLanguageServer } from './language-server.ts';
import type { LanguageServers } from './language-server-manager.ts';

/** A query about a position in a file, or about symbols; lines and columns start at 1. */
export type LanguageQuery = {
  readonly operation: keyof typeof METHODS;
  readonly path: string;
  readonly line: number;
  readonly character: number;
  readonly query: string;
};

const METHODS = {
  goToDefinition: 'textDocument/definition',
  goToImplementation: 'textDocument/implementation',
  findReferences: 'textDocument/references',
  hover: 'textDocument/hover',
  documentSymbol: 'textDocument/documentSymbol',
  workspaceSymbol: 'workspace/symbol',
  prepareCallHierarchy: 'textDocument/prepareCallHierarchy',
  incomingCalls: 'callHierarchy/incomingCalls',
  outgoingCalls: 'callHierarchy/outgoingCalls',
} as const;

const MAX_LINES = 100;
const NAME_CHARS = 200;
const HOVER_CHARS = 8_000;

/** Sends a query to the server for the file; returns lines for the model and throws when no server can answer. */
export async function runLanguageQuery(
  languages: LanguageServers,
  query: LanguageQuery,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const server = await openInLanguageServer(languages, query.path);
  const request = (method: string, params: JsonObject) => server.request(method, params, signal);
  const { operation } = query;
  const method = METHODS[operation];
  const textDocument = { uri: pathToFileURL(query.path).href };
  const position = { textDocument, position: { line: query.line - 1, character: query.character - 1 } };
  const formatUri = (uri: string) => formatPath(uri, languages.folder);
  switch (operation) {
    case 'hover':
      return formatHover(await request(method, position));
    case 'findReferences':
      return formatLocations(await request(method, { ...position, context: { includeDeclaration: true } }), formatUri);
    case 'documentSymbol':
      return formatSymbols(await request(method, { textDocument }), formatUri);
    case 'workspaceSymbol':
      return formatSymbols(await request(method, { query: query.query }), formatUri);
    case 'prepareCallHierarchy':
      return formatSymbols(await request(method, position), formatUri);
    case 'incomingCalls':
    case 'outgoingCalls': {
      const [item] = parseItems(await request(METHODS.prepareCallHierarchy, position));
      if (item === undefined) return [];
      const key = operation === 'incomingCalls' ? 'from' : 'to';
      const calls = parseItems(await request(method, { item }));
      return formatSymbols(
        calls.map((call) => call[key] ?? null),
        formatUri,
      );
    }
    default:
      return formatLocations(await request(method, position), formatUri);
  }
}

/** Opens a file, and returns the first of its servers that has not failed. */
export async function openInLanguageServer(languages: LanguageServers, path: string): Promise<RunningLanguageServer> {
  const servers = await languages.openFile(path, { isWrittenByOuro: false });
  const server = servers.find((candidate) => candidate.state() !== 'failed') ?? servers[0];
  if (server === undefined) throw new Error('no language server knows this file');
  return server;
}

const start = z.lazy(() => z.object({ start: z.object({ line: z.number(), character: z.number() }) }));
const location = z.lazy(() =>
  z.union([
    z.object({ uri: z.string(), range: start }),
    z
      .object({ targetUri: z.string(), targetSelectionRange: start })
      .transform(({ targetUri, targetSelectionRange }) => ({ uri: targetUri, range: targetSelectionRange })),
  ]),
);

function parseItems(value: JsonValue): readonly JsonObject[] {
  return z.array(z.record(z.string(), z.json())).catch([]).parse(value);
}

function formatLocations(value: JsonValue, formatUri: (uri: string) => string): readonly string[] {
  const lines = (Array.isArray(value) ? value : [value]).flatMap((item) => {
    const parsed = location.safeParse(item);
    return parsed.success ? [formatPosition(formatUri(parsed.data.uri), parsed.data.range)] : [];
  });
  return limitLines([...new Set(lines)]);
}

const formatPosition = (name: string, { start: { line, character } }: z.output<typeof start>) =>
  `${name}:${line + 1}:${character + 1}`;

/** Formats a URI as a path, relative to the folder when it is inside. */
function formatPath(uri: string, folder: string): string {
  const path = parseFileUri(uri) ?? uri;
  return sanitizeUntrustedLine(isPathBelow(folder, path) ? relative(folder, path) : path, NAME_CHARS);
}

/** Symbol kinds of the protocol, in order of their numbers from 1. */
const SYMBOL_KINDS =
  'file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null member struct event operator type-parameter'.split(
    ' ',
  );

const symbol = z.lazy(() =>
  z.looseObject({
    name: z.string(),
    kind: z.number(),
    detail: z.string().nullish(),
    containerName: z.string().nullish(),
    uri: z.string().optional(),
    range: start.optional(),
    selectionRange: start.optional(),
    location: z.looseObject({ uri: z.string(), range: start.optional() }).optional(),
    children: z.array(z.json()).optional(),
  }),
);

/** Formats symbols and call items one per line; children follow their parent, indented. */
function formatSymbols(value: JsonValue, formatUri: (uri: string) => string): readonly string[] {
  const lines: string[] = [];
  const add = (item: JsonValue, depth: number): void => {
    const parsed = symbol.safeParse(item);
    if (!parsed.success) return;
    const { name, kind, detail, containerName, location: symbolLocation, children = [] } = parsed.data;
    const uri = parsed.data.uri ?? symbolLocation?.uri;
    const range = parsed.data.selectionRange ?? symbolLocation?.range ?? parsed.data.range;
    const file = uri === undefined ? 'line' : formatUri(uri);
    const position = range === undefined ? file : formatPosition(file, range);
    const details = [detail, containerName === '' ? undefined : containerName].filter(
      (text) => typeof text === 'string',
    );
    const label = [SYMBOL_KINDS[kind - 1] ?? 'symbol', name, ...details].join(' ');
    lines.push(`${'  '.repeat(depth)}${sanitizeUntrustedLine(label, NAME_CHARS)} (${position})`);
    for (const child of children) add(child, depth + 1);
  };
  for (const item of Array.isArray(value) ? value : []) add(item, 0);
  return limitLines(lines);
}

/** Cuts a long list and adds the number of omitted lines. */
function limitLines(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), `[and ${lines.length - MAX_LINES} more]`];
}

const markedString = z.lazy(() =>
  z.union([z.string(), z.looseObject({ value: z.string() }).transform(({ value }) => value)]),
);
const hover = z.looseObject({ contents: z.union([markedString, z.array(markedString)]) });

function formatHover(value: JsonValue): readonly string[] {
  const parsed = hover.safeParse(value);
  if (!parsed.success) return [];
  const { contents } = parsed.data;
  const text = (typeof contents === 'string' ? [contents] : contents).join('\n').trim();
  return text === '' ? [] : [sanitizeUntrusted(text).slice(0, HOVER_CHARS).toWellFormed()];
}
