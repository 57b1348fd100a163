const MAX_LINES = 50_000;
const MAX_SHOWN_LINES = 6;

/** Explains why a text was not found: shows the most similar lines of the file and the first difference. */
export function explainEditMismatch(text: string, wanted: string, file: string): string {
  const missing = `old_string is not in ${file}.`;
  const wantedLines = wanted.split('\n');
  if (wantedLines.every((line) => line === '' || /^\s*\d+→/.test(line))) {
    return `${missing} It holds the line numbers that Read puts before each line; leave out everything up to the arrow.`;
  }
  const lines = text.split('\n');
  const anchor = wantedLines.findIndex((line) => line.trim() !== '');
  if (lines.length > MAX_LINES || anchor === -1)
    return `${missing} Read the part of the file you want to change again.`;
  const match = findNearestLine(lines, wantedLines, anchor);
  if (match === undefined) return `${missing} Nothing in it looks like it. Read the file again before editing.`;
  const start = match - anchor;
  const differingIndex = wantedLines.findIndex((line, index) => lines[start + index] !== line);
  const fileLine = lines[start + differingIndex] ?? '';
  const wantedLine = wantedLines[differingIndex] ?? '';
  const excerpt = lines
    .slice(Math.max(0, start), Math.max(0, start) + Math.min(wantedLines.length, MAX_SHOWN_LINES))
    .map((line, index) => `${Math.max(0, start) + index + 1}→${line.slice(0, 300)}`);
  return [
    `${missing} Nothing was changed. The nearest lines are:`,
    ...excerpt,
    `First difference, in line ${start + differingIndex + 1} (${describeDifference(fileLine, wantedLine)}):`,
    `  file:       ${quoteVisibly(fileLine)}`,
    `  old_string: ${quoteVisibly(wantedLine)}`,
  ].join('\n');
}

/** Returns the line that is most similar to the anchor line and its neighbours. */
function findNearestLine(lines: readonly string[], wantedLines: readonly string[], anchor: number): number | undefined {
  const normalized = wantedLines.map(normalizeLine);
  const pairs = collectPairs(normalized[anchor] ?? '');
  let best: number | undefined;
  let bestScore = 0.5;
  lines.forEach((line, index) => {
    const normalizedLine = normalizeLine(line);
    let score = normalizedLine === normalized[anchor] ? 1 : computeSimilarity(pairs, normalizedLine);
    if (score < 0.5) return;
    for (let step = 1; anchor + step < normalized.length && step < 20; step += 1) {
      if (normalizeLine(lines[index + step] ?? '') === normalized[anchor + step]) score += 1;
    }
    if (score <= bestScore) return;
    best = index;
    bestScore = score;
  });
  return best;
}

/** Normalizes whitespace, quotes and dashes. */
function normalizeLine(line: string): string {
  return line
    .replace(/[‘’‚′]/g, "'")
    .replace(/[“”„″]/g, '"')
    .replace(/[‐‑‒–—―−]/g, '-')
    .replace(/[\s\u00a0\u200b\ufeff]+/g, ' ')
    .trim();
}

function collectPairs(line: string): Set<string> {
  const pairs = new Set<string>();
  for (let index = 0; index + 1 < Math.min(line.length, 400); index += 1) pairs.add(line.slice(index, index + 2));
  return pairs;
}

function computeSimilarity(pairs: ReadonlySet<string>, line: string): number {
  const otherPairs = collectPairs(line);
  if (pairs.size === 0 || otherPairs.size === 0) return 0;
  let common = 0;
  for (const pair of otherPairs) if (pairs.has(pair)) common += 1;
  return (2 * common) / (pairs.size + otherPairs.size);
}

function describeDifference(fileLine: string, wantedLine: string): string {
  if (fileLine.trimEnd() === wantedLine.trimEnd()) return 'blanks at the end of the line';
  if (fileLine.trimStart() === wantedLine.trimStart()) {
    return fileLine.includes('\t') === wantedLine.includes('\t') ? 'indentation' : 'tabs against spaces';
  }
  if (normalizeLine(fileLine) === normalizeLine(wantedLine)) return 'kind of quotes, dashes or blanks';
  return 'text';
}

/** Quotes a line and marks invisible and look-alike characters. */
function quoteVisibly(line: string): string {
  return JSON.stringify(line.slice(0, 300)).replace(
    /[\u00a0\u200b-\u200f\u2010-\u201f\u2028-\u202f\u2032\u2033\u2212\ufeff]/g,
    (character) => `${character}<U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`,
  );
}
