import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { untrustedLine, untrustedText } from '../lib/text/sanitize.ts';
import type { Languages } from './languages.ts';
import { pathOf } from './problems.ts';

/** What can be asked of a place in a file. Lines and columns begin with 1. */
export type LookUp = {
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

const MOST_PLACES = 100;
const NAME_CHARS = 200;
const HOVER_CHARS = 8_000;

/** Asks the server that knows the file. Answers in lines for the model; throws a sentence when nobody can answer. */
export async function lookUp(languages: Languages, wanted: LookUp, signal: AbortSignal): Promise<readonly string[]> {
  const knowing = await languages.show(wanted.path, { isOurs: false });
  const server = knowing.find((one) => one.state() !== 'failed') ?? knowing[0];
  if (server === undefined) throw new Error('no language server knows this file');
  const ask = (method: string, params: JsonObject) => server.request(method, params, signal);
  const { operation } = wanted;
  const method = METHODS[operation];
  const textDocument = { uri: pathToFileURL(wanted.path).href };
  const at = { textDocument, position: { line: wanted.line - 1, character: wanted.character - 1 } };
  const written = (uri: string) => placeName(uri, languages.folder);
  switch (operation) {
    case 'hover':
      return hoverLines(await ask(method, at));
    case 'findReferences':
      return placeLines(await ask(method, { ...at, context: { includeDeclaration: true } }), written);
    case 'documentSymbol':
      return symbolLines(await ask(method, { textDocument }), written);
    case 'workspaceSymbol':
      return symbolLines(await ask(method, { query: wanted.query }), written);
    case 'prepareCallHierarchy':
      return symbolLines(await ask(method, at), written);
    case 'incomingCalls':
    case 'outgoingCalls': {
      const [item] = items(await ask(METHODS.prepareCallHierarchy, at));
      if (item === undefined) return [];
      const key = operation === 'incomingCalls' ? 'from' : 'to';
      const calls = items(await ask(method, { item }));
      return symbolLines(
        calls.map((call) => call[key] ?? null),
        written,
      );
    }
    default:
      return placeLines(await ask(method, at), written);
  }
}

const start = z.object({ start: z.object({ line: z.number(), character: z.number() }) });
const place = z.union([
  z.object({ uri: z.string(), range: start }),
  z
    .object({ targetUri: z.string(), targetSelectionRange: start })
    .transform(({ targetUri, targetSelectionRange }) => ({ uri: targetUri, range: targetSelectionRange })),
]);

function items(value: JsonValue): readonly JsonObject[] {
  return z.array(z.record(z.string(), z.json())).catch([]).parse(value);
}

function placeLines(value: JsonValue, written: (uri: string) => string): readonly string[] {
  const found = (Array.isArray(value) ? value : [value]).flatMap((one) => {
    const parsed = place.safeParse(one);
    return parsed.success ? [lineAt(written(parsed.data.uri), parsed.data.range)] : [];
  });
  return cut([...new Set(found)]);
}

const lineAt = (name: string, { start: { line, character } }: z.output<typeof start>) =>
  `${name}:${line + 1}:${character + 1}`;

function placeName(uri: string, folder: string): string {
  const path = pathOf(uri) ?? uri;
  const way = relative(folder, path);
  return untrustedLine(way.startsWith('..') ? path : way, NAME_CHARS);
}

/** The kinds of the protocol, by their number. */
const KINDS =
  'file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null member struct event operator type-parameter'.split(
    ' ',
  );

const symbol = z.looseObject({
  name: z.string(),
  kind: z.number(),
  detail: z.string().nullish(),
  containerName: z.string().nullish(),
  uri: z.string().optional(),
  range: start.optional(),
  selectionRange: start.optional(),
  location: z.looseObject({ uri: z.string(), range: start.optional() }).optional(),
  children: z.array(z.json()).optional(),
});

/** Symbols of files and of calls, those within others behind them and further in. */
function symbolLines(value: JsonValue, written: (uri: string) => string): readonly string[] {
  const lines: string[] = [];
  const add = (one: JsonValue, depth: number): void => {
    const parsed = symbol.safeParse(one);
    if (!parsed.success) return;
    const { name, kind, detail, containerName, location, children = [] } = parsed.data;
    const uri = parsed.data.uri ?? location?.uri;
    const range = parsed.data.selectionRange ?? location?.range ?? parsed.data.range;
    const file = uri === undefined ? 'line' : written(uri);
    const where = range === undefined ? file : lineAt(file, range);
    const about = [detail, containerName === '' ? undefined : containerName].filter((text) => typeof text === 'string');
    const words = [KINDS[kind - 1] ?? 'symbol', name, ...about].join(' ');
    lines.push(`${'  '.repeat(depth)}${untrustedLine(words, NAME_CHARS)} (${where})`);
    for (const child of children) add(child, depth + 1);
  };
  for (const one of Array.isArray(value) ? value : []) add(one, 0);
  return cut(lines);
}

function cut(lines: readonly string[]): readonly string[] {
  if (lines.length <= MOST_PLACES) return lines;
  return [...lines.slice(0, MOST_PLACES), `[and ${lines.length - MOST_PLACES} more]`];
}

const marked = z.union([z.string(), z.looseObject({ value: z.string() }).transform(({ value }) => value)]);
const hover = z.looseObject({ contents: z.union([marked, z.array(marked)]) });

function hoverLines(value: JsonValue): readonly string[] {
  const parsed = hover.safeParse(value);
  if (!parsed.success) return [];
  const { contents } = parsed.data;
  const text = (typeof contents === 'string' ? [contents] : contents).join('\n').trim();
  return text === '' ? [] : [untrustedText(text).slice(0, HOVER_CHARS).toWellFormed()];
}
