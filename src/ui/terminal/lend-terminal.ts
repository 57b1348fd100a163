import { messageOf } from '../../lib/errors.ts';
import { edit } from '../composer/edit.ts';
import { expandFolds } from '../composer/folds.ts';
import { printing, type ViewState } from '../view/view-state.ts';
import type { Keyboard } from './keyboard.ts';
import { MODES_OFF, MODES_ON } from './modes.ts';
import type { ScreenOutput } from './screen-output.ts';
import { editText, stopUntilContinued } from './step-aside.ts';

export type LendingParts = {
  readonly output: ScreenOutput;
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
};

export function createLending({ output, keyboard, now, change, editor = 'vi' }: LendingParts): Lending {
  let isLent = false;

  async function lend(use: () => Promise<void>): Promise<void> {
    if (isLent) return;
    isLent = true;
    output.stepAside();
    keyboard.close();
    output.write(MODES_OFF);
    try {
      await use();
    } catch (thrown) {
      const text = messageOf(thrown);
      change((view) => printing(view, { kind: 'notice', level: 'warn', text }));
    } finally {
      output.write(MODES_ON);
      keyboard.open();
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
  };
}
