import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getErrorMessage } from '../../lib/errors.ts';
import { addHistoryItems, type ViewState } from '../app-state/view-state.ts';
import type { KeyboardReader, TerminalInput } from '../input/keyboard-reader.ts';
import { readHiddenLine } from '../input/read-hidden-line.ts';
import { applyDraftEditorAction } from '../widgets/composer/draft-editor-actions.ts';
import { expandPlaceholders } from '../widgets/composer/paste-placeholders.ts';
import type { ScreenOutput } from './screen-output.ts';
import { TERMINAL_MODES_OFF, TERMINAL_MODES_ON } from './terminal-modes.ts';

/** Longest time until pending reports of the terminal have arrived, also over a network. */
const REPORTS_MS = 60;

/** The dependencies of the terminal handover. */
type HandoverDeps = {
  readonly output: Pick<ScreenOutput, 'pause' | 'resume' | 'write'>;
  readonly keyboard: KeyboardReader;
  readonly getView: () => ViewState;
  readonly updateView: (update: (view: ViewState) => ViewState) => void;
  readonly editor: string | undefined;
};

/** Creates the handover of a terminal to the shell when the process is suspended, or to an editor. */
export function createTerminalHandover({
  output,
  keyboard,
  getView,
  updateView,
  editor = DEFAULT_EDITOR,
}: HandoverDeps) {
  let isLent = false;

  async function handOver(use: () => Promise<void>): Promise<void> {
    if (isLent) return;
    isLent = true;
    output.pause();
    // Reports sent before the terminal reads this must still be read here, or the terminal echoes them.
    output.write(TERMINAL_MODES_OFF);
    await new Promise((resolve) => setTimeout(resolve, REPORTS_MS));
    keyboard.close();
    try {
      await use();
    } catch (thrown) {
      const text = getErrorMessage(thrown);
      updateView((view) => addHistoryItems(view, { kind: 'notice', level: 'warn', text }));
    } finally {
      keyboard.open();
      output.write(TERMINAL_MODES_ON);
      isLent = false;
      output.resume();
      updateView((view) => view);
    }
  }

  return {
    /** Reports whether another program uses the terminal, so that nothing may be drawn. */
    isHandedOver: (): boolean => isLent,
    // Windows has no stopped processes.
    suspend: () => (isWindows ? undefined : void handOver(suspendUntilContinued)),
    openExternalEditor: () =>
      void handOver(async () => {
        const draft = getView().editor;
        const saved = await editInEditor(expandPlaceholders(draft.text, draft.placeholders), editor, 'message.md');
        const text = saved.replace(/\r?\n$/, '');
        updateView((view) => ({ ...view, editor: applyDraftEditorAction(view.editor, { type: 'set-text', text }, 0) }));
      }),
    /** Opens text in the user's editor. Returns the saved text; `undefined` after a failure, which is reported. */
    async editFile(text: string, name: string): Promise<string | undefined> {
      let saved: string | undefined;
      await handOver(async () => {
        saved = await editInEditor(text, editor, name);
      });
      return saved;
    },
    /** Reads a line without showing it; `undefined` when the user cancels. */
    async readHiddenLine(label: string, input: TerminalInput): Promise<string | undefined> {
      let line: string | undefined;
      await handOver(async () => {
        line = await readHiddenLine(input, output.write, label);
      });
      return line;
    },
  };
}

const isWindows = process.platform === 'win32';

/** The editor of those who have not set one. */
export const DEFAULT_EDITOR = isWindows ? 'notepad' : 'vi';

/** Longest time until the stop signal takes effect. Without a shell with job control it never does. */
const STOP_MS = 200;

/** Suspends the process group, as Ctrl-Z does, and resolves when it continues. */
async function suspendUntilContinued(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once('SIGCONT', resolve);
  process.kill(0, 'SIGTSTP');
  const timer = setTimeout(resolve, STOP_MS);
  await promise;
  clearTimeout(timer);
  process.off('SIGCONT', resolve);
}

/** Opens text in an editor and returns the saved text. The editor needs the terminal for itself. */
export async function editInEditor(text: string, editor: string, name: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'ouro-edit-'));
  const file = join(dir, name);
  try {
    await writeFile(file, text, { mode: 0o600 });
    const { execa } = await import('execa');
    // The setting may contain arguments (`code --wait`), so the shell of the system parses it.
    const line = isWindows ? `${editor} "${file}"` : `${editor} '${file.replaceAll("'", `'\\''`)}'`;
    const { exitCode: code } = await execa(line, { shell: true, stdio: 'inherit', reject: false });
    if (code !== 0) throw new Error(`The editor (${editor}) exited with ${code ?? 'a signal'}; the text is unchanged.`);
    return await readFile(file, 'utf8');
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
