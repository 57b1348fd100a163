import type { Interface } from 'node:readline';
import { messageOf } from '../../lib/errors.ts';
import type { ScreenTerminal } from '../open-screen.ts';
import { inAscii } from '../terminal/in-ascii.ts';
import { editText } from '../terminal/step-aside.ts';
import { isBusy, type ViewState } from '../view/view-state.ts';
import type { LinearOptions } from './linear-options.ts';

/** Writes lines below what is being typed. While an editor has the terminal, they wait. */
export type LineWriter = {
  /** As it is, wherever the cursor stands. */
  write(text: string): void;
  say(lines: readonly string[]): void;
  /** What was saved; `undefined` when the editor failed, which is said. */
  editFile(text: string, name: string): Promise<string | undefined>;
  /** Leaves the line; nothing is said any more. */
  close(): void;
};

export function createLineWriter(
  reader: Pick<Interface, 'line' | 'prompt' | 'pause' | 'resume'>,
  terminal: ScreenTerminal,
  { lineEditing, editor = 'vi' }: Pick<LinearOptions, 'lineEditing' | 'editor'>,
  view: () => ViewState,
): LineWriter {
  const out = inAscii(terminal.out);
  let waiting: string[] | undefined;
  let isClosed = false;

  const write = (text: string) => void out.write(text);

  function say(lines: readonly string[]): void {
    waiting?.push(...lines);
    if (lines.length === 0 || isClosed || waiting !== undefined) return;
    write(`${reader.line === '' ? '\r' : '\r\n'}${lines.map((line) => `${line}\r\n`).join('')}`);
    // What is being typed is shown again.
    if (!isBusy(view()) || view().asks.length > 0 || reader.line !== '') reader.prompt(true);
  }

  return {
    write,
    say,
    async editFile(text, name) {
      if (waiting !== undefined) return undefined;
      waiting = [];
      reader.pause();
      if (lineEditing === 'own') terminal.in.setRawMode(false);
      let saved: string | undefined;
      let problem: readonly string[] = [];
      try {
        saved = await editText(text, editor, name);
      } catch (thrown) {
        problem = [messageOf(thrown)];
      }
      if (lineEditing === 'own') terminal.in.setRawMode(true);
      reader.resume();
      const late = waiting;
      waiting = undefined;
      say([...late, ...problem]);
      return saved;
    },
    close() {
      isClosed = true;
      write('\r\n');
    },
  };
}
