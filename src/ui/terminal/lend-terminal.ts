import { messageOf } from '../../lib/errors.ts';
import { edit } from '../composer/edit.ts';
import { expandFolds } from '../composer/folds.ts';
import { readHiddenLine } from '../keys/hidden-line.ts';
import type { TerminalIn } from '../keys/terminal-in.ts';
import { printing, type ViewState } from '../view/view-state.ts';
import type { Keyboard } from './keyboard.ts';
import { MODES_OFF, MODES_ON } from './modes.ts';
import type { ScreenOutput } from './screen-output.ts';
import { editText, stopUntilContinued } from './step-aside.ts';

/** So long reports of a terminal are on their way, also over a network. */
const REPORTS_MS = 60;

export type LendingParts = {
  readonly output: Pick<ScreenOutput, 'stepAside' | 'comeBack' | 'write'>;
  readonly keyboard: Keyboard;
  readonly now: () => ViewState;
  readonly change: (update: (view: ViewState) => ViewState) => void;
  readonly editor: string | undefined;
};

/** Gives the terminal to somebody else for a while: to the shell when we are stopped, to an editor. */
export type Lending = {
  /** While it is lent, nothing may be drawn. */
  isLent(): boolean;
  suspend(): void;
  editExternally(): void;
  /** What was saved; `undefined` when the editor failed, which is told. */
  editFile(text: string, name: string): Promise<string | undefined>;
  /** A line that nobody sees while it is typed; `undefined` when the person left it. */
  askHidden(label: string, input: TerminalIn): Promise<string | undefined>;
};

export function createLending({ output, keyboard, now, change, editor = 'vi' }: LendingParts): Lending {
  let isLent = false;

  async function lend(use: () => Promise<void>): Promise<void> {
    if (isLent) return;
    isLent = true;
    output.stepAside();
    // What the terminal has reported before it hears this must find us still reading, or it is echoed.
    output.write(MODES_OFF);
    await new Promise((resolve) => setTimeout(resolve, REPORTS_MS));
    keyboard.close();
    try {
      await use();
    } catch (thrown) {
      const text = messageOf(thrown);
      change((view) => printing(view, { kind: 'notice', level: 'warn', text }));
    } finally {
      keyboard.open();
      output.write(MODES_ON);
      isLent = false;
      output.comeBack();
      change((view) => view);
    }
  }

  return {
    isLent: () => isLent,
    suspend: () => void lend(stopUntilContinued),
    editExternally: () =>
      void lend(async () => {
        const before = now().editor;
        const saved = await editText(expandFolds(before.text, before.folds), editor, 'message.md');
        const text = saved.replace(/\r?\n$/, '');
        change((view) => ({ ...view, editor: edit(view.editor, { type: 'set-text', text }, 0) }));
      }),
    async editFile(text, name) {
      let saved: string | undefined;
      await lend(async () => {
        saved = await editText(text, editor, name);
      });
      return saved;
    },
    async askHidden(label, input) {
      let line: string | undefined;
      await lend(async () => {
        line = await readHiddenLine(input, output.write, label);
      });
      return line;
    },
  };
}
