import { stripVTControlCharacters } from 'node:util';
import type { DOMElement } from 'ink';
import { asPrintable, type Printable } from '../../../lib/printable.ts';
import { textWidth } from '../../../lib/text/text-width.ts';

/** A piece of text where Ink has put it. */
type Piece = { readonly x: number; readonly y: number; readonly rows: readonly string[]; readonly room: number };

/** How wide rows are, as far as the last frame has seen them: most of them stay as they are. */
export type KnownWidths = Map<string, number>;

/**
 * The rows of a tree that Ink has laid out, as far as it is nothing but texts beside and below one another that fit;
 * else undefined, and Ink draws it: borders, what is cut, what lies over something else.
 */
export function laidOutRows(
  root: DOMElement,
  known: KnownWidths,
): { readonly rows: readonly Printable[]; readonly widths: KnownWidths } | undefined {
  const pieces: Piece[] = [];
  if (!collect(root, 0, 0, pieces)) return undefined;
  const widths: KnownWidths = new Map();
  const widthOf = (text: string) => {
    const width = known.get(text) ?? textWidth(stripVTControlCharacters(text));
    widths.set(text, width);
    return width;
  };
  const rows = Array.from({ length: root.yogaNode?.getComputedHeight() ?? 0 }, () => ({ text: '', width: 0 }));
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
function collect(node: DOMElement, left: number, top: number, into: Piece[]): boolean {
  const { yogaNode, style } = node;
  if (yogaNode === undefined || isDrawnByInk(style)) return false;
  const x = left + yogaNode.getComputedLeft();
  const y = top + yogaNode.getComputedTop();
  if (node.nodeName !== 'ink-text')
    return node.childNodes.every((child) => child.nodeName !== '#text' && collect(child, x, y, into));
  const texts = node.childNodes.map((child) => (child.nodeName === '#text' ? child.nodeValue : undefined));
  if (texts.includes(undefined)) return false;
  const rows = texts.join('').split('\n');
  const transform = node.internal_transform ?? ((text: string) => text);
  into.push({ x, y, rows: rows.map((text, at) => transform(text, at)), room: yogaNode.getComputedWidth() });
  return true;
}

function isDrawnByInk(style: DOMElement['style']): boolean {
  const { borderStyle, backgroundColor, overflow, overflowX, overflowY, display } = style;
  return (
    [borderStyle, backgroundColor].some((one) => one !== undefined) ||
    [overflow, overflowX, overflowY].includes('hidden') ||
    display === 'none'
  );
}
