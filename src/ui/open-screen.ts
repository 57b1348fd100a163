import type { Conversation } from '../contracts/frontend/conversation.ts';
import { addHistoryItems, createViewState, isBusy, type ViewState } from './app-state/view-state.ts';
import { isImagePath, pasteImagePath } from './effects/clipboard.ts';
import {
  changesStatusLineFacts,
  createBanner,
  getStatusLineFacts,
  offerLastSession,
  runStatusLineScript,
} from './effects/conversation-facts.ts';
import {
  captureDraft,
  createLeftoverOffer,
  describeUnsent,
  type LeftoverOffer,
  restoreDraft,
} from './effects/draft-storage.ts';
import { createLiveConversationView, type LiveConversationView } from './effects/live-conversation-view.ts';
import { handleInput } from './input/handle-input.ts';
import type { InputEvent } from './input/input-event.ts';
import type { InputContext, UiEffect } from './input/input-result.ts';

import { createKeyboardReader, type TerminalInput } from './input/keyboard-reader.ts';
import {
  classifyBackground,
  type FirstFrameHold,
  getTerminalAnswerTimeoutMs,
  holdFirstFrame,
} from './terminal/await-background-color.ts';
import { createFrameScheduler } from './terminal/frame-scheduler.ts';
import type { TerminalOutput } from './terminal/screen-frame-writer.ts';
import type { ScreenOptions } from './terminal/screen-options.ts';
import { createScreenOutput, type ScreenOutput } from './terminal/screen-output.ts';
import { createTerminalHandover } from './terminal/terminal-handover.ts';
import { buildOpeningSequence, TERMINAL_MODES_OFF, WIDE_SYMBOL_COLUMN } from './terminal/terminal-modes.ts';
import { createTerminalStatus } from './terminal/terminal-status.ts';
import { applyDraftEditorAction } from './widgets/composer/draft-editor-actions.ts';
import { INITIAL_VIM_STATE } from './widgets/composer/vim.ts';
import type { HistoryItem } from './widgets/history/history-item.ts';
import { createResumedHistory } from './widgets/history/resumed-history.ts';
import { pauseDialogKeysAfterResize } from './widgets/permission-dialog/reduce-dialog.ts';

/** The two sides of a terminal. */
export type ScreenTerminal = { readonly out: TerminalOutput; readonly in: TerminalInput };

/** The open screen of a conversation. */
export type ScreenHandle = ReturnType<typeof openScreen>;

/** Delay of the SessionStart hooks, so that they do not slow down the first frame. */
const BEGIN_DELAY_MS = 150;

/** Opens the interactive screen of a conversation. */
export function openScreen(conversation: Conversation, terminal: ScreenTerminal, options: ScreenOptions) {
  // `info()` collects everything about the conversation, so the folder is kept between the events that change it.
  let { cwd } = conversation.info();
  const output = createScreenOutput(terminal.out, options, () => cwd, onResized);
  const status = createTerminalStatus(output.write, options);
  const repaint = () => {
    output.repaint();
    frames.show();
  };
  const live = createLiveConversationView({
    conversation,
    options,
    output,
    initialState: createOpeningView(conversation, options),
    describeUnsent: describeUnsent,
    repaint,
    suspend: () => handover.suspend(),
    openExternalEditor: () => handover.openExternalEditor(),
    editFile: (text, name) => handover.editFile(text, name),
    readHiddenLine: (label) => handover.readHiddenLine(label, terminal.in),
    onChange(_before, event) {
      if (event === undefined) return frames.show();
      if (changesStatusLineFacts(event)) {
        cwd = conversation.info().cwd;
        runStatusLineScript(conversation, live.updateView);
      }
      if (event.type === 'agent_end' && event.terminal.reason === 'completed')
        void showNextPromptSuggestion(conversation, live.getView, live.updateView).catch(() => undefined); // A suggestion that fails is not missed.
      status.handleEvent(event, live.getView());
      frames.schedule(event);
    },
  });
  function onResized(): void {
    live.apply({ view: pauseDialogKeysAfterResize(live.getView(), options.now()), effects: [] });
    frames.show();
  }
  const getContext = (): InputContext => ({
    nowMs: options.now(),
    // Read only while the slash menu is open.
    get commands() {
      return conversation.commands();
    },
    quietMs: options.dialogDelayMs,
    viewer: { height: output.getHeight(), layOut: output.layoutPage },
    getQuestionVisibility: output.getQuestionVisibility,
    ...(options.keymap === undefined ? {} : { keymap: options.keymap }),
  });
  const frames = createFrameScheduler({
    output,
    motion: options.motion,
    getView: live.getView,
    setView: (view) => live.apply({ view, effects: [] }),
    getContext,
    isHandedOver: () => handover.isHandedOver() || firstFrame.isHeld(),
    onDrawn: status.update,
  });
  const leftover = createLeftoverOffer({ conversation, updateView: live.updateView, now: options.now });
  const receive = (events: readonly InputEvent[]) => {
    for (const event of events) receiveInput(event, live, { output, firstFrame }, getContext(), leftover);
    conversation.draft.save(captureDraft(live.getView()));
    frames.show();
  };
  const keyboard = createKeyboardReader(terminal.in, receive, options.terminal);
  const handover = createTerminalHandover({
    output,
    keyboard,
    getView: live.getView,
    updateView: live.updateView,
    editor: options.editor,
  });

  const firstFrame = holdFirstFrame(getTerminalAnswerTimeoutMs(options), () => frames.show());
  terminal.out.write(buildOpeningSequence(options, terminal.out.columns));
  keyboard.open();
  runStatusLineScript(conversation, live.updateView);
  frames.show();
  const beginTimer = beginConversation(live, options, leftover);

  let isClosed = false;
  return {
    /** Resolves when the user exits or continues in another session. */
    ended: live.ended,
    /** Restores the terminal. Safe to call more than once. */
    close() {
      if (isClosed) return;
      isClosed = true;
      firstFrame.release();
      frames.close();
      clearTimeout(beginTimer);
      live.close();
      status.close();
      output.close();
      terminal.out.write(TERMINAL_MODES_OFF);
      keyboard.close();
    },
  };
}

