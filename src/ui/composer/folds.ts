import { formatBytes, formatCount } from '../../lib/text/format.ts';

/** Something large or invisible that stands in the draft as a single character. */
export type Fold =
  | { readonly kind: 'paste'; readonly id: number; readonly number: number; readonly text: string }
  | {
      readonly kind: 'image';
      readonly id: number;
      readonly number: number;
      readonly name: string;
      readonly bytes: number;
      readonly path: string;
    };

export type Folds = ReadonlyMap<number, Fold>;

/** A message in the order it was written; images stand where they were put. */
export type DraftPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly path: string; readonly name: string };

// The last private plane of Unicode: nobody types it, and pasted text is cleaned of it.
const FIRST_FOLD = 0x10_00_00;
const FOLD = /[\u{100000}-\u{10ffff}]/u;

/** The character that stands for a fold. */
export function foldCharacter(id: number): string {
  return String.fromCodePoint(FIRST_FOLD + id);
}

/** The id of the fold that starts at an offset. */
export function foldIdAt(text: string, at: number): number | undefined {
  const code = text.codePointAt(at);
  return code !== undefined && code >= FIRST_FOLD ? code - FIRST_FOLD : undefined;
}

export function hasFolds(text: string): boolean {
  return FOLD.test(text);
}

/** The text cut so that every fold is a piece of its own. */
export function splitFolds(text: string): string[] {
  return text.split(/([\u{100000}-\u{10ffff}])/u).filter((piece) => piece !== '');
}

/** What people see in place of a fold: `[paste 1: 200 lines, 6.7 KB]`. */
export function foldLabel(fold: Fold): string {
  if (fold.kind === 'image') return `[image ${fold.number}: ${fold.name} ${formatBytes(fold.bytes)}]`;
  const bytes = Buffer.byteLength(fold.text);
  return `[paste ${fold.number}: ${formatCount(lineCount(fold.text), 'line')}, ${formatBytes(bytes)}]`;
}

/** The text as it is meant: pastes in full, images by their label. */
export function expandFolds(text: string, folds: Folds): string {
  if (!hasFolds(text)) return text;
  return splitFolds(text)
    .map((piece) => {
      const fold = foldOf(piece, folds);
      if (fold === undefined) return piece;
      return fold.kind === 'paste' ? fold.text : foldLabel(fold);
    })
    .join('');
}

/** The message in parts: what a model is sent. */
export function draftParts(text: string, folds: Folds): DraftPart[] {
  const parts: DraftPart[] = [];
  let written = '';
  for (const piece of splitFolds(text)) {
    const fold = foldOf(piece, folds);
    if (fold?.kind === 'image') {
      if (written !== '') parts.push({ kind: 'text', text: written });
      parts.push({ kind: 'image', path: fold.path, name: fold.name });
      written = '';
    } else written += fold === undefined ? piece : fold.text;
  }
  if (written !== '') parts.push({ kind: 'text', text: written });
  return parts;
}

/** The fold with the next free id and number of its kind. */
export function addFold(folds: Folds, make: (id: number, number: number) => Fold, kind: Fold['kind']): Fold {
  const number = [...folds.values()].filter((fold) => fold.kind === kind).length + 1;
  return make(folds.size, number);
}

function foldOf(piece: string, folds: Folds): Fold | undefined {
  const id = foldIdAt(piece, 0);
  return id === undefined ? undefined : folds.get(id);
}

function lineCount(text: string): number {
  return text.replace(/\n$/, '').split('\n').length;
}
