import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { ToolFailure } from '../../contracts/tool.ts';
import { ignoreMissingFile } from '../../lib/errors.ts';
import { MOUNT_NOT_ANSWERING } from '../../lib/files/mount-health.ts';
import { isPathBelow } from '../../lib/files/path-style.ts';
import { resolveToolPath } from '../tool-facts.ts';

/** The files that a search covers. */
type Scope = {
  /** Directory to search; result paths are relative to it. */
  readonly root: string;
  /** Absolute paths and .gitignore-style globs that are never entered or read. */
  readonly excluded: readonly string[];
};

type FileQuery = Scope & {
  /** Includes files that ignore files exclude. */
  readonly ignored?: 'listed';
};

/** A search for text in files. */
export type TextQuery = Scope & {
  readonly pattern: string;
  readonly mode: 'content' | 'files_with_matches' | 'count';
  /** Single file of the root to search. */
  readonly file?: string;
  readonly glob?: string;
  readonly type?: string;
  readonly before: number;
  readonly after: number;
  readonly lineNumbers: 'shown' | 'hidden';
  readonly letters: 'exact' | 'any_case';
  readonly span: 'line' | 'multiline';
};

/** The pattern of a search is not a valid regular expression. */
export class InvalidPattern extends ToolFailure {}

/** Receives output as it arrives; returns `enough` to stop the search. */
export type SearchChunkHandler = (text: string) => 'more' | 'enough';

/**
 * A search backend. `listFiles` outputs one path per line. `search` outputs records in the format of `rg --null`:
 * `path NUL` followed by the line or the count; in `files_with_matches` mode nothing follows, not even a newline.
 */
export type FileSearchBackend = {
  readonly name: string;
  listFiles(query: FileQuery, take: SearchChunkHandler, signal: AbortSignal): Promise<void>;
  search(query: TextQuery, take: SearchChunkHandler, signal: AbortSignal): Promise<void>;
};

/** Dependencies of the search tools. */
export type SearchDeps = {
  readonly locator: FileSearchBackend;
  readonly home: string;
  /** Returns the paths and .gitignore-style globs that may not be read; called for every search. */
  readonly excluded: () => readonly string[];
  /** Returns the mounts that did not answer and were left out. */
  readonly listHungMounts?: () => readonly string[];
  /** Called with the real paths of files whose lines were shown to the model. */
  readonly onShown?: (files: readonly string[], callId: string) => Promise<void>;
};

/** A resolved search root; `file` is set to search a single file. */
type SearchRoot = { readonly root: string; readonly file?: string; readonly prefix: string };

/** Returns the note for the model about mounts that were left out of a search; empty without any. */
export function describeExcludedMounts(root: string, mounts: readonly string[] = []): string {
  const below = mounts.filter((mount) => mount.startsWith(root === '/' ? root : `${root}/`));
  return below.length === 0 ? '' : `Left out, as ${MOUNT_NOT_ANSWERING}: ${below.join(', ')}.`;
}

/** Resolves where to search, and the prefix that makes result paths relative to `cwd`. */
export async function resolveSearchRoot(
  written: string | undefined,
  from: { readonly cwd: string; readonly home: string },
): Promise<SearchRoot> {
  const absolute = resolveToolPath(written ?? '.', from);
  const stats = await ignoreMissingFile(stat(absolute));
  if (stats === undefined)
    throw new ToolFailure(`${absolute} does not exist. Check the path, or leave it out to search ${from.cwd}.`);
  const real = await realpath(absolute);
  const root = stats.isDirectory() ? real : path.dirname(real);
  const cwd = await realpath(from.cwd);
  const prefix = root === cwd ? '' : `${isPathBelow(cwd, root) ? path.relative(cwd, root) : root}/`;
  if (stats.isDirectory()) return { root, prefix };
  if (!stats.isFile()) throw new ToolFailure(`${absolute} is not a regular file and cannot be searched.`);
  return { root, prefix, file: path.basename(real) };
}

// Enough for sorting and paging, small enough for memory.
const MAX_RECORDS = 20_000;
const MAX_CHARS = 8 * 1024 * 1024;

type Collector = { readonly text: () => string; readonly isCut: () => boolean; readonly take: SearchChunkHandler };

/** Creates a collector for search output, which ends the search once there is enough. */
export function createSearchCollector(recordEnd: '\n' | '\0', wantedRecords: number): Collector {
  const limit = Math.max(MAX_RECORDS, wantedRecords);
  const chunks: string[] = [];
  let records = 0;
  let chars = 0;
  let isCut = false;
  return {
    text() {
      const text = chunks.join('');
      // The last record of a search that was ended may be incomplete.
      return isCut ? text.slice(0, text.lastIndexOf(recordEnd) + 1) : text;
    },
    isCut: () => isCut,
    take(chunk) {
      chunks.push(chunk);
      chars += chunk.length;
      for (let at = chunk.indexOf(recordEnd); at !== -1; at = chunk.indexOf(recordEnd, at + 1)) records += 1;
      isCut = records > limit || chars > MAX_CHARS;
      return isCut ? 'enough' : 'more';
    },
  };
}

const MAX_LINE_CHARS = 1000;

type FileBlock = { readonly file: string; readonly lines: string[] };

/** Returns matching lines grouped by file and sorted by path, so that results can be paged. Without a prefix, lines of one file. */
export function sortMatchLines(text: string, prefix: string | undefined): readonly string[] {
  const blocks: FileBlock[] = [];
  let isGap = false;
  for (const record of trimEnd(text, '\n').split('\n')) {
    const nul = record.indexOf('\0');
    if (nul === -1) {
      // A separator, or a continuation of a line that has no path.
      if (record === '--') isGap = true;
      continue;
    }
    const file = record.slice(0, nul);
    const last = blocks.at(-1);
    const block = last?.file === file ? last : { file, lines: [] };
    if (block !== last) blocks.push(block);
    else if (isGap) block.lines.push('--');
    isGap = false;
    block.lines.push(formatLine(prefix === undefined ? undefined : prefix + file, record.slice(nul + 1)));
  }
  blocks.sort((a, b) => compareText(a.file, b.file));
  return blocks.flatMap((block) => block.lines);
}

/** Parses a list of files that ends each name with a zero byte, and sorts it. */
export function parseSortedFileList(text: string, prefix: string): readonly string[] {
  if (text === '') return [];
  return trimEnd(text, '\0')
    .split('\0')
    .sort(compareText)
    .map((file) => prefix + file);
}

/** Returns the match count of each file, sorted by path, and the sum. */
export function sortMatchCounts(
  text: string,
  prefix: string,
): { readonly lines: readonly string[]; readonly sum: number } {
  const lines = text
    .split('\n')
    .filter((record) => record.includes('\0'))
    .sort(compareText);
  const sum = lines.reduce((total, line) => total + Number(line.slice(line.indexOf('\0') + 1)), 0);
  return { lines: lines.map((line) => prefix + line.replace('\0', ':')), sum };
}

function formatLine(file: string | undefined, rest: string): string {
  // Context lines have a dash after their number.
  const separator = /^\d+-/.test(rest) ? '-' : ':';
  const line = rest.replace(/\r$/, '').replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '�');
  const name = file === undefined ? '' : `${file}${separator}`;
  return `${name}${line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}… [line cut]` : line}`;
}

function trimEnd(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, -1) : text;
}

/** Compares texts by their code units. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
