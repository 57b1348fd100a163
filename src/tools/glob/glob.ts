import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.ts';
import type { ToolStatement } from '../../contracts/permission.ts';
import { type Tool, ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { hasManyWildcards, MAX_WILDCARDS } from '../../lib/patterns/glob.ts';
import { formatCount } from '../../lib/text/format.ts';
import { buildTool } from '../build-tool.ts';
import { repairArguments } from '../file-arguments.ts';
import { compileGlob } from '../search/glob-pattern.ts';
import type { Locator, Taker } from '../search/locator.ts';
import { searchRoot } from '../search/search-root.ts';
import { searchFacts } from '../stated-facts.ts';

const GLOB_PROMPT = `Finds files by name, newest first, leaving out what .gitignore names. Patterns like \`**/*.ts\` or \`src/**/*.{js,ts}\`; one without a slash matches names at any depth.`;

const input = z.object({
  pattern: z.string().min(1).describe('Glob pattern'),
  path: z.string().optional().describe('Directory to search, by default the current one'),
});

const MAX_SHOWN = 100;
// Looking at more files than this for their age would take longer than finding them.
const MAX_DATED = 10_000;

export type SearchParts = {
  readonly locator: Locator;
  readonly home: string;
  /** What may not be read: absolute paths, or globs in the manner of .gitignore. Asked at every call. */
  readonly excluded: () => readonly string[];
};

/** What it says of itself to those who decide about its calls. */
export const globStatement: ToolStatement = {
  name: 'Glob',
  facts: searchFacts,
  mainInput: 'pattern',
  result: 'repeatable',
  served: 'reads',
};

/** Finds files by name. */
export function createGlobTool(parts: SearchParts): Tool {
  return buildTool({
    ...globStatement,
    prompt: GLOB_PROMPT,
    input,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    prepareArguments: (raw) => splitPattern(repairArguments(raw, {})),
    title: ({ pattern, path }) => `Glob ${pattern}${path === undefined ? '' : ` in ${path}`}`,
    async call({ pattern, path }, { cwd, signal }) {
      if (pattern.split('/').includes('..'))
        throw new ToolFailure('The pattern may not hold `..`; give the directory in path.');
      if (hasManyWildcards(pattern))
        throw new ToolFailure(`The pattern has more than ${MAX_WILDCARDS} stars and brackets. Use a simpler one.`);
      const startedAt = performance.now();
      const { root, prefix, file } = await searchRoot(path, { cwd, home: parts.home });
      if (file !== undefined) throw new ToolFailure(`${path} is a file. Give a directory in path.`);
      const matches = compileGlob(pattern);
      const found: string[] = [];
      await parts.locator.listFiles(
        { root, excluded: parts.excluded() },
        eachLine((line) => matches(line) && found.push(line)),
        signal,
      );
      const sorted = found.length > MAX_DATED ? found : await newestFirst(root, found, signal);
      return report(
        sorted.slice(0, MAX_SHOWN).map((name) => prefix + name),
        found.length,
        performance.now() - startedAt,
      );
    },
  });
}

function report(shown: readonly string[], total: number, durationMs: number): ToolOutcome {
  const left = total - shown.length;
  const order = total > MAX_DATED ? 'in no order, there are too many to sort by age' : 'the newest';
  const note =
    left === 0
      ? []
      : [
          '',
          `[${left} more of ${total} files left out; shown are ${shown.length}, ${order}. Narrow the pattern or the path.]`,
        ];
  return {
    content: total === 0 ? 'No files match.' : [...shown, ...note].join('\n'),
    display: { kind: 'list', summary: formatCount(total, 'file'), items: shown, total },
    structured: { filenames: shown, numFiles: total, truncated: left > 0, durationMs: Math.round(durationMs) },
  };
}

/** Cuts the stream into lines; what is not wanted costs no more than its own piece of text. */
function eachLine(take: (line: string) => unknown): Taker {
  let rest = '';
  return (chunk) => {
    const text = rest + chunk;
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      take(text.slice(from, end));
      from = end + 1;
    }
    rest = text.slice(from);
    return 'more';
  };
}

const AT_ONCE = 256;

/** The paths by their time of change, the newest first; equal times by name. */
async function newestFirst(root: string, files: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  const dated: { readonly file: string; readonly mtimeMs: number }[] = [];
  for (let from = 0; from < files.length; from += AT_ONCE) {
    signal.throwIfAborted();
    const batch = files
      .slice(from, from + AT_ONCE)
      .map(async (file) => ({ file, mtimeMs: await changedAt(path.join(root, file)) }));
    dated.push(...(await Promise.all(batch)));
  }
  dated.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.file < b.file ? -1 : 1));
  return dated.map(({ file }) => file);
}

async function changedAt(file: string): Promise<number> {
  return lstat(file).then(
    (facts) => facts.mtimeMs,
    () => 0,
  );
}

/** Moves the fixed beginning of a pattern that points elsewhere into `path`, where permissions look at it. */
function splitPattern(input: JsonObject): JsonObject {
  const { pattern } = input;
  if (typeof pattern !== 'string' || !/^(\/|~\/|\.\.\/)/.test(pattern)) return input;
  if (pattern.startsWith('../') && input.path !== undefined) return input;
  const parts = pattern.split('/');
  const firstGlob = parts.findIndex((part) => /[*?[{]/.test(part));
  const split = firstGlob === -1 ? parts.length - 1 : firstGlob;
  return { ...input, path: parts.slice(0, split).join('/') || '/', pattern: parts.slice(split).join('/') };
}
