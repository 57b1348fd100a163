import { basename } from 'node:path';
import { parseSync } from 'oxc-parser';
import { readSources, resolveImport } from '../architecture/sources.ts';

/** All source files: by their path in `src`, and those of packages from the root. */
const SOURCES = readSources();
export const SOURCE_FILES: ReadonlySet<string> = new Set(Object.keys(SOURCES));

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
      waiting.push(/^(?:\.|@ouro-cli\/)/.test(target) ? resolveImport(path, target) : target);
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
  const text = SOURCES[path] ?? '';
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
