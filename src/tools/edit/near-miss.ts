const MAX_LINES = 50_000;
const SHOWN_LINES = 6;

/** Why a text was not found: the nearest lines of the file and the first place where they differ. */
export function explainMiss(text: string, wanted: string, file: string): string {
  const missing = `old_string is not in ${file}.`;
  const asked = wanted.split('\n');
  if (asked.every((line) => line === '' || /^\s*\d+→/.test(line))) {
    return `${missing} It holds the line numbers that Read puts before each line; leave out everything up to the arrow.`;
  }
  const lines = text.split('\n');
  const anchor = asked.findIndex((line) => line.trim() !== '');
  if (lines.length > MAX_LINES || anchor === -1)
    return `${missing} Read the part of the file you want to change again.`;
  const near = nearestStart(lines, asked, anchor);
  if (near === undefined) return `${missing} Nothing in it looks like it. Read the file again before editing.`;
  const start = near - anchor;
  const differs = asked.findIndex((line, index) => lines[start + index] !== line);
  const theirs = lines[start + differs] ?? '';
  const ours = asked[differs] ?? '';
  const excerpt = lines
    .slice(Math.max(0, start), Math.max(0, start) + Math.min(asked.length, SHOWN_LINES))
    .map((line, index) => `${Math.max(0, start) + index + 1}→${line.slice(0, 300)}`);
  return [
    `${missing} Nothing was changed. The nearest lines are:`,
    ...excerpt,
    `First difference, in line ${start + differs + 1} (${nameDifference(theirs, ours)}):`,
    `  file:       ${quote(theirs)}`,
    `  old_string: ${quote(ours)}`,
  ].join('\n');
}

/** The line of the file that fits the anchor line best, neighbours taken into account. */
function nearestStart(lines: readonly string[], asked: readonly string[], anchor: number): number | undefined {
  const loose = asked.map(loosen);
  const pairs = pairsOf(loose[anchor] ?? '');
  let best: number | undefined;
  let bestScore = 0.5;
  lines.forEach((line, index) => {
    const here = loosen(line);
    let score = here === loose[anchor] ? 1 : similarity(pairs, here);
    if (score < 0.5) return;
    for (let step = 1; anchor + step < loose.length && step < 20; step += 1) {
      if (loosen(lines[index + step] ?? '') === loose[anchor + step]) score += 1;
    }
    if (score <= bestScore) return;
    best = index;
    bestScore = score;
  });
  return best;
}

/** What remains when blanks, quotes and dashes do not count. */
function loosen(line: string): string {
  return line
    .replace(/[‘’‚′]/g, "'")
    .replace(/[“”„″]/g, '"')
    .replace(/[‐‑‒–—―−]/g, '-')
    .replace(/[\s\u00a0\u200b\ufeff]+/g, ' ')
    .trim();
}

function pairsOf(line: string): Set<string> {
  const pairs = new Set<string>();
  for (let index = 0; index + 1 < Math.min(line.length, 400); index += 1) pairs.add(line.slice(index, index + 2));
  return pairs;
}

function similarity(pairs: ReadonlySet<string>, line: string): number {
  const others = pairsOf(line);
  if (pairs.size === 0 || others.size === 0) return 0;
  let common = 0;
  for (const pair of others) if (pairs.has(pair)) common += 1;
  return (2 * common) / (pairs.size + others.size);
}

function nameDifference(theirs: string, ours: string): string {
  if (theirs.trimEnd() === ours.trimEnd()) return 'blanks at the end of the line';
  if (theirs.trimStart() === ours.trimStart()) {
    return theirs.includes('\t') === ours.includes('\t') ? 'indentation' : 'tabs against spaces';
  }
  if (loosen(theirs) === loosen(ours)) return 'kind of quotes, dashes or blanks';
  return 'text';
}

/** Blanks and look-alikes made visible. */
function quote(line: string): string {
  return JSON.stringify(line.slice(0, 300)).replace(
    /[\u00a0\u200b-\u200f\u2010-\u201f\u2028-\u202f\u2032\u2033\u2212\ufeff]/g,
    (character) => `${character}<U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`,
  );
}
