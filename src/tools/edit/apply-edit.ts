import { ToolFailure } from '../../contracts/tool.ts';
import { countNewlines } from '../../lib/text/lines.ts';
import { explainEditMismatch } from './explain-edit-mismatch.ts';
import { applyLineEndings, type FoldedLineEndings, foldTextLineEndings } from './line-endings.ts';
import { findNearMatch, keepFileCharacters } from './near-match.ts';

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
