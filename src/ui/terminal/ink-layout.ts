import { Writable } from 'node:stream';
import { render } from 'ink';
import type { ReactElement } from 'react';
import { asPrintable, type Printable } from '../../lib/printable.ts';

/** Ink without a terminal: it lays components out, whoever asks writes the rows. */
export type InkLayout = {
  rowsOf(element: ReactElement): readonly Printable[];
  close(): void;
};

/** Lays out for a terminal of such a size; the size is asked for at every frame. */
export function createInkLayout(size: { readonly columns: number; readonly rows: number }): InkLayout {
  let output = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      output = chunk.toString();
      done();
    },
  });
  Object.defineProperties(stream, { columns: { get: () => size.columns }, rows: { get: () => size.rows } });
  // Debug is Ink's name for handing over each frame whole and at once.
  const instance = render(null, {
    stdout: stream,
    debug: true,
    interactive: false,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  return {
    rowsOf(element) {
      instance.rerender(element);
      return output.split('\n').map(asPrintable);
    },
    close: () => instance.unmount(),
  };
}
