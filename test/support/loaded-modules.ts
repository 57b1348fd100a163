import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';

const SRC = join(import.meta.dirname, '../../src');

/** All source files by their path in `src`. */
export const SOURCE_FILES: ReadonlySet<string> = new Set(
  readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path)),
);

type Options = {
  /** Is what is imported later loaded as well, or only what comes at once? */
  readonly until: 'at once' | 'later';
  /** Sources that are not gone into. */
  readonly without?: readonly string[];
};

/** Lists the source files and packages that are loaded with the given ones. */
export function listLoadedModules(from: readonly string[], { until, without = [] }: Options): ReadonlySet<string> {
  const seen = new Set<string>();
  const waiting = [...from];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path) || without.includes(path)) continue;
    seen.add(path);
    if (!SOURCE_FILES.has(path)) continue;
    const { atOnce, later } = importsOf(path);
    for (const target of until === 'later' ? [...atOnce, ...later] : atOnce)
      waiting.push(target.startsWith('.') ? normalize(join(dirname(path), target)) : target);
  }
  return seen;
}

type Imports = { readonly atOnce: readonly string[]; readonly later: readonly string[] };

const known = new Map<string, Imports>();

function importsOf(path: string): Imports {
  const read = known.get(path) ?? readImports(path);
  known.set(path, read);
  return read;
}

function readImports(path: string): Imports {
  const text = readFileSync(join(SRC, path), 'utf8');
  const { staticImports, staticExports, dynamicImports } = parseSync(basename(path), text).module;
  // Types are gone when it runs; an import of nothing is one for what it does.
  const loads = ({ entries }: { readonly entries: readonly { readonly isType: boolean }[] }) =>
    entries.length === 0 || entries.some(({ isType }) => !isType);
  const exported = staticExports.filter(loads).flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest));
  return {
    atOnce: [
      ...staticImports.filter(loads).map(({ moduleRequest }) => moduleRequest.value),
      ...exported.flatMap((request) => request?.value ?? []),
    ],
    later: dynamicImports.flatMap(({ moduleRequest: { start, end } }) => plainText(text.slice(start, end))),
  };
}

/** The content of a string literal. */
const plainText = (quoted: string): readonly string[] => /^(['"`])([^$]*)\1$/.exec(quoted)?.slice(2) ?? [];
