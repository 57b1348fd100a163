import { Writable } from 'node:stream';
import { Box, type DOMElement, render } from 'ink';
import { createElement, type ReactElement } from 'react';
import { asPrintable, type Printable } from '../../../lib/printable.ts';
import { type KnownWidths, laidOutRows } from './laid-out-rows.ts';

/** Ink without a terminal: it lays components out, whoever asks writes the rows. */
export type InkLayout = {
  rowsOf(element: ReactElement): readonly Printable[];
  close(): void;
};

/** Lays out for a terminal of such a size; the size is asked for at every frame. */
export function createInkLayout(size: { readonly columns: number; readonly rows: number }): InkLayout {
  let output = '';
  let widths: KnownWidths = new Map();
  let root: DOMElement | undefined;
  let drawByInk = () => {};
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      output = chunk.toString();
      done();
    },
  });
  Object.defineProperties(stream, { columns: { get: () => size.columns }, rows: { get: () => size.rows } });
  /** Ink goes on laying out whatever changes, and draws it cell by cell only where it is told to. */
  function take(box: DOMElement | null): void {
    if (box === null) return;
    root = topOf(box);
    drawByInk = root.onRender ?? drawByInk;
    root.onRender = () => {};
  }

  function framed(element?: ReactElement): ReactElement {
    return createElement(Box, { ref: take, flexDirection: 'column' }, element);
  }

  // Debug is Ink's name for handing over each frame whole and at once.
  const instance = render(framed(), {
    stdout: stream,
    debug: true,
    interactive: false,
    exitOnCtrlC: false,
    patchConsole: false,
  });

  return {
    rowsOf(element) {
      instance.rerender(framed(element));
      const read = root === undefined ? undefined : laidOutRows(root, widths);
      if (read !== undefined) {
        widths = read.widths;
        return read.rows;
      }
      drawByInk();
      return output.split('\n').map(asPrintable);
    },
    close: () => instance.unmount(),
  };
}

function topOf(node: DOMElement): DOMElement {
  return node.parentNode === undefined ? node : topOf(node.parentNode);
}
