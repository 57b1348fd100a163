import { createInterface, type Interface } from 'node:readline';
import type { Conversation, PromptDraft } from '../../contracts/frontend/conversation.ts';
import { joinPrintable, printable } from '../../lib/printable.ts';
import { isModalOverlay } from '../app-state/overlay.ts';
import { createViewState, isBusy, type ViewState } from '../app-state/view-state.ts';
import { createBanner, getStatusLineFacts } from '../effects/conversation-facts.ts';
import { captureDraft, describeUnsent, restoreDraft } from '../effects/draft-storage.ts';
import { createLiveConversationView, type LiveConversationView } from '../effects/live-conversation-view.ts';
import { handleInput } from '../input/handle-input.ts';
import type { InputContext, InputResult } from '../input/input-result.ts';

import type { ScreenHandle, ScreenTerminal } from '../open-screen.ts';
import { createLineEcho } from '../terminal/line-echo.ts';
import type { RenderContext } from '../text/render-context.ts';
import { createDraftEditor, type DraftEditorState } from '../widgets/composer/draft-editor-state.ts';
import { expandPlaceholders } from '../widgets/composer/paste-placeholders.ts';
import { INITIAL_HISTORY_RENDER_STATE } from '../widgets/history/history-lines.ts';
import { describeOpenQuestion, describeViewChanges } from './describe-view-changes.ts';
import { handleLinearLine } from './handle-linear-line.ts';
import {
  createLinearOutput,
  createLinearRenderContext,
  createLinearWriter,
  type LinearScreenOptions,
  type LinearWriter,
  sanitizeLinearLine,
} from './linear-output.ts';

/** Opens a screen that only appends lines, for screen readers and for terminals without cursor control. */
export function openLinearScreen(
  conversation: Conversation,
  terminal: ScreenTerminal,
  options: LinearScreenOptions,
): ScreenHandle {
  const canEditLine = options.lineEditing === 'own';
  const echo = createLineEcho(terminal.out);
  const reader = createInterface({
    input: process.stdin,
    output: echo,
    terminal: canEditLine,
    prompt: 'You: ',
  });
  const writer = createLinearWriter(reader, terminal, options, () => live.getView());
  const { writeLines } = writer;
  const getDrawing = (): RenderContext =>
    createLinearRenderContext(terminal.out, options.now(), conversation.info().cwd);
  const notes = createProgressNotes((line) => writeLines(live.getView().dialogRequests.length === 0 ? [line] : []));
  const live = createLiveConversationView({
    conversation,
    options,
    output: createLinearOutput(writer.write, getDrawing),
    initialState: createViewState(getStatusLineFacts(conversation), conversation.info().todos),
    describeUnsent: () => drafts.describeUnsent(),
    suspend: () => undefined,
    openExternalEditor: () => writeLines(['The external editor is not available here.']),
    editFile: writer.editFile,
    repaint: () => reader.prompt(true),
    onChange(before, event) {
      if (event?.type === 'agent_start') notes.start();
      if (event?.type === 'agent_end') notes.stop();
      show(before);
    },
  });
  const drafts = createLinearDraft(conversation, reader, options, live.getView, writeLines);
  let carry = INITIAL_HISTORY_RENDER_STATE;

  function show(before: ViewState): void {
    const change = describeViewChanges(before, live.getView(), getDrawing(), carry);
    carry = change.carry;
    live.apply({ view: change.view, effects: [] });
    if (change.hasNewQuestion && options.notify !== 'off') writer.write(printable`\u0007`);
    if (isBusy(before) && !isBusy(change.view) && change.lines.length === 0) reader.prompt(true);
    writeLines(change.lines);
    if (change.view.queue !== before.queue) drafts.save();
  }

  /** Applies the result of a key or a line. */
  function applyResult(result: InputResult): void {
    const before = live.getView();
    live.apply(result);
    show(before);
    const { hint } = live.getView();
    if (hint !== undefined && hint !== before.hint) writeLines([hint.text]);
  }

  function onLine(line: string): void {
    const view = live.getView();
    const draft = line === '/draft' ? drafts.take() : undefined;
    const result = handleLinearLine(view, line, createContext(live, options), draft);
    if (result === 'repeat') writeLines(describeOpenQuestion(view, getDrawing()));
    else applyResult(result);
    if (line.trim() === '' && view.dialogRequests.length === 0 && !isModalOverlay(view.overlay)) reader.prompt();
    drafts.save();
  }

  const stopReading = readTerminal(reader, {
    onLine,
    onChord: (chord) =>
      applyResult(handleInput(live.getView(), { type: 'key', chord, text: '' }, createContext(live, options))),
    onKey: drafts.save,
    onEnd: () => live.leave({ type: 'leave' }),
  });
  writeGreeting(live, writer, options);
  void drafts.restore().catch(() => undefined); // The session works without the draft.
  if (options.prompt !== undefined) {
    writer.write(joinPrintable(options.prompt.split('\n').map(sanitizeLinearLine)));
    onLine(options.prompt);
  }
  let isClosed = false;
  return {
    ended: live.ended,
    close() {
      if (isClosed) return;
      isClosed = true;
      notes.stop();
      live.close();
      stopReading();
      echo.destroy();
      writer.close();
    },
  };
}

