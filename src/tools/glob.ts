import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../contracts/json.ts';
import { type Tool, ToolFailure, type ToolOutcome } from '../contracts/tool.ts';
import { hasTooManyWildcards, MAX_WILDCARDS } from '../lib/patterns/glob.ts';
import { formatCount } from '../lib/text/format.ts';
import { buildTool } from './definition/build-tool.ts';
import {
  acceptOnlyArgumentValues,
  type BuiltInToolTraits,
  defineToolTraits,
  FOLDER_PATH_SYNONYMS,
  joinGlobAlternatives,
} from './input/call-forms.ts';
import { compileGlob } from './search/globs.ts';
import {
  compareText,
  describeExcludedMounts,
  resolveSearchRoot,
  type SearchChunkHandler,
  type SearchDeps,
} from './search/search-backend.ts';

import { getSearchPermissionFacts } from './tool-facts.ts';

const GLOB_PROMPT =
  'Finds files by name, grouped by folder, leaving out what .gitignore names. A pattern without a slash matches at any depth.';

const input = z.strictObject({
  pattern: z.string().min(1),
  path: z.string().optional().describe('Directory to search'),
});

const MAX_SHOWN = 100;
// Sorting more files by age would take longer than finding them.
const MAX_SORTED = 10_000;

/** The traits of the Glob tool. */
export const globTraits: BuiltInToolTraits = defineToolTraits({
  name: 'Glob',
  facts: getSearchPermissionFacts,
  mainInput: 'pattern',
  result: 'repeatable',
  served: 'reads',
  forms: {
    example: 'Glob{pattern:"src/**/*.ts"}',
    names: ['find_files', 'file_search', 'glob_file_search', 'glob_files', 'find', 'find_by_name', 'find_path'],
    synonyms: {
      pattern: ['glob', 'glob_pattern', 'file_pattern', 'include', 'include_pattern', 'patterns'],
      path: FOLDER_PATH_SYNONYMS,
      query: ['name', 'filename'],
    },
    conversions: {
      // A search by name finds parts of names.
      query: (query) => ({ set: { pattern: /[*?[{/]/.test(String(query)) ? query : `*${String(query)}*` } }),
      pattern: (pattern) => ({ set: { pattern: Array.isArray(pattern) ? joinGlobAlternatives(pattern) : pattern } }),
      respect_git_ignore: acceptOnlyArgumentValues(
        'Glob leaves out what .gitignore names. Use Bash (find) to see it.',
        true,
      ),
      no_ignore: acceptOnlyArgumentValues('Glob leaves out what .gitignore names. Use Bash (find) to see it.', false),
    },
    ignored: ['case_sensitive', 'limit', 'head_limit', 'max_results', 'explanation', 'sort', 'recursive', 'type'],
  },
});

/** Creates the Glob tool, which finds files by name. */
export function createGlobTool(deps: SearchDeps): Tool {
  return buildTool({
    ...globTraits,
    prompt: GLOB_PROMPT,
    input,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    prepareArguments: splitPattern,
    title: ({ pattern, path }) => `Glob ${pattern}${path === undefined ? '' : ` in ${path}`}`,
    async call({ pattern, path }, { cwd, signal }) {
      if (pattern.split('/').includes('..'))
        throw new ToolFailure('The pattern may not hold `..`; give the directory in path.');
      if (hasTooManyWildcards(pattern))
        throw new ToolFailure(`The pattern has more than ${MAX_WILDCARDS} stars and brackets. Use a simpler one.`);
      const startedAt = performance.now();
      const { root, prefix, file } = await resolveSearchRoot(path, { cwd, home: deps.home });
      if (file !== undefined) throw new ToolFailure(`${path} is a file. Give a directory in path.`);
      const matches = compileGlob(pattern);
      const found: string[] = [];
      await deps.locator.listFiles(
        { root, excluded: deps.excluded() },
        splitChunks((line) => matches(line) && found.push(line)),
        signal,
      );
      const sorted = found.length > MAX_SORTED ? found : await sortByMtime(root, found, signal);
      return buildOutcome(
        sorted.slice(0, MAX_SHOWN).map((name) => prefix + name),
        found.length,
        performance.now() - startedAt,
        describeExcludedMounts(root, deps.listHungMounts?.()),
      );
    },
  });
}

function buildOutcome(newest: readonly string[], total: number, durationMs: number, leftOut: string): ToolOutcome {
  const shown = newest.toSorted(compareFolders);
  const omitted = total - shown.length;
  const choice = total > MAX_SORTED ? 'some' : 'the newest';
  const note =
    omitted === 0
      ? []
      : [
          '',
          `[${omitted} more of ${total} files left out; shown are ${choice} ${shown.length}. Narrow the pattern or the path.]`,
        ];
  const missing = leftOut === '' ? [] : ['', `[${leftOut}]`];
  return {
    content: [...(total === 0 ? ['No files match.'] : groupByFolder(shown)), ...note, ...missing].join('\n'),
    display: { kind: 'list', summary: formatCount(total, 'file'), items: shown, total },
    structured: { filenames: shown, numFiles: total, truncated: omitted > 0, durationMs: Math.round(durationMs) },
  };
}

/** Compares by folder, then by name, so that the files of a folder stand before its subfolders. */
function compareFolders(a: string, b: string): number {
  return compareText(path.dirname(a), path.dirname(b)) || compareText(a, b);
}

/** Writes a folder with several files once, with their names indented below it. */
function groupByFolder(files: readonly string[]): readonly string[] {
  // Not `Map.groupBy`, which Node 20 lacks.
  const folders = new Map<string, string[]>();
  for (const file of files) {
    const members = folders.get(path.dirname(file));
    if (members === undefined) folders.set(path.dirname(file), [file]);
    else members.push(file);
  }
  return [...folders].flatMap(([folder, members]) =>
    folder === '.' || members.length === 1
      ? members
      : [`${folder.replace(/\/$/, '')}/`, ...members.map((file) => `  ${path.basename(file)}`)],
  );
}

/** Creates a chunk handler that passes on each complete line. */
function splitChunks(onLine: (line: string) => unknown): SearchChunkHandler {
  let partialLine = '';
  return (chunk) => {
    const text = partialLine + chunk;
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      onLine(text.slice(from, end));
      from = end + 1;
    }
    partialLine = text.slice(from);
    return 'more';
  };
}

const STAT_BATCH = 256;

/** Sorts paths by modification time, newest first, then by name. */
async function sortByMtime(root: string, files: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  const withMtime: { readonly file: string; readonly mtimeMs: number }[] = [];
  for (let from = 0; from < files.length; from += STAT_BATCH) {
    signal.throwIfAborted();
    const batch = files
      .slice(from, from + STAT_BATCH)
      .map(async (file) => ({ file, mtimeMs: await readMtime(path.join(root, file)) }));
    withMtime.push(...(await Promise.all(batch)));
  }
  withMtime.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.file < b.file ? -1 : 1));
  return withMtime.map(({ file }) => file);
}

async function readMtime(file: string): Promise<number> {
  return lstat(file).then(
    (facts) => facts.mtimeMs,
    () => 0,
  );
}

/** Moves the fixed start of a pattern that leaves the folder into `path`, which permissions check. */
function splitPattern(input: JsonObject): JsonObject {
  const { pattern } = input;
  if (typeof pattern !== 'string' || !/^(\/|~\/|\.\.\/)/.test(pattern)) return input;
  if (pattern.startsWith('../') && input.path !== undefined) return input;
  const segments = pattern.split('/');
  const firstWildcard = segments.findIndex((part) => /[*?[{]/.test(part));
  const split = firstWildcard === -1 ? segments.length - 1 : firstWildcard;
  return { ...input, path: segments.slice(0, split).join('/') || '/', pattern: segments.slice(split).join('/') };
}
