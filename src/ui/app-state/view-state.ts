import type { Todo } from '../../contracts/display.ts';
import type { AgentStatus, QueuedMessage } from '../../contracts/event.ts';
import type { ModelFailure } from '../../contracts/model.ts';
import { createDraftEditor, type DraftEditorState } from '../widgets/composer/draft-editor-state.ts';
import { expandPlaceholders } from '../widgets/composer/paste-placeholders.ts';
import type { VimState } from '../widgets/composer/vim.ts';
import type { HistoryItem, RunTally, UnprintedHistory } from '../widgets/history/history-item.ts';
import type { MarkdownBlock, MarkdownStream } from '../widgets/markdown/markdown-stream.ts';
import type { DialogRequest, DialogState } from '../widgets/permission-dialog/dialog-state.ts';
import type { ToolCallEntry } from '../widgets/tool-calls/tool-entry.ts';
import type { Overlay } from './overlay.ts';

/** An unprinted piece of the current turn: streaming text, or a tool call. */
export type LivePiece =
  | {
      readonly kind: 'text';
      readonly messageId: string;
      readonly index: number;
      readonly stream: MarkdownStream;
      /** Finished blocks that wait for an earlier call to end. */
      readonly readyBlocks: readonly MarkdownBlock[];
      readonly phase: 'growing' | 'ended';
      readonly hasPrinted: boolean;
    }
  | { readonly kind: 'tool'; readonly entry: ToolCallEntry };

/** The current activity, for the status line. */
export type LiveActivity = {
  readonly status: AgentStatus;
  /** Start time of this status. */
  readonly sinceMs: number;
  readonly turnStartedAtMs: number;
  readonly lastByteAtMs: number;
  readonly outputChars: number;
  /** `outputChars` as shown: updated once a second, because every change redraws the status line. */
  readonly shownOutput: { readonly chars: number; readonly atMs: number };
  readonly writingTool: string | undefined;
  /** Hook that the run is waiting for. */
  readonly hook: { readonly id: string; readonly label: string; readonly sinceMs: number } | undefined;
};

/** A failed request that is retried after a delay. */
export type PendingRetry = {
  readonly attempt: number;
  readonly limit: number;
  readonly delayMs: number;
  readonly dueAtMs: number;
  readonly failure: ModelFailure;
};

/** The thinking of the model while it lasts: start time and the last part of the text. */
export type LiveThinking = { readonly sinceMs: number; readonly tail: string };

/** The facts that the status line shows. */
export type StatusLineFacts = {
  readonly mode: string;
  readonly hasAutoMode?: true;
  /** Commands run in the sandbox; `unasked` if they may do so without a question. */
  readonly sandbox?: 'asked' | 'unasked';
  readonly model: string;
  readonly contextTokens: number;
  readonly contextWindow: number;
  readonly costUsd: number;
  /** A model without a known price was used, so the cost is higher. */
  readonly hasUnknownPrice?: true;
  readonly branch: string | undefined;
  /** Lines added and removed by edits of this session. */
  readonly changedLines: { readonly added: number; readonly removed: number };
  /** Working directory of the shell, if it is not the folder of the session. */
  readonly shellFolder?: string;
  readonly backgroundTasks: number;
  readonly isDemo: boolean;
  /** Output of the status line script, which replaces the other facts. */
  readonly scriptOutput?: string;
};

/** The state of the screen. Agent events change it through `reduceView`, keys through the key handlers. */
export type ViewState = {
  readonly activity: LiveActivity;
  readonly pieces: readonly LivePiece[];
  /** Counts of the current run. */
  readonly tally: RunTally;
  readonly thinking: LiveThinking | undefined;
  readonly retry: PendingRetry | undefined;
  readonly recovery: { readonly cause: string; readonly sinceMs: number } | undefined;
  readonly queue: readonly QueuedMessage[];
  readonly todos: readonly Todo[];
  readonly dialogRequests: readonly DialogRequest[];
  readonly dialog: DialogState;
  readonly facts: StatusLineFacts;
  /** Command line that is running; printed above its first output. Empty if there is none. */
  readonly commandLine: string;
  /** Finished items that are not printed yet; printing removes them. */
  readonly outbox: UnprintedHistory;
  /** Id of the last printed call with truncated output. */
  readonly lastTruncatedCall: string | undefined;
  /** Last prompt, which returns to the composer when its request is rejected. */
  readonly lastPrompt: string;
  /** Draft whose mentions were not found; the user was told, and sending it again sends it. */
  readonly warnedDraft: string;
  readonly editor: DraftEditorState;
  /** File or selection of the user's editor that goes along with the next prompt. */
  readonly editorContext: string | undefined;
  /** State of the Vim mode, if enabled. */
  readonly vim: VimState | undefined;
  readonly overlay: Overlay | undefined;
  readonly todosShown: 'row' | 'column';
  /** End of the last run: decides whether an empty message continues it, or the same one retries it. */
  readonly lastRunEnd: 'ended' | 'stopped' | 'failed' | 'limited';
  /** Temporary message in the status line. One about a key in a dialog ends with the next key. */
  readonly hint: { readonly text: string; readonly untilMs: number; readonly about?: 'dialog_key' } | undefined;
  readonly keys: KeyTimingState;
};

