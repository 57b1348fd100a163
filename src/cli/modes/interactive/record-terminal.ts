import { openSync, writeSync } from 'node:fs';
import { getErrorPhrase } from '../../../lib/errors.ts';
import type { ScreenTerminal } from '../../../ui/open-screen.ts';

/** The kinds of events in the recording: output, input, and a new size. */
type EventCode = 'o' | 'i' | 'r';

/**
 * Records everything that a terminal receives and sends as an asciicast v2 file, for `OURO_DEBUG_SCREEN`. Returns the
 * terminal to use instead, or the reason why the file cannot be written. Events are written at once, so that a
 * recording is complete up to a crash. Only the user can read the file: typed text may be secret.
 */
export function recordTerminal(
  { out, in: input }: ScreenTerminal,
  path: string,
  now: () => number,
): { readonly terminal: ScreenTerminal } | { readonly problem: string } {
  let file: number;
  try {
    file = openSync(path, 'w', 0o600);
  } catch (error) {
    return {
      problem: `The screen cannot be recorded to ${path}: ${getErrorPhrase(error)}. Change OURO_DEBUG_SCREEN.`,
    };
  }
  const startMs = now();
  const append = (line: object) => writeSync(file, `${JSON.stringify(line)}\n`);
  const record = (code: EventCode, data: string) => append([(now() - startMs) / 1000, code, data]);
  append({ version: 2, width: out.columns, height: out.rows, timestamp: Math.floor(startMs / 1000) });
  const onResize = () => record('r', `${out.columns}x${out.rows}`);
  const onData = (chunk: string) => record('i', String(chunk));
  out.on('resize', onResize);
  const recorded: ScreenTerminal = {
    out: {
      get columns() {
        return out.columns;
      },
      get rows() {
        return out.rows;
      },
      write(text) {
        record('o', text);
        return out.write(text);
      },
      isBlocked: () => out.isBlocked?.() === true,
      on: (event, listener) => out.on(event, listener),
      off: (event, listener) => out.off(event, listener),
    },
    in: {
      setRawMode: (mode) => input.setRawMode(mode),
      setEncoding: (encoding) => input.setEncoding(encoding),
      // Registered before the reader, so that an input is recorded before the output it causes.
      on(event, listener) {
        input.on(event, onData);
        return input.on(event, listener);
      },
      off(event, listener) {
        input.off(event, onData);
        return input.off(event, listener);
      },
      resume: () => input.resume(),
      pause: () => input.pause(),
    },
  };
  return { terminal: recorded };
}
