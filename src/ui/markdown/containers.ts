/** A list item taken apart: its mark, its task box, and what it holds without its indentation. */
export type ItemContent = { readonly mark: string; readonly box: string; readonly content: string };

const MARK = /^( *)([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const TASK = /^\[([ xX])\][ \t]+/;

/** Reads a list item. Numbers stay as they are written, every bullet becomes a dash. */
export function itemContent(source: string): ItemContent {
  const [firstLine = '', ...lines] = source.split('\n');
  const [whole = '', , marker = '-', space = ''] = MARK.exec(firstLine) ?? [];
  // Five spaces behind the mark are one and an indented code block.
  const offset = space.length > 4 ? whole.length - space.length + 1 : whole.length;
  const rest = firstLine.slice(offset);
  const task = TASK.exec(rest);
  const first = task ? rest.slice(task[0].length) : rest;
  const content = [first, ...lines.map((line) => dedented(line, Math.max(2, offset)))].join('\n');
  const box = task ? `[${task[1]?.toLowerCase()}] ` : '';
  return { mark: /\d/.test(marker) ? `${marker} ` : '- ', box, content };
}

/** A quote without its bars. A line that only goes on with the paragraph has none. */
export function quoteContent(source: string): string {
  return source.replace(/^ {0,3}> ?/gm, '');
}

function dedented(line: string, columns: number): string {
  const tabless = line.startsWith('\t') ? `    ${line.slice(1)}` : line;
  const indent = tabless.length - tabless.trimStart().length;
  return tabless.slice(Math.min(indent, columns));
}