function createContext({ conversation, output }: LiveConversationView, { now }: LinearScreenOptions): InputContext {
  const viewer: InputContext['viewer'] = { height: output.getHeight(), layOut: () => [] };
  return {
    nowMs: now(),
    get commands() {
      return conversation.commands();
    },
    quietMs: 0,
    viewer,
  };
}

/** Writes the greeting and the first prompt. */
function writeGreeting(
  { conversation }: LiveConversationView,
  { write, writeLines }: LinearWriter,
  options: LinearScreenOptions,
): void {
  const { reason, keyProblems = [], opens } = options;
  const info = conversation.info();
  const { version, model, window } = createBanner(info);
  const banner = `ouro ${version}     ${model} · ${window} window`;
  write(joinPrintable([reason, banner, ...info.warnings, ...keyProblems].map(sanitizeLinearLine)));
  writeLines(['Type a message and press enter. /help lists commands, /stop stops the turn, /exit exits.']);
  if (opens !== 'sessions') {
    conversation.runStartHooks?.();
    conversation.editor?.start();
  }
}

type TerminalListeners = {
  readonly onLine: (line: string) => void;
  readonly onChord: (chord: string) => void;
  /** Called for every key. */
  readonly onKey: () => void;
  readonly onEnd: () => void;
};

/** Listens for lines and for the two keys with a meaning of their own. Returns a function that stops listening. */
function readTerminal(reader: Interface, { onLine, onChord, onKey, onEnd }: TerminalListeners): () => void {
  const onKeypress = (_text: string, key: { readonly name?: string } | undefined) => {
    if (key?.name === 'escape') onChord('escape');
    onKey();
  };
  reader.on('line', onLine);
  reader.on('SIGINT', () => onChord('ctrl+c'));
  reader.on('close', onEnd);
  process.stdin.on('keypress', onKeypress);
  return () => {
    process.stdin.off('keypress', onKeypress);
    reader.close();
  };
}

/** A note is written after these seconds, then every minute. */
const NOTE_SECONDS = [10, 30, 60];

/** Creates a timer that reports now and then that a run is still working. */
function createProgressNotes(write: (line: string) => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;

  function scheduleNote(step: number): void {
    const passed = step === 0 ? 0 : getNoteSeconds(step - 1);
    timer = setTimeout(
      () => {
        write(`Still working, ${getNoteSeconds(step)} seconds.`);
        scheduleNote(step + 1);
      },
      (getNoteSeconds(step) - passed) * 1000,
    );
  }

  return { start: () => scheduleNote(0), stop: () => clearTimeout(timer) };
}

function getNoteSeconds(step: number): number {
  return NOTE_SECONDS[step] ?? 60 * (step - NOTE_SECONDS.length + 2);
}

/** Creates the storage of unsent text for the linear screen, where only one line can be edited. */
function createLinearDraft(
  conversation: Conversation,
  reader: Interface,
  { lineEditing, now: nowMs }: LinearScreenOptions,
  now: () => ViewState,
  say: (lines: readonly string[]) => void,
) {
  /** Restored draft that does not fit into a line. */
  let restored: DraftEditorState | undefined;

  function save(): void {
    const view = now();
    // While a question is open, the line is an answer and not a draft.
    const line = view.dialogRequests.length > 0 ? '' : reader.line;
    const draft = captureDraft({ ...view, editor: restored ?? createDraftEditor() });
    const stash: Pick<PromptDraft, 'stash'> =
      restored === undefined ? {} : { stash: expandPlaceholders(restored.text, restored.placeholders) };
    conversation.draft.save(line === '' ? draft : { ...draft, text: line, caret: reader.cursor, ...stash });
  }

  async function restore(): Promise<void> {
    let view = now();
    const change = (update: (before: ViewState) => ViewState) => {
      view = update(view);
    };
    await restoreDraft(conversation, change, nowMs());
    const { editor } = view;
    const text = [...editor.stash.map((stashed) => stashed.text), editor.text]
      .filter((part) => part !== '')
      .join('\n\n');
    if (text === '') return;
    const fitsLine =
      lineEditing === 'own' && reader.line === '' && expandPlaceholders(text, editor.placeholders) === text;
    if (fitsLine && !text.includes('\n')) {
      say(['Unsent draft restored in the line:']);
      reader.write(text);
      save();
      return;
    }
    restored = createDraftEditor({ draft: { text, caret: text.length }, placeholders: editor.placeholders });
    save();
    const lines = expandPlaceholders(text, editor.placeholders).split('\n');
    say(['Unsent draft:', ...lines.map((line) => `  ${line}`), 'Type /draft to send it.']);
  }

  return {
    save,
    restore,
    /** Counts what is unsent, for the message at exit. */
    describeUnsent: () => describeUnsent({ ...now(), editor: restored ?? createDraftEditor() }),
    /** Returns the draft requested by `/draft` and forgets it. */
    take(): DraftEditorState | undefined {
      const taken = restored;
      restored = undefined;
      return taken;
    },
  };
}
