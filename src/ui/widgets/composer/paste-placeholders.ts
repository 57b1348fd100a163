import { formatBytes, formatCount } from '../../../lib/text/format.ts';

/** A long paste or an image, represented in the draft by a single placeholder character. */
export type PastePlaceholder =
  | { readonly kind: 'paste'; readonly id: number; readonly number: number; readonly text: string }
  | {
      readonly kind: 'image';
      readonly id: number;
      readonly number: number;
      readonly name: string;
      readonly bytes: number;
      readonly path: string;
    };

/** The pastes and images of a draft by the id of their placeholder. */
export type PastePlaceholders = ReadonlyMap<number, PastePlaceholder>;

/** A part of a message: text, or an image at its position. */
export type DraftPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly path: string; readonly name: string };

// The last private-use plane of Unicode. It is not typed, and it is removed from pasted text.
const FIRST_CODE_POINT = 0x10_00_00;
const PLACEHOLDER = /[\u{100000}-\u{10ffff}]/u;

/** Returns the placeholder character of a paste or an image. */
export function getPlaceholderCharacter(id: number): string {
  return String.fromCodePoint(FIRST_CODE_POINT + id);
}

/** Returns the id of the placeholder at an offset. */
export function getPlaceholderIdAt(text: string, at: number): number | undefined {
  const code = text.codePointAt(at);
  return code !== undefined && code >= FIRST_CODE_POINT ? code - FIRST_CODE_POINT : undefined;
}

/** Reports whether a text contains placeholders. */
export function hasPlaceholders(text: string): boolean {
  return PLACEHOLDER.test(text);
}

/** Splits a text so that every placeholder is a separate piece. */
export function splitAtPlaceholders(text: string): string[] {
  return text.split(/([\u{100000}-\u{10ffff}])/u).filter((piece) => piece !== '');
}

/** Formats the label shown for a placeholder: `[paste 1: 200 lines, 6.7 KB]`. */
export function formatPlaceholder(placeholder: PastePlaceholder): string {
  if (placeholder.kind === 'image')
    return `[image ${placeholder.number}: ${placeholder.name} ${formatBytes(placeholder.bytes)}]`;
  const bytes = Buffer.byteLength(placeholder.text);
  return `[paste ${placeholder.number}: ${formatCount(countLines(placeholder.text), 'line')}, ${formatBytes(bytes)}]`;
}

/** Replaces placeholders: pastes by their text, images by their label. */
export function expandPlaceholders(text: string, placeholders: PastePlaceholders): string {
  if (!hasPlaceholders(text)) return text;
  return splitAtPlaceholders(text)
    .map((piece) => {
      const placeholder = findPlaceholder(piece, placeholders);
      if (placeholder === undefined) return piece;
      return placeholder.kind === 'paste' ? placeholder.text : formatPlaceholder(placeholder);
    })
    .join('');
}

/** Splits a draft into texts and images, as they are sent to the model. */
export function splitDraftIntoParts(text: string, placeholders: PastePlaceholders): DraftPart[] {
  const parts: DraftPart[] = [];
  let pending = '';
  for (const piece of splitAtPlaceholders(text)) {
    const placeholder = findPlaceholder(piece, placeholders);
    if (placeholder?.kind === 'image') {
      if (pending !== '') parts.push({ kind: 'text', text: pending });
      parts.push({ kind: 'image', path: placeholder.path, name: placeholder.name });
      pending = '';
    } else pending += placeholder === undefined ? piece : placeholder.text;
  }
  if (pending !== '') parts.push({ kind: 'text', text: pending });
  return parts;
}

/** Creates a paste or an image with the next free id and the next number of its kind. */
export function createPlaceholder(
  placeholders: PastePlaceholders,
  create: (id: number, number: number) => PastePlaceholder,
  kind: PastePlaceholder['kind'],
): PastePlaceholder {
  const number = [...placeholders.values()].filter((placeholder) => placeholder.kind === kind).length + 1;
  return create(placeholders.size, number);
}

function findPlaceholder(piece: string, placeholders: PastePlaceholders): PastePlaceholder | undefined {
  const id = getPlaceholderIdAt(piece, 0);
  return id === undefined ? undefined : placeholders.get(id);
}

function countLines(text: string): number {
  return text.replace(/\n$/, '').split('\n').length;
}
