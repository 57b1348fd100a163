import type { Interface } from 'node:readline';
import { messageOf } from '../../lib/errors.ts';
import type { TerminalIn } from '../terminal/keyboard.ts';
import { editText } from '../terminal/step-aside.ts';

export type LineLendingParts = {
  readonly reader: Pick<Interface, 'pause' | 'resume'>;
  readonly input: Pick<TerminalIn, 'setRawMode'>;
  readonly lineEditing: 'own' | 'none';
  readonly editor: string | undefined;
  readonly say: (lines: readonly string[]) => void;
};

/** Gives the terminal to an editor for a while; what is to be said meanwhile waits. */
export function createLineLending({ reader, input, lineEditing, editor = 'vi', say }: LineLendingParts) {
  let waiting: string[] | undefined;

  return {
    /** Keeps the lines back while the terminal is lent. */
    keepsBack(lines: readonly string[]): boolean {
      waiting?.push(...lines);
      return waiting !== undefined;
    },
    /** What was saved; `undefined` when the editor failed, which is told. */
    async editFile(text: string, name: string): Promise<string | undefined> {
      if (waiting !== undefined) return undefined;
      waiting = [];
      reader.pause();
      if (lineEditing === 'own') input.setRawMode(false);
      let saved: string | undefined;
      let problem: readonly string[] = [];
      try {
        saved = await editText(text, editor, name);
      } catch (thrown) {
        problem = [messageOf(thrown)];
      }
      if (lineEditing === 'own') input.setRawMode(true);
      reader.resume();
      const late = waiting;
      waiting = undefined;
      say([...late, ...problem]);
      return saved;
    },
  };
}
