import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import type { z } from 'zod';
import type { Settings, SettingsLayer, SettingsProblem, SettingsSource } from '../contracts/settings.ts';
import { nearest } from '../lib/nearest.ts';
import { settingsSchema } from './schema.ts';

/** What came of one file: what could be used, and a sentence for everything that could not. */
export type ReadLayer = { readonly layer: SettingsLayer; readonly problems: readonly SettingsProblem[] };

/** Reads a settings text. A bad value loses its key, never the file; a file that is no JSON object loses all. */
export function readLayer(text: string, file: string, source: SettingsSource): ReadLayer {
  const errors: ParseError[] = [];
  const tree = parseTree(text.replace(/^\uFEFF/, ''), errors, { allowTrailingComma: true });
  const lineAt = lineFinder(text);
  const lineOf = (path: readonly (string | number)[]) => {
    const node = tree && findNodeAtLocation(tree, [...path]);
    return node && lineAt(node.offset);
  };
  const problem = (line: number | undefined, words: string): SettingsProblem => ({ file, source, line, text: words });
  const empty = { source, file, settings: {}, lineOf };
  if (text.trim() === '') return { layer: empty, problems: [] };
  const broken = errors[0];
  if (broken !== undefined || tree?.type !== 'object') {
    const what = broken === undefined ? 'it must be one JSON object' : readable(printParseErrorCode(broken.error));
    return {
      layer: empty,
      problems: [problem(lineAt(broken?.offset ?? 0), `is not valid: ${what}. Nothing in it is used.`)],
    };
  }
  const { settings, problems } = usable(tree, getNodeValue(tree), (path, words) => problem(lineOf(path), words));
  return { layer: { source, file, settings, lineOf }, problems };
}

/** Drops what does not fit, innermost first, until the rest does. */
function usable(
  tree: Node,
  value: unknown,
  problem: (path: readonly (string | number)[], words: string) => SettingsProblem,
): { settings: Settings; problems: readonly SettingsProblem[] } {
  const problems: SettingsProblem[] = [];
  let current: unknown = value;
  for (let round = 0; round < 20; round += 1) {
    const parsed = settingsSchema.safeParse(current);
    if (parsed.success) return { settings: parsed.data, problems };
    for (const issue of parsed.error.issues) {
      for (const { path, words } of complaints(issue)) {
        problems.push(problem(existing(tree, path), words));
        current = without(current, path);
      }
    }
  }
  return { settings: {}, problems };
}

type Complaint = { readonly path: readonly (string | number)[]; readonly words: string };

function complaints(issue: z.core.$ZodIssue): readonly Complaint[] {
  const path = issue.path.filter((part): part is string | number => typeof part !== 'symbol');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const known = path.length === 0 ? nearest(key, Object.keys(settingsSchema.shape)) : undefined;
      const hint = known === undefined ? '' : ` Did you mean "${known}"?`;
      return { path: [...path, key], words: `has an unknown key "${[...path, key].join('.')}".${hint}` };
    });
  }
  const name = path.length === 0 ? 'the file' : `"${path.join('.')}"`;
  // A bad rule in a list loses only itself; anything else loses its key.
  return [{ path, words: `${name}: ${issue.message}. It is not used.` }];
}

function existing(tree: Node, path: readonly (string | number)[]): readonly (string | number)[] {
  for (let length = path.length; length > 0; length -= 1) {
    if (findNodeAtLocation(tree, [...path.slice(0, length)])) return path.slice(0, length);
  }
  return [];
}

function without(value: unknown, [head, ...rest]: readonly (string | number)[]): unknown {
  if (head === undefined || typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    return rest.length === 0
      ? value.filter((_, at) => at !== head)
      : value.map((item, at) => (at === head ? without(item, rest) : item));
  }
  const entries = Object.entries(value);
  return Object.fromEntries(
    rest.length === 0
      ? entries.filter(([key]) => key !== head)
      : entries.map(([key, inner]) => [key, key === head ? without(inner, rest) : inner]),
  );
}

function lineFinder(text: string): (offset: number) => number {
  return (offset) => text.slice(0, offset).split('\n').length;
}

function readable(code: string): string {
  return code.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}
