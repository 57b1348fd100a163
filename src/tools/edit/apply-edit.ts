import { ToolFailure } from '../../contracts/tool.ts';
import { dressLines } from './dress-lines.ts';
import { type FoldedText, foldText } from './folded-text.ts';
import { explainMiss } from './near-miss.ts';

export type TextEdit = { readonly oldText: string; readonly newText: string; readonly occurrences: 'one' | 'all' };

export type EditedText = { readonly text: string; readonly replaced: number; readonly firstLine: number };

const LINES_NAMED = 10;

/** Replaces text, exactly and only where it was meant. What is not replaced keeps every character, endings included. */
export function applyEdit(original: string, edit: TextEdit, file: string): EditedText {
  if (edit.oldText === '') throw new ToolFailure(`old_string is empty and ${file} is not. Give the text to replace.`);
  if (edit.oldText === edit.newText)
    throw new ToolFailure('old_string and new_string are the same; nothing would change.');
  // Whoever writes \r means the characters themselves.
  if (edit.oldText.includes('\r') && original.includes(edit.oldText)) return replaceLiterally(original, edit, file);
  const folded = foldText(original);
  const hasCr = original.includes('\r');
  const wanted = hasCr ? fold(edit.oldText) : edit.oldText;
  const next = hasCr ? fold(edit.newText) : edit.newText;
  const places = findAll(folded.text, wanted);
  if (places.length === 0) throw new ToolFailure(explainMiss(folded.text, wanted, file));
  checkUnique(folded.text, places, edit, file);
  let text = '';
  let from = 0;
  for (const place of places) {
    text += original.slice(from, folded.toOriginal(place)) + dressed(folded, place, wanted, next);
    from = folded.toOriginal(place + wanted.length);
  }
  return { text: text + original.slice(from), replaced: places.length, firstLine: lineOf(folded.text, places[0] ?? 0) };
}

function dressed(folded: FoldedText, place: number, wanted: string, next: string): string {
  if (!next.includes('\n')) return next;
  const end = place + wanted.length;
  return dressLines(wanted, next, folded.endingsWithin(place, end), folded.endingNear(end));
}

function replaceLiterally(original: string, edit: TextEdit, file: string): EditedText {
  const places = findAll(original, edit.oldText);
  checkUnique(original, places, edit, file);
  const text = original.split(edit.oldText).join(edit.newText);
  return { text, replaced: places.length, firstLine: lineOf(original, places[0] ?? 0) };
}

function checkUnique(text: string, places: readonly number[], edit: TextEdit, file: string): void {
  if (places.length < 2 || edit.occurrences === 'all') return;
  const lines = places.slice(0, LINES_NAMED).map((place) => lineOf(text, place));
  const more = places.length > LINES_NAMED ? ', …' : '';
  throw new ToolFailure(
    `old_string occurs ${places.length} times in ${file} (lines ${lines.join(', ')}${more}). Include more surrounding lines to say which is meant, or set replace_all.`,
  );
}

function findAll(text: string, wanted: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

function fold(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
}

function lineOf(text: string, place: number): number {
  return text.slice(0, place).split('\n').length;
}
