import { stripVTControlCharacters } from 'node:util';
import type { DOMElement } from 'ink';
import { asPrintable, type Printable } from '../../../lib/printable.ts';
import { textWidth } from '../../../lib/text/text-width.ts';

/** A piece of text where Ink has put it. */
type Piece = { readonly x: number; readonly y: number; readonly rows: readonly string[]; readonly room: number };

/** How wide rows are, as far as the last frame has seen them: most of them stay as they are. */
export type KnownWidths = Map<string, number>;

/** Where a piece stands, and the rows of the screen that it may fill. */
type Place = { readonly x: number; readonly y: number; readonly top: number; readonly bottom: number };

/**
 * The rows of a tree that Ink has laid out, as far as it is nothing but texts and bars beside and below one another
 * that fit; else undefined, and Ink draws it: frames, what is cut at a side, what lies over something else.
 */
export function laidOutRows(
  root: DOMElement,
  known: KnownWidths,
): { readonly rows: readonly Printable[]; readonly widths: KnownWidths } | undefined {
  const pieces: Piece[] = [];
  const height = root.yogaNode?.getComputedHeight() ?? 0;
  if (!collect(root, { x: 0, y: 0, top: 0, bottom: height }, pieces)) return undefined;
  const widths: KnownWidths = new Map();
  const widthOf = (text: string) => {
    const width = known.get(text) ?? textWidth(stripVTControlCharacters(text));
    widths.set(text, width);
    return width;
  };
  const rows = Array.from({ length: height }, () => ({ text: '', width: 0 }));
  for (const piece of pieces) {
    for (const [at, text] of piece.rows.entries()) {
      const row = rows[piece.y + at];
      const width = widthOf(text);
      if (row === undefined || row.width > piece.x || width > piece.room) return undefined;
      row.text += ' '.repeat(piece.x - row.width) + text;
      row.width = piece.x + width;
    }
  }
  return { rows: rows.map(({ text }) => asPrintable(text.trimEnd())), widths };
}

/** Every text of a tree in its order; false where there is more to draw than that. */
function collect(node: DOMElement, place: Place, into: Piece[]): boolean {
  const { yogaNode, style } = node;
  if (yogaNode === undefined || isDrawnByInk(style)) return false;
  const x = place.x + yogaNode.getComputedLeft();
  const y = place.y + yogaNode.getComputedTop();
  const height = yogaNode.getComputedHeight();
  const put = (rows: readonly string[], room: number) => {
    const isOut = (at: number) => y + at < place.top || y + at >= place.bottom;
    // What is out of sight is left out, and takes no row from what stands there.
    const shown = rows.filter((_, at) => !isOut(at));
    into.push({ x, y: Math.max(y, place.top), rows: shown, room });
  };
  if (node.nodeName === 'ink-text') {
    const texts = node.childNodes.map((child) => (child.nodeName === '#text' ? child.nodeValue : undefined));
    if (texts.includes(undefined)) return false;
    const transform = node.internal_transform ?? ((text: string) => text);
    const rows = texts.join('').split('\n');
    put(
      rows.map((text, at) => transform(text, at)),
      yogaNode.getComputedWidth(),
    );
    return true;
  }
  const bar = barOf(style);
  if (bar !== undefined) put(Array<string>(height).fill(bar), 1);
  const isCut = style.overflowY === 'hidden';
  const inside = isCut
    ? { x, y, top: Math.max(place.top, y), bottom: Math.min(place.bottom, y + height) }
    : { ...place, x, y };
  return node.childNodes.every((child) => child.nodeName !== '#text' && collect(child, inside, into));
}

function isDrawnByInk(style: DOMElement['style']): boolean {
  const { borderStyle, backgroundColor, overflow, overflowX, display } = style;
  return (
    (borderStyle !== undefined && barOf(style) === undefined) ||
    backgroundColor !== undefined ||
    [overflow, overflowX].includes('hidden') ||
    display === 'none'
  );
}

/** What a border draws that stands at the left alone and was painted by whoever gave it. */
function barOf(style: DOMElement['style']): string | undefined {
  const { borderStyle, borderTop, borderRight, borderBottom } = style;
  const isAlone = [borderTop, borderRight, borderBottom].every((side) => side === false) && style.borderLeft !== false;
  const isPainted = Object.entries(style).some(([key, value]) => /^border.*Color$/.test(key) && value !== undefined);
  return isAlone && !isPainted && typeof borderStyle === 'object' ? borderStyle.left : undefined;
}
