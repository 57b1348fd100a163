import type { TextQuery } from './locator.ts';

/** One file's records in ripgrep's form; empty when nothing matches. */
export function matchText(file: string, text: string, expression: RegExp, query: TextQuery): string {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const matched = query.span === 'multiline' ? spannedLines(text, expression) : matchedLines(lines, expression);
  if (matched.size === 0) return '';
  if (query.mode === 'files_with_matches') return `${file}\0`;
  if (query.mode === 'count')
    return `${file}\0${query.span === 'multiline' ? countOf(text, expression) : matched.size}\n`;
  return content(file, lines, matched, query);
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

function matchedLines(lines: readonly string[], expression: RegExp): ReadonlySet<number> {
  const matched = new Set<number>();
  lines.forEach((line, index) => {
    expression.lastIndex = 0;
    if (expression.test(line)) matched.add(index);
  });
  return matched;
}

/** The lines a match runs over. */
function spannedLines(text: string, expression: RegExp): ReadonlySet<number> {
  const matched = new Set<number>();
  let line = 0;
  let from = 0;
  for (const match of text.matchAll(expression)) {
    line += newlines(text.slice(from, match.index));
    from = match.index;
    const height = newlines(match[0].replace(/\n$/, ''));
    for (let step = 0; step <= height; step += 1) matched.add(line + step);
  }
  return matched;
}

function countOf(text: string, expression: RegExp): number {
  return [...text.matchAll(expression)].length;
}

function newlines(text: string): number {
  return text.split('\n').length - 1;
}
