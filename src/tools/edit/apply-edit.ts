import { ToolFailure } from '../../contracts/tool.ts';
import { countNewlines } from '../../lib/text/lines.ts';
import { explainEditMismatch } from './explain-edit-mismatch.ts';
import { alignEqualLines, applyLineEndings, type FoldedLineEndings, foldTextLineEndings } from './line-endings.ts';

/** A replacement of text, once or everywhere. */
export type TextEdit = { readonly oldText: string; readonly newText: string; readonly occurrences: 'one' | 'all' };

/** A place where a text was replaced: its first line in the result, and the lines that were added (or removed). */
export type ReplacedLines = { readonly line: number; readonly addedLines: number };

/** An edited text. `near`: the old text was found with another kind of quotes, dashes or blanks at line ends. */
export type EditedText = {
  readonly text: string;
  readonly places: readonly ReplacedLines[];
  readonly match: 'exact' | 'near';
};

const MAX_LINES_LISTED = 10;

/** Replaces text that matches and, unless all are meant, uniquely. Everything else stays byte-identical. */
export function applyEdit(original: string, edit: TextEdit, file: string): EditedText {
  if (edit.oldText === '') throw new ToolFailure(`old_string is empty and ${file} is not. Give the text to replace.`);
  if (edit.oldText === edit.newText)
    throw new ToolFailure('old_string and new_string are the same; nothing would change.');
  // Text with \r is matched literally.
  if (edit.oldText.includes('\r') && original.includes(edit.oldText)) return replaceLiterally(original, edit, file);
  const folded = foldTextLineEndings(original);
  const hasCr = original.includes('\r');
  const searchText = hasCr ? foldLineEndings(edit.oldText) : edit.oldText;
  const replacement = hasCr ? foldLineEndings(edit.newText) : edit.newText;
  const offsets = findAll(folded.text, searchText);
  if (offsets.length === 0) return replaceNearMatch(original, folded, { searchText, replacement }, file);
  assertUnique(folded.text, offsets, edit, file);
  const text = replaceRanges(
    original,
    folded,
    offsets.map((start) => ({ start, end: start + searchText.length })),
    replacement,
  );
  return { text, places: listPlaces(folded.text, offsets, searchText, replacement), match: 'exact' };
}

type FoldedEdit = { readonly searchText: string; readonly replacement: string };

function replaceNearMatch(
  original: string,
  folded: FoldedLineEndings,
  { searchText, replacement }: FoldedEdit,
  file: string,
): EditedText {
  const range = findNearMatch(folded.text, searchText);
  if (range === undefined) throw new ToolFailure(explainEditMismatch(folded.text, searchText, file));
  const found = folded.text.slice(range.start, range.end);
  const kept = keepFileCharacters(found, searchText, replacement);
  return {
    text: replaceRanges(original, folded, [range], kept),
    places: listPlaces(folded.text, [range.start], found, kept),
    match: 'near',
  };
}

type TextRange = { readonly start: number; readonly end: number };

function replaceRanges(
  original: string,
  folded: FoldedLineEndings,
  ranges: readonly TextRange[],
  replacement: string,
): string {
  let result = '';
  let copiedUpTo = 0;
  for (const range of ranges) {
    result +=
      original.slice(copiedUpTo, folded.toOriginal(range.start)) + restoreLineEndings(folded, range, replacement);
    copiedUpTo = folded.toOriginal(range.end);
  }
  return result + original.slice(copiedUpTo);
}

function restoreLineEndings(folded: FoldedLineEndings, { start, end }: TextRange, replacement: string): string {
  if (!replacement.includes('\n')) return replacement;
  const replaced = folded.text.slice(start, end);
  return applyLineEndings(replaced, replacement, folded.endingsWithin(start, end), folded.endingNear(end));
}

function replaceLiterally(original: string, edit: TextEdit, file: string): EditedText {
  const offsets = findAll(original, edit.oldText);
  assertUnique(original, offsets, edit, file);
  const text = original.split(edit.oldText).join(edit.newText);
  return { text, places: listPlaces(original, offsets, edit.oldText, edit.newText), match: 'exact' };
}

/** Returns the lines of all replacements in the new text. */
function listPlaces(
  text: string,
  offsets: readonly number[],
  replaced: string,
  replacement: string,
): readonly ReplacedLines[] {
  const addedLines = countNewlines(replacement) - countNewlines(replaced);
  const places: ReplacedLines[] = [];
  let line = 1;
  let from = 0;
  offsets.forEach((offset, index) => {
    line += countNewlines(text.slice(from, offset));
    from = offset;
    places.push({ line: line + index * addedLines, addedLines });
  });
  return places;
}

function assertUnique(text: string, offsets: readonly number[], edit: TextEdit, file: string): void {
  if (offsets.length < 2 || edit.occurrences === 'all') return;
  const lines = offsets.slice(0, MAX_LINES_LISTED).map((offset) => countNewlines(text.slice(0, offset)) + 1);
  const more = offsets.length > MAX_LINES_LISTED ? ', …' : '';
  throw new ToolFailure(
    `old_string occurs ${offsets.length} times in ${file} (lines ${lines.join(', ')}${more}). Include more surrounding lines to say which is meant, or set replace_all.`,
  );
}

function findAll(text: string, searchText: string): readonly number[] {
  const offsets: number[] = [];
  for (let at = text.indexOf(searchText); at !== -1; at = text.indexOf(searchText, at + searchText.length))
    offsets.push(at);
  return offsets;
}

function foldLineEndings(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
}

/** The only part of a text that differs from the wanted one in nothing but quotes, dashes and blanks at line ends. */
type NearMatch = { readonly start: number; readonly end: number };

/** Folds quotes and dashes; each is one character, so offsets stay. */
function foldCharacters(text: string): string {
  return text
    .replace(/[‘’‚′]/g, "'")
    .replace(/[“”„″]/g, '"')
    .replace(/[‐‑‒–—―−]/g, '-')
    .replaceAll('\u00a0', ' ');
}

/** Finds the wanted text with another kind of quotes, dashes or blanks at line ends; `undefined` unless it is unique. */
function findNearMatch(text: string, wanted: string): NearMatch | undefined {
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
    const kept = line.replace(/(?<![ \t])[ \t]+$/, '');
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

/** Returns the replacement for a near match; unchanged parts keep the characters of the file. */
function keepFileCharacters(inFile: string, wanted: string, replacement: string): string {
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
