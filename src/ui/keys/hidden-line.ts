import { type Printable, printed } from '../../lib/printable.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import type { TerminalIn } from './terminal-in.ts';

/** What was typed so far, or how it ended. */
type Typed =
  | { readonly state: 'typing'; readonly text: string }
  | { readonly state: 'given'; readonly text: string }
  | { readonly state: 'left' };

/** Asks for a line that nobody sees on the screen; `undefined` when the person leaves with Ctrl-C, Ctrl-D or ESC. */
export function readHiddenLine(
  input: TerminalIn,
  write: (text: Printable) => void,
  label: string,
): Promise<string | undefined> {
  write(sanitize(label, 'prompt'));
  let typed: Typed = { state: 'typing', text: '' };
  return new Promise((resolve) => {
    const onData = (chunk: string): void => {
      typed = typedAfter(typed, String(chunk));
      if (typed.state === 'typing') return;
      input.off('data', onData);
      input.setRawMode(false);
      input.pause();
      write(printed`\r\n`);
      resolve(typed.state === 'given' ? typed.text : undefined);
    };
    input.setEncoding('utf8');
    input.setRawMode(true);
    input.on('data', onData);
    input.resume();
  });
}

const PASTE_MARKS = /\u001b\[20[01]~/g;

function typedAfter(before: Typed, chunk: string): Typed {
  let typed = before;
  for (const key of chunk.replaceAll(PASTE_MARKS, '')) {
    if (typed.state !== 'typing') return typed;
    typed = afterKey(typed, key);
  }
  return typed;
}

function afterKey({ text }: Extract<Typed, { readonly state: 'typing' }>, key: string): Typed {
  switch (key) {
    case '\r':
    case '\n':
      return { state: 'given', text };
    case '\u0003':
    case '\u0004':
    case '\u001b':
      return { state: 'left' };
    case '\u007f':
    case '\b':
      return { state: 'typing', text: [...text].slice(0, -1).join('') };
    case '\u0015':
      return { state: 'typing', text: '' };
    default:
      return { state: 'typing', text: text + key };
  }
}