/** Key timing and window focus, on which the meaning of a key depends. */
export type KeyTimingState = {
  readonly lastKeyAtMs: number;
  /** A second Ctrl-C before this time exits. */
  readonly exitArmedUntilMs: number;
  /** A second ESC before this time opens the list of earlier messages. */
  readonly rewindArmedUntilMs: number;
  /** Processes that were stopped may still be exiting until this time. */
  readonly exitingUntilMs: number;
  readonly window: 'focused' | 'away';
  /** Time at which the window regained the focus; keys shortly after may have been meant for another window. */
  readonly refocusedAtMs: number;
  /** Key that last answered a dialog; a quick repetition was meant for that dialog too. */
  readonly lastAnswer: { readonly chord: string; readonly atMs: number };
  /** Time of the last key that answered a request or stopped its run. */
  readonly lastAnswerKeyAtMs: number;
  /** Id of the modal overlay that has received a key since it opened; empty if none is open. */
  readonly usedOverlay: string;
  /** First key of a pending key sequence; empty if there is none. */
  readonly prefix: string;
};

/** The activity while idle. */
export const IDLE_ACTIVITY: LiveActivity = {
  status: 'idle',
  sinceMs: 0,
  turnStartedAtMs: 0,
  lastByteAtMs: 0,
  outputChars: 0,
  shownOutput: { chars: 0, atMs: 0 },
  writingTool: undefined,
  hook: undefined,
};

/** The value for no recent answer: no key is taken for a repetition. */
export const NO_RECENT_DIALOG_ANSWER: KeyTimingState['lastAnswer'] = { chord: '', atMs: Number.NEGATIVE_INFINITY };

/** The counts at the start of a run. */
export const EMPTY_RUN_TALLY: RunTally = { calls: 0, files: [], added: 0, removed: 0, costAtStartUsd: 0 };

/** Creates the view state of a new screen. */
export function createViewState(facts: StatusLineFacts, todos: readonly Todo[] = []): ViewState {
  return {
    activity: IDLE_ACTIVITY,
    pieces: [],
    tally: EMPTY_RUN_TALLY,
    thinking: undefined,
    retry: undefined,
    recovery: undefined,
    queue: [],
    todos,
    dialogRequests: [],
    dialog: { stage: 'none' },
    facts,
    commandLine: '',
    outbox: undefined,
    lastTruncatedCall: undefined,
    lastPrompt: '',
    warnedDraft: '',
    editor: createDraftEditor(),
    editorContext: undefined,
    vim: undefined,
    overlay: undefined,
    todosShown: 'row',
    lastRunEnd: 'ended',
    hint: undefined,
    keys: {
      lastKeyAtMs: 0,
      exitArmedUntilMs: 0,
      rewindArmedUntilMs: 0,
      exitingUntilMs: 0,
      window: 'focused',
      refocusedAtMs: Number.NEGATIVE_INFINITY,
      lastAnswer: NO_RECENT_DIALOG_ANSWER,
      lastAnswerKeyAtMs: Number.NEGATIVE_INFINITY,
      usedOverlay: '',
      prefix: '',
    },
  };
}

/** Returns the draft of the user, also while a dialog uses the composer. */
export function getUserDraft({ editor, dialog }: ViewState): DraftEditorState {
  return dialog.stage === 'open' ? (dialog.form.userDraft ?? editor) : editor;
}

/** Returns the text typed for a dialog and not sent. */
export function getUnsentDialogText({ editor, dialog }: Pick<ViewState, 'editor' | 'dialog'>): string {
  if (dialog.stage !== 'open') return '';
  const { typing, initialText, unsentText } = dialog.form;
  const text = typing === 'nothing' ? '' : expandPlaceholders(editor.text, editor.placeholders);
  return [unsentText?.text ?? '', text === initialText ? '' : text].filter((part) => part.trim() !== '').join('\n\n');
}

/** Returns the draft of the user when a dialog closes by itself. Text typed for the dialog is stashed. */
export function restoreUserDraft(view: ViewState): DraftEditorState {
  const editor = getUserDraft(view);
  const text = getUnsentDialogText(view);
  return text === '' ? editor : { ...editor, stash: [{ text, caret: text.length }, ...editor.stash] };
}

/** Returns whether a run is in progress. */
export function isBusy(view: ViewState): boolean {
  return view.activity.status !== 'idle';
}

/** Adds items to print. The running command line is printed before them, unless they start with a prompt. */
export function addHistoryItems(view: ViewState, ...items: readonly HistoryItem[]): ViewState {
  if (items.length === 0) return view;
  const { commandLine } = view;
  const hasOwnPrompt = commandLine === '' || items[0]?.kind === 'prompt';
  const before: readonly HistoryItem[] = hasOwnPrompt ? [] : [{ kind: 'prompt', text: commandLine }];
  return { ...view, commandLine: '', outbox: { previous: view.outbox, items: [...before, ...items] } };
}
