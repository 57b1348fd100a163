import type { Todo } from '../../contracts/display.ts';
import type { AgentStatus, QueuedMessage } from '../../contracts/event.ts';
import type { ModelFailure } from '../../contracts/model.ts';
import { createEditor, type EditorState } from '../composer/editor-state.ts';
import { expandFolds } from '../composer/folds.ts';
import type { VimState } from '../composer/vim.ts';
import type { MarkdownBlock } from '../markdown/block.ts';
import type { MarkdownStream } from '../markdown/stream.ts';
import type { Ask, Attention } from './ask.ts';
import type { HistoryItem, Outbox, Tally } from './history-item.ts';
import type { Overlay } from './overlay.ts';
import type { ToolEntry } from './tool-entry.ts';

/** A part of the running turn, in the order it came: text that grows, or a call. */
export type LivePiece =
  | {
      readonly kind: 'text';
      readonly messageId: string;
      readonly index: number;
      readonly stream: MarkdownStream;
      /** Finished blocks that wait for a call before them. */
      readonly ready: readonly MarkdownBlock[];
      readonly phase: 'growing' | 'ended';
      readonly hasBegun: boolean;
    }
  | { readonly kind: 'tool'; readonly entry: ToolEntry };

/** What the program is doing, for the activity line. */
export type Activity = {
  readonly status: AgentStatus;
  /** When this status began. */
  readonly sinceMs: number;
  readonly turnStartedAtMs: number;
  readonly lastByteAtMs: number;
  readonly outputChars: number;
  /** The same as it is shown: counted anew once a second, or every frame would redraw it. */
  readonly counted: { readonly chars: number; readonly atMs: number };
  readonly writingTool: string | undefined;
  /** A hook that everything waits for. */
  readonly hook: { readonly id: string; readonly words: string; readonly sinceMs: number } | undefined;
};

export type Retry = {
  readonly attempt: number;
  readonly limit: number;
  readonly startedAtMs: number;
  readonly dueAtMs: number;
  readonly failure: ModelFailure;
};

/** What the model thinks at this moment: as much of its end as can be shown. */
export type Thinking = { readonly sinceMs: number; readonly tail: string };

/** What the status line is made of. */
export type StatusFacts = {
  readonly mode: string;
  readonly offersAuto?: true;
  readonly model: string;
  readonly contextTokens: number;
  readonly contextWindow: number;
  readonly costUsd: number;
  readonly branch: string | undefined;
  /** Lines that edits of this session brought and took. */
  readonly changed: { readonly added: number; readonly removed: number };
  /** Where the shell stands, if not in the folder of the session. */
  readonly shellAt?: string;
  readonly background: number;
  readonly isDemo: boolean;
  /** What a script of the person's own says in place of all this. */
  readonly script?: string;
};

/** Everything the screen shows. The conversation changes it by `reduceView`, keys by `press`. */
export type ViewState = {
  readonly activity: Activity;
  readonly pieces: readonly LivePiece[];
  /** What the present turn has done. */
  readonly tally: Tally;
  readonly thinking: Thinking | undefined;
  readonly retry: Retry | undefined;
  readonly recovery: { readonly cause: string; readonly sinceMs: number } | undefined;
  readonly queue: readonly QueuedMessage[];
  readonly todos: readonly Todo[];
  readonly asks: readonly Ask[];
  /** Calls of this run that the person has refused. */
  readonly refused: readonly string[];
  readonly attention: Attention;
  readonly facts: StatusFacts;
  /** The command line that runs, until something is printed: it stands above that. Empty where there is none. */
  readonly commandLine: string;
  /** What has finished and is not printed yet; whoever prints it takes it out. */
  readonly outbox: Outbox;
  /** The call whose output was cut last where it was printed. */
  readonly newestCut: string | undefined;
  /** The last prompt, so that it can come back into the composer when nothing came of it. */
  readonly lastPrompt: string;
  /** Words that name something in vain, which has been said: sent again, they go. */
  readonly held: string;
  readonly editor: EditorState;
  /** Vim mode, for those who want it. */
  readonly vim: VimState | undefined;
  readonly overlay: Overlay | undefined;
  readonly todosShown: 'row' | 'column';
  /** How the last run ended: a stopped one goes on with an empty message, a failed one with the same again, one at a limit when it is reset. */
  readonly rest: 'ended' | 'stopped' | 'failed' | 'limited';
  /** A word in the status line that goes away by itself. */
  readonly hint: { readonly text: string; readonly untilMs: number } | undefined;
  readonly keys: KeyFacts;
};

