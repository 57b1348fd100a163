import { alignEqualLines } from './line-endings.ts';

/** The only part of a text that differs from the wanted one in nothing but quotes, dashes and blanks at line ends. */
export type NearMatch = { readonly start: number; readonly end: number };

/** Folds quotes and dashes; each is one character, so offsets stay. */
function foldCharacters(text: string): string {
  return text
    .replace(/[‘’‚′]/g, "'")
    .replace(/[“”„″]/g, '"')
    .replace(/[‐‑‒–—―−]/g, '-')
    .replaceAll('\u00a0', ' ');
}

/** Finds the wanted text with another kind of quotes, dashes or blanks at line ends; `undefined` unless it is unique. */
export function findNearMatch(text: string, wanted: string): NearMatch | undefined {
  if (wanted.trim() === '') return undefined;
  const folded = foldTrailingBlanks(foldCharacters(text));
  const search = foldTrailingBlanks(foldCharacters(wanted)).text;
  const start = folded.text.indexOf(search);
  if (search.trim() === '' || start === -1 || folded.text.includes(search, start + 1)) return undefined;
  const end = start + search.length;
  const next = folded.text[end];
  // Blanks at the end of the wanted text are those of a line end, not of the middle of a line.
  if (!wanted.endsWith(search.slice(-1)) && /[ \t]$/.test(wanted) && next !== undefined && next !== '\n')
    return undefined;
  return { start: folded.offsets[start] ?? 0, end: (folded.offsets[end - 1] ?? 0) + 1 };
}

/** Removes blanks before line ends; `offsets` holds the place of each remaining character. */
function foldTrailingBlanks(text: string): { readonly text: string; readonly offsets: readonly number[] } {
  const offsets: number[] = [];
  let result = '';
  let from = 0;
  for (const line of text.split('\n')) {
    const kept = line.replace(/[ \t]+$/, '');
    for (let at = 0; at < kept.length; at += 1) offsets.push(from + at);
    result += kept;
    from += line.length;
    if (from < text.length) {
      offsets.push(from);
      result += '\n';
    }
    from += 1;
  }
  return { text: result, offsets };
}

/**
 * Returns the replacement for a near match: what the edit leaves unchanged keeps the characters of the file, not those
 * the model wrote for it.
 */
export function keepFileCharacters(inFile: string, wanted: string, replacement: string): string {
  const fileLines = inFile.split('\n');
  const wantedLines = wanted.split('\n');
  const lines = replacement.split('\n');
  const sources = alignEqualLines(wantedLines, lines);
  return lines
    .map((line, index) => {
      const source = sources[index];
      if (source !== undefined) return fileLines[source] ?? line;
      // A line that was rewritten, in a text with as many lines, is compared with the one in its place.
      return lines.length === wantedLines.length
        ? keepEnds(fileLines[index] ?? '', wantedLines[index] ?? '', line)
        : line;
    })
    .join('\n');
}

/** Keeps the start and the end of a line that the edit leaves unchanged. */
function keepEnds(inFile: string, wanted: string, line: string): string {
  if (inFile.trimEnd().length !== wanted.trimEnd().length) return line;
  const limit = Math.min(wanted.trimEnd().length, line.length);
  let head = 0;
  while (head < limit && wanted[head] === line[head]) head += 1;
  let tail = 0;
  const [wantedEnd, lineEnd] = [wanted.trimEnd(), line.trimEnd()];
  while (tail < Math.min(wantedEnd.length, lineEnd.length) - head && wantedEnd.at(-1 - tail) === lineEnd.at(-1 - tail))
    tail += 1;
  const fileText = inFile.trimEnd();
  return fileText.slice(0, head) + lineEnd.slice(head, lineEnd.length - tail) + fileText.slice(fileText.length - tail);
}
