const MAX_LINE_CHARS = 1000;

type Block = { readonly file: string; readonly lines: string[] };

/** Matching lines by file, the files by name: the same search gives the same order, so that it can be paged. */
export function contentLines(text: string, prefix: string): readonly string[] {
  const blocks: Block[] = [];
  let isGap = false;
  for (const record of withoutEnd(text, '\n').split('\n')) {
    const nul = record.indexOf('\0');
    if (nul === -1) {
      // A separator, or the second half of a line that holds no path of its own.
      if (record === '--') isGap = true;
      continue;
    }
    const file = record.slice(0, nul);
    const last = blocks.at(-1);
    const block = last?.file === file ? last : { file, lines: [] };
    if (block !== last) blocks.push(block);
    else if (isGap) block.lines.push('--');
    isGap = false;
    block.lines.push(lineOf(prefix + file, record.slice(nul + 1)));
  }
  blocks.sort((a, b) => compare(a.file, b.file));
  return blocks.flatMap((block) => block.lines);
}

/** The files that match, by name. */
export function fileLines(text: string, prefix: string): readonly string[] {
  if (text === '') return [];
  return withoutEnd(text, '\0')
    .split('\0')
    .sort(compare)
    .map((file) => prefix + file);
}

/** Files with their number of matches, by name, and the sum. */
export function countLines(text: string, prefix: string): { readonly lines: readonly string[]; readonly sum: number } {
  const lines = text
    .split('\n')
    .filter((record) => record.includes('\0'))
    .sort(compare);
  const sum = lines.reduce((total, line) => total + Number(line.slice(line.indexOf('\0') + 1)), 0);
  return { lines: lines.map((line) => prefix + line.replace('\0', ':')), sum };
}

function lineOf(file: string, rest: string): string {
  // Context lines carry a dash behind their number.
  const mark = /^\d+-/.test(rest) ? '-' : ':';
  const line = rest.replace(/\r$/, '').replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '�');
  return `${file}${mark}${line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}… [line cut]` : line}`;
}

function withoutEnd(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, -1) : text;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
