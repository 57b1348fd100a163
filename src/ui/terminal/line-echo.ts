import { Writable } from 'node:stream';
import { markAsPrintable } from '../../lib/printable.ts';
import type { TerminalOutput } from './screen-frame-writer.ts';

/** Creates the stream on which the line being typed is shown. It writes where everything else is written. */
export function createLineEcho(out: TerminalOutput): Writable {
  const echo = new Writable({
    decodeStrings: false,
    write(text, _encoding, done) {
      out.write(markAsPrintable(String(text)));
      done();
    },
    destroy(error, done) {
      out.off('resize', onResize);
      done(error);
    },
  });
  const onResize = () => echo.emit('resize');
  out.on('resize', onResize);
  // The line editor asks its stream for the size of the terminal.
  Object.defineProperties(echo, { columns: { get: () => out.columns }, rows: { get: () => out.rows } });
  return echo;
}
