import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { Box, type DOMElement, render } from 'ink';
import { createElement, type ReactElement } from 'react';
import { markAsPrintable, type Printable } from '../../lib/printable.ts';
import { getTextWidth } from '../../lib/text/text-width.ts';

/** Creates a layout by Ink, which lays out components; the caller writes the rows. The size is read for every frame. */
export function createInkLayout(size: { readonly columns: number; readonly rows: number }) {
  let output = '';
  let widths: WidthCache = new Map();
  let root: DOMElement | undefined;
  let renderByInk = () => {};
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      output = chunk.toString();
      done();
    },
  });
  Object.defineProperties(stream, { columns: { get: () => size.columns }, rows: { get: () => size.rows } });
  /** Disables the rendering of Ink, which draws cell by cell, but keeps its layout. */
  function captureRoot(box: DOMElement | null): void {
    if (box === null) return;
    root = findRoot(box);
    renderByInk = root.onRender ?? renderByInk;
    root.onRender = () => {};
  }

  function wrapElement(element?: ReactElement): ReactElement {
    return createElement(Box, { ref: captureRoot, flexDirection: 'column' }, element);
  }

  // In debug mode, Ink writes each frame as a whole and at once.
  const instance = render(wrapElement(), {
    stdout: stream,
    debug: true,
    interactive: false,
    exitOnCtrlC: false,
    patchConsole: false,
  });

  return {
    layoutRows(element: ReactElement): readonly Printable[] {
      instance.rerender(wrapElement(element));
      const result = root === undefined ? undefined : readLaidOutRows(root, widths);
      if (result !== undefined) {
        widths = result.widths;
        return result.rows;
      }
      renderByInk();
      return output.split('\n').map(markAsPrintable);
    },
    close: () => instance.unmount(),
  };
}

function findRoot(node: DOMElement): DOMElement {
  return node.parentNode === undefined ? node : findRoot(node.parentNode);
}

/** Rows of text at the position that Ink has computed; `width` is the available width. */
type Piece = { readonly x: number; readonly y: number; readonly rows: readonly string[]; readonly width: number };

/** The widths of the rows of the last frame, as most rows do not change. */
type WidthCache = Map<string, number>;

/** The offset of a node, and the rows of the screen that it may fill. */
type ClipArea = { readonly x: number; readonly y: number; readonly top: number; readonly bottom: number };

/**
 * Returns the rows of a tree that Ink has laid out, if it contains only texts and left borders that do not overlap.
 * Returns undefined for anything else (boxes, horizontal clipping, overlaps), which Ink has to render.
 *
 * @internal Exported for tests.
 */
export function readLaidOutRows(
  root: DOMElement,
  known: WidthCache,
): { readonly rows: readonly Printable[]; readonly widths: WidthCache } | undefined {
  const pieces: Piece[] = [];
  const height = root.yogaNode?.getComputedHeight() ?? 0;
  if (!collectPieces(root, { x: 0, y: 0, top: 0, bottom: height }, pieces)) return undefined;
  const widths: WidthCache = new Map();
  const measure = (text: string) => {
    const width = known.get(text) ?? getTextWidth(stripVTControlCharacters(text));
    widths.set(text, width);
    return width;
  };
  const rows = Array.from({ length: height }, () => ({ text: '', width: 0 }));
  for (const piece of pieces) {
    for (const [at, text] of piece.rows.entries()) {
      const row = rows[piece.y + at];
      const width = measure(text);
      if (row === undefined || row.width > piece.x || width > piece.width) return undefined;
      row.text += ' '.repeat(piece.x - row.width) + text;
      row.width = piece.x + width;
    }
  }
  return { rows: rows.map(({ text }) => markAsPrintable(text.trimEnd())), widths };
}

/** Collects the texts of a tree in order. Returns false if the tree contains anything else. */
function collectPieces(node: DOMElement, area: ClipArea, pieces: Piece[]): boolean {
  const { yogaNode, style } = node;
  if (yogaNode === undefined || needsInk(style)) return false;
  const x = area.x + yogaNode.getComputedLeft();
  const y = area.y + yogaNode.getComputedTop();
  const height = yogaNode.getComputedHeight();
  const addPiece = (rows: readonly string[], width: number) => {
    const isClipped = (at: number) => y + at < area.top || y + at >= area.bottom;
    const visible = rows.filter((_, at) => !isClipped(at));
    pieces.push({ x, y: Math.max(y, area.top), rows: visible, width });
  };
  if (node.nodeName === 'ink-text') {
    const texts = node.childNodes.map((child) => (child.nodeName === '#text' ? child.nodeValue : undefined));
    if (texts.includes(undefined)) return false;
    const transform = node.internal_transform ?? ((text: string) => text);
    const rows = texts.join('').split('\n');
    addPiece(
      rows.map((text, at) => transform(text, at)),
      yogaNode.getComputedWidth(),
    );
    return true;
  }
  const bar = getLeftBorder(style);
  if (bar !== undefined) addPiece(Array<string>(height).fill(bar), 1);
  const isClipping = style.overflowY === 'hidden';
  const inside: ClipArea = isClipping
    ? { x, y, top: Math.max(area.top, y), bottom: Math.min(area.bottom, y + height) }
    : { ...area, x, y };
  return node.childNodes.every((child) => child.nodeName !== '#text' && collectPieces(child, inside, pieces));
}

function needsInk(style: DOMElement['style']): boolean {
  const { borderStyle, backgroundColor, overflow, overflowX, display } = style;
  return (
    (borderStyle !== undefined && getLeftBorder(style) === undefined) ||
    backgroundColor !== undefined ||
    [overflow, overflowX].includes('hidden') ||
    display === 'none'
  );
}

/** Returns the text of a left border, if it is the only border and its style is already coloured by the caller. */
function getLeftBorder(style: DOMElement['style']): string | undefined {
  const { borderStyle, borderTop, borderRight, borderBottom } = style;
  const isAlone = [borderTop, borderRight, borderBottom].every((side) => side === false) && style.borderLeft !== false;
  const isPainted = Object.entries(style).some(([key, value]) => /^border.*Color$/.test(key) && value !== undefined);
  return isAlone && !isPainted && typeof borderStyle === 'object' ? borderStyle.left : undefined;
}
