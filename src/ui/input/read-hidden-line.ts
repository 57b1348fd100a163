import { type Printable, printable } from '../../lib/printable.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { TerminalInput } from './keyboard-reader.ts';

/** The input so far, or how it ended. */
type HiddenInput =
  | { readonly state: 'typing'; readonly text: string }
  | { readonly state: 'submitted'; readonly text: string }
  | { readonly state: 'cancelled' };

/** Reads a line without showing it. Returns `undefined` when the user cancels with Ctrl-C, Ctrl-D or ESC. */
export function readHiddenLine(
  input: TerminalInput,
  write: (text: Printable) => void,
  label: string,
): Promise<string | undefined> {
  return readLine(input, write, label, () => undefined);
}

/** Reads a line and shows it as it is typed. After a correction the line is shown again. */
export function readShownLine(
  input: TerminalInput,
  write: (text: Printable) => void,
  label: string,
): Promise<string | undefined> {
  return readLine(input, write, label, (before, text) => {
    if (text.startsWith(before)) write(sanitize(text.slice(before.length), 'prompt'));
    else write(printable`\r\n${sanitize(`${label}${text}`, 'prompt')}`);
  });
}

function readLine(
  input: TerminalInput,
  write: (text: Printable) => void,
  label: string,
  show: (before: string, text: string) => void,
): Promise<string | undefined> {
  write(sanitize(label, 'prompt'));
  let current: HiddenInput = { state: 'typing', text: '' };
  return new Promise((resolve) => {
    const onData = (chunk: string): void => {
      const before = current.state === 'typing' ? current.text : '';
      current = applyChunk(current, String(chunk));
      if (current.state !== 'cancelled') show(before, current.text);
      if (current.state === 'typing') return;
      input.off('data', onData);
      input.setRawMode(false);
      input.pause();
      write(printable`\r\n`);
      resolve(current.state === 'submitted' ? current.text : undefined);
    };
    input.setEncoding('utf8');
    input.setRawMode(true);
    input.on('data', onData);
    input.resume();
  });
}

const PASTE_MARKERS = /\u001b\[20[01]~/g;

function applyChunk(input: HiddenInput, chunk: string): HiddenInput {
  let current = input;
  for (const key of chunk.replaceAll(PASTE_MARKERS, '')) {
    if (current.state !== 'typing') return current;
    current = applyKey(current, key);
  }
  return current;
}

function applyKey({ text }: Extract<HiddenInput, { readonly state: 'typing' }>, key: string): HiddenInput {
  switch (key) {
    case '\r':
    case '\n':
      return { state: 'submitted', text };
    case '\u0003':
    case '\u0004':
    case '\u001b':
      return { state: 'cancelled' };
    case '\u007f':
    case '\b':
      return { state: 'typing', text: [...text].slice(0, -1).join('') };
    case '\u0015':
      return { state: 'typing', text: '' };
    default:
      return { state: 'typing', text: text + key };
  }
}
