import { breather, type LinearRegex } from '../../lib/patterns/linear-regex.ts';
import type { TextQuery } from './locator.ts';

/** One file's records in ripgrep's form; empty when nothing matches. */
export async function matchText(
  file: string,
  text: string,
  expression: LinearRegex,
  query: TextQuery,
): Promise<string> {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const matched =
    query.span === 'multiline' ? await spannedLines(text, expression) : await matchedLines(lines, expression);
  if (matched.count === 0) return '';
  if (query.mode === 'files_with_matches') return `${file}\0`;
  if (query.mode === 'count') return `${file}\0${matched.count}\n`;
  return content(file, lines, matched.lines, query);
}

function content(file: string, lines: readonly string[], matched: ReadonlySet<number>, query: TextQuery): string {
  let out = '';
  let last = -1;
  const wanted = new Set<number>();
  for (const line of matched) {
    for (let near = Math.max(0, line - query.before); near <= line + query.after && near < lines.length; near += 1)
      wanted.add(near);
  }
  for (const line of [...wanted].sort((a, b) => a - b)) {
    if (last !== -1 && line !== last + 1 && query.before + query.after > 0) out += '--\n';
    const mark = matched.has(line) ? ':' : '-';
    const number = query.lineNumbers === 'shown' ? `${line + 1}${mark}` : '';
    out += `${file}\0${number}${lines[line] ?? ''}\n`;
    last = line;
  }
  return out;
}

/** The lines with a match, and how many matches there are. */
type Matched = { readonly lines: ReadonlySet<number>; readonly count: number };

async function matchedLines(all: readonly string[], expression: LinearRegex): Promise<Matched> {
  const lines = new Set<number>();
  const breathe = breather();
  for (const [index, line] of all.entries()) {
    await breathe();
    if (expression.test(line)) lines.add(index);
  }
  return { lines, count: lines.size };
}

/** The lines a match runs over. */
async function spannedLines(text: string, expression: LinearRegex): Promise<Matched> {
  const lines = new Set<number>();
  const breathe = breather();
  let [line, from, count] = [0, 0, 0];
  for (const match of expression.matchAll(text)) {
    await breathe();
    count += 1;
    line += newlines(text.slice(from, match.index));
    from = match.index ?? from;
    const height = newlines(match[0].replace(/\n$/, ''));
    for (let step = 0; step <= height; step += 1) lines.add(line + step);
  }
  return { lines, count };
}

function newlines(text: string): number {
  return text.split('\n').length - 1;
}
