import type { Interface } from 'node:readline';
import { messageOf } from '../../lib/errors.ts';
import { joinPrinted, type Printable, printed } from '../../lib/printable.ts';
import { printableLine } from '../../lib/text/sanitize.ts';
import type { ScreenTerminal } from '../open-screen.ts';
import { inAscii } from '../terminal/in-ascii.ts';
import { editText } from '../terminal/step-aside.ts';
import { isBusy, type ViewState } from '../view/view-state.ts';
import type { LinearOptions } from './linear-options.ts';

/** Writes lines below what is being typed. While an editor has the terminal, they wait. */
export type LinearWriter = {
  /** As it is, wherever the cursor stands. */
  write(text: Printable): void;
  /** Whatever others have written in the lines is cleaned here. */
  say(lines: readonly string[]): void;
  /** What was saved; `undefined` when the editor failed, which is said. */
  editFile(text: string, name: string): Promise<string | undefined>;
  /** Leaves the line; nothing is said any more. */
  close(): void;
};

export function createLinearWriter(
  reader: Pick<Interface, 'line' | 'prompt' | 'pause' | 'resume'>,
  terminal: ScreenTerminal,
  { lineEditing, editor = 'vi' }: Pick<LinearOptions, 'lineEditing' | 'editor'>,
  view: () => ViewState,
): LinearWriter {
  const out = inAscii(terminal.out);
  let waiting: string[] | undefined;
  let isClosed = false;

  const write = (text: Printable) => void out.write(text);

  function say(lines: readonly string[]): void {
    waiting?.push(...lines);
    if (lines.length === 0 || isClosed || waiting !== undefined) return;
    write(printed`${reader.line === '' ? printed`\r` : printed`\r\n`}${joinPrinted(lines.map(ended))}`);
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
      write(printed`\r\n`);
    },
  };
}

/** A line of words, where lines are only ever added. */
export function ended(line: string): Printable {
  return printed`${printableLine(line)}\r\n`;
}
