import type { SearchChunkHandler } from './search-backend.ts';

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

export function sortMatchedFiles(text: string, prefix: string): readonly string[] {
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
