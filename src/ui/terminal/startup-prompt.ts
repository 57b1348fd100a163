import { closeSync, constants, openSync, readSync } from 'node:fs';
import { markAsPrintable, printable } from '../../lib/printable.ts';
import type { TerminalInput } from '../input/keyboard-reader.ts';
import type { TerminalOutput } from './screen-frame-writer.ts';

/** A prompt that shows what is typed while the program is loading. */
export type StartupPrompt = ReturnType<typeof showStartupPrompt>;

/** The input of the terminal, to which keys can be given back. */
type ReturnableInput = TerminalInput & { unshift(text: string): unknown };

/** Narrower than the bar of the composer: what is typed is kept, but commands and menus are not there yet. */
const BAR = '▏';
/** The longest line that a terminal takes outside of raw mode. */
const MAX_LINE_BYTES = 4096;
/** Letters, digits and signs, nothing that a terminal would execute or that changes its direction. */
const TYPED = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;

/**
 * Reads the lines that were typed before the program took the terminal, such as a prompt typed while it was started. The
 * terminal has translated their Enter keys, which are given back as typed. Must be called before raw mode.
 */
export function readTypedLines(): string {
  const lines: Buffer[] = [];
  try {
    const terminal = openSync('/dev/tty', constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const line = Buffer.alloc(MAX_LINE_BYTES);
      // In this mode a read returns one line, and none fails.
      for (let size = 1; size > 0; ) {
        size = readSync(terminal, line);
        lines.push(Buffer.from(line.subarray(0, size)));
      }
    } finally {
      closeSync(terminal);
    }
  } catch {
    // No more lines, or a system without this device.
  }
  return Buffer.concat(lines).toString('utf8').replaceAll('\n', '\r');
}

/**
 * Shows a prompt of one row, `rowsAbove` rows below the cursor, where the composer will be. Nothing is interpreted: the
 * bytes are given back to the terminal input, so that the screen handles them as if they had been typed later.
 */
export function showStartupPrompt(input: ReturnableInput, out: TerminalOutput, rowsAbove: number) {
  let received = '';
  let shown = '';
  let isOpen = true;

  function onData(chunk: string): void {
    received += chunk;
    // Half of the columns are enough for double-width letters; the composer shows the rest.
    const isShowable = shown.length + chunk.length < out.columns / 2 && received === shown + chunk;
    if (!isShowable || !TYPED.test(chunk)) return;
    shown += chunk;
    out.write(markAsPrintable(chunk));
  }

  /** Gives the keys to the next reader of the terminal and puts the cursor where the first frame begins. */
  function handOver(): void {
    if (!isOpen) return;
    isOpen = false;
    input.off('data', onData);
    input.pause();
    if (received !== '') input.unshift(received);
    out.write(printable`\u001b[?25l\r${rowsAbove === 0 ? printable`` : printable`\u001b[${rowsAbove}A`}`);
  }

  out.write(markAsPrintable(`${'\r\n'.repeat(rowsAbove)}${BAR} `));
  input.setEncoding('utf8');
  input.on('data', onData);
  input.resume();
  return {
    handOver,
    /** Hands over and erases the prompt. */
    close() {
      if (!isOpen) return;
      handOver();
      out.write(printable`\u001b[J\u001b[?25h`);
    },
  };
}