/** What the meaning of a key depends on besides what is on screen. */
export type KeyFacts = {
  readonly lastKeyAtMs: number;
  /** A second Ctrl-C before this moment leaves. */
  readonly exitArmedUntilMs: number;
  /** A second ESC before this moment opens the list of earlier messages. */
  readonly rewindArmedUntilMs: number;
  /** What was stopped may still be dying until then. */
  readonly dyingUntilMs: number;
  readonly window: 'focused' | 'away';
  /** When the window got the focus back: a key so soon afterwards may have been meant for another. */
  readonly returnedAtMs: number;
  /** The key that answered a dialog last. Pressed again at once it was meant for that dialog too. */
  readonly answered: { readonly chord: string; readonly atMs: number };
  /** When a key of the person's last answered a question, or stopped what asked. */
  readonly endedAtMs: number;
  /** The list that has heard a key since it opened; empty where none is open. */
  readonly heardIn: string;
  /** The first of two keys that mean something together; empty when there is none. */
  readonly prefix: string;
};

export const IDLE_ACTIVITY: Activity = {
  status: 'idle',
  sinceMs: 0,
  turnStartedAtMs: 0,
  lastByteAtMs: 0,
  outputChars: 0,
  counted: { chars: 0, atMs: 0 },
  writingTool: undefined,
  hook: undefined,
};

/** No key has answered a dialog, or what came since cannot have been meant for one. */
export const NOT_ANSWERED: KeyFacts['answered'] = { chord: '', atMs: Number.NEGATIVE_INFINITY };

/** A turn that has done nothing yet. */
export const NO_TALLY: Tally = { calls: 0, files: [], added: 0, removed: 0, costAtStartUsd: 0 };

/** A screen before anything has happened. */
export function initialView(facts: StatusFacts, todos: readonly Todo[] = []): ViewState {
  return {
    activity: IDLE_ACTIVITY,
    pieces: [],
    tally: NO_TALLY,
    thinking: undefined,
    retry: undefined,
    recovery: undefined,
    queue: [],
    todos,
    asks: [],
    refused: [],
    attention: { stage: 'none' },
    facts,
    commandLine: '',
    outbox: undefined,
    newestCut: undefined,
    lastPrompt: '',
    held: '',
    editor: createEditor(),
    vim: undefined,
    overlay: undefined,
    todosShown: 'row',
    rest: 'ended',
    hint: undefined,
    keys: {
      lastKeyAtMs: 0,
      exitArmedUntilMs: 0,
      rewindArmedUntilMs: 0,
      dyingUntilMs: 0,
      window: 'focused',
      returnedAtMs: Number.NEGATIVE_INFINITY,
      answered: NOT_ANSWERED,
      endedAtMs: Number.NEGATIVE_INFINITY,
      heardIn: '',
      prefix: '',
    },
  };
}

/** The person's own draft, also while a dialog has borrowed the composer. */
export function ownDraft({ editor, attention }: ViewState): EditorState {
  return attention.stage === 'open' ? (attention.form.kept ?? editor) : editor;
}

/** What was written for a dialog and is not sent. */
export function dialogWords({ editor, attention }: Pick<ViewState, 'editor' | 'attention'>): string {
  if (attention.stage !== 'open') return '';
  const { writing, start, begun } = attention.form;
  const words = writing === 'nothing' ? '' : expandFolds(editor.text, editor.folds);
  return [begun?.text ?? '', words === start ? '' : words].filter((text) => text.trim() !== '').join('\n\n');
}

/** The person's own draft when a dialog gives it back by itself: what was written there is put aside. */
export function returnedDraft(view: ViewState): EditorState {
  const editor = ownDraft(view);
  const words = dialogWords(view);
  return words === '' ? editor : { ...editor, stash: [{ text: words, caret: words.length }, ...editor.stash] };
}

/** Is a query running? */
export function isBusy(view: ViewState): boolean {
  return view.activity.status !== 'idle';
}

/** The view with more to print, below the command it came of; what was said stands for itself. */
export function printing(view: ViewState, ...items: readonly HistoryItem[]): ViewState {
  if (items.length === 0) return view;
  const { commandLine } = view;
  const isSaid = commandLine === '' || items[0]?.kind === 'prompt';
  const said: readonly HistoryItem[] = isSaid ? [] : [{ kind: 'prompt', text: commandLine }];
  return { ...view, commandLine: '', outbox: { earlier: view.outbox, items: [...said, ...items] } };
}