/** Loads the theme and the drafts, then sends the prompt of the command line or shows the session list. */
function beginConversation(live: LiveConversationView, options: ScreenOptions, leftover: LeftoverOffer) {
  const { conversation } = live;
  void live.themes.use(options.theme).catch(() => undefined); // The default colours are used then.
  void restoreDraft(conversation, live.updateView, options.now())
    .then(leftover.offer)
    .catch(() => undefined); // The session works without the draft.
  // While the user chooses a session, this one has not begun.
  const begin = () => {
    conversation.runStartHooks?.();
    conversation.editor?.start();
    if (options.banner === 'shown')
      void offerLastSession(conversation, live.updateView, options.now()).catch(() => undefined); // The offer is optional.
  };
  const timer = options.opens === 'sessions' ? undefined : setTimeout(begin, BEGIN_DELAY_MS);
  if (options.opens === 'sessions') void live.sessionList.open('folder');
  if (options.prompt !== undefined) {
    const sent: UiEffect = { type: 'prompt', parts: [{ kind: 'text', text: options.prompt }] };
    live.apply({ view: live.getView(), effects: [sent] });
  }
  return timer;
}

/** Handles a key, a paste or an answer of the terminal. */
function receiveInput(
  event: InputEvent,
  live: LiveConversationView,
  { output, firstFrame }: { readonly output: ScreenOutput; readonly firstFrame: FirstFrameHold },
  context: InputContext,
  leftover: LeftoverOffer,
): void {
  if (event.type === 'background' || event.type === 'scheme') {
    output.setBackground(classifyBackground(event));
    firstFrame.release();
  } else if (event.type === 'position') {
    if (event.column !== WIDE_SYMBOL_COLUMN) return;
    output.switchToAscii();
    output.repaint();
  } else if (event.type === 'paste' && isImagePath(event.text)) {
    void pasteImagePath(event.text, live); // A path without an image is pasted as text.
  } else {
    const result = handleInput(live.getView(), event, context);
    leftover.noteSent(live.getView(), result.effects);
    live.apply(result);
  }
}

/** Creates the first view: the banner, warnings, and the last turns of a resumed session. */
function createOpeningView(
  conversation: Conversation,
  { banner, typedAhead = '', vim, keyProblems = [] }: ScreenOptions,
): ViewState {
  const info = conversation.info();
  const initial = createViewState(getStatusLineFacts(conversation), info.todos);
  const editor = applyDraftEditorAction(initial.editor, { type: 'insert', text: typedAhead }, 0);
  const { items, ...state } = createResumedHistory(
    conversation.pastTurns?.earlier ?? [],
    conversation.agent.state().messages,
    initial.facts,
  );
  const view: ViewState = { ...initial, ...state, editor, vim: vim === 'on' ? INITIAL_VIM_STATE : undefined };
  const warnings = [...info.warnings, ...keyProblems].map(
    (text): HistoryItem => ({ kind: 'notice', level: 'warn', text }),
  );
  const head: readonly HistoryItem[] = banner === 'shown' ? [{ kind: 'banner', ...createBanner(info) }] : [];
  return addHistoryItems(view, ...head, ...warnings, ...items);
}

/** Suggests a next prompt in the empty draft, if the user enabled this and has not continued in the meantime. */
export async function showNextPromptSuggestion(
  { suggestNextPrompt: showNextPromptSuggestion }: Pick<Conversation, 'suggestNextPrompt'>,
  getView: () => ViewState,
  updateView: (update: (view: ViewState) => ViewState) => void,
): Promise<void> {
  const { lastPrompt } = getView();
  const text = await showNextPromptSuggestion?.();
  if (text === undefined) return;
  updateView((view) => {
    if (isBusy(view) || view.lastPrompt !== lastPrompt) return view;
    return { ...view, editor: applyDraftEditorAction(view.editor, { type: 'offer', text }, 0) };
  });
}
