import type { PermissionRequest } from '../../../contracts/permission.ts';
import type { UserQuestion } from '../../../contracts/tool.ts';
import type { DraftEditorState } from '../composer/draft-editor-state.ts';

/** A request that opens a dialog and waits for the answer of the user. */
export type DialogRequest =
  | { readonly kind: 'permission'; readonly id: string; readonly permission: PermissionRequest }
  | { readonly kind: 'question'; readonly id: string; readonly callId: string; readonly question: UserQuestion };

/** Returns the id of the tool call that a request belongs to. */
export function getRequestCallId(request: DialogRequest): string {
  return request.kind === 'permission' ? request.permission.callId : request.callId;
}

/** The state of the dialog, which shows the first request: whether it accepts keys, and the answers so far. */
export type DialogState =
  | { readonly stage: 'none' }
  | {
      readonly stage: 'open';
      /** Time since which the whole dialog is visible. */
      readonly shownAtMs: number;
      /** Time at which typing had paused long enough; undefined before that. */
      readonly armedAtMs: number | undefined;
      /** The armed dialog was drawn and all earlier key presses were read, so it accepts keys. */
      readonly isReady: boolean;
      /** Draft text at the time it was opened. A draft with other text collapses the dialog and receives the keys. */
      readonly draftText: string;
      /** Option under the cursor; without one Enter does nothing. */
      readonly selected: number | undefined;
      /** Answers and selections so far, for dialogs that take several keys. */
      readonly form: DialogForm;
    };

export type OpenDialog = Extract<DialogState, { stage: 'open' }>;

/** Time after a dialog appears, or after an answer, in which keys are ignored: they were meant for something else. */
export const KEY_GUARD_MS = 250;
/** Time after the window regains the focus in which keys are ignored: they were meant for another window. */
export const FOCUS_GUARD_MS = 300;
/** Time after an answer in which the same key is taken for a key repeat. */
export const KEY_REPEAT_MS = 400;
/** Delay between arming and accepting keys: keys pressed before the armed dialog was drawn may arrive this late. */
const ARMED_MS = 60;

/** The progress in a dialog that takes several keys. */
export type DialogForm = {
  /** Purpose of the text being typed while the dialog uses the composer. */
  readonly typing: 'nothing' | 'reason' | 'custom_answer' | 'rule' | 'command' | 'plan';
  /** Text that the composer started with. */
  readonly initialText: string;
  /** Text that was typed but not sent; restored when the same input is opened again. */
  readonly unsentText: { readonly purpose: DialogForm['typing']; readonly text: string } | undefined;
  readonly details: 'hidden' | 'shown';
  /** Index of the question or form field that is shown. */
  readonly partIndex: number;
  readonly answers: readonly string[];
  /** Indexes of the selected choices of a multiple choice question. */
  readonly marked: readonly number[];
  /** Validation error of the last answer. */
  readonly problem: string | undefined;
  /** Ids of the requests listed for a common answer; empty unless the list is open. */
  readonly listedIds: readonly string[];
  /** Draft of the user from before the dialog used the composer. */
  readonly userDraft: DraftEditorState | undefined;
};

const EMPTY_FORM: DialogForm = {
  typing: 'nothing',
  initialText: '',
  unsentText: undefined,
  details: 'hidden',
  partIndex: 0,
  answers: [],
  marked: [],
  problem: undefined,
  listedIds: [],
  userDraft: undefined,
};

/** Returns the state of a dialog that becomes visible at a time. */
export function createOpenDialog(shownAtMs: number): OpenDialog {
  return {
    stage: 'open',
    shownAtMs,
    armedAtMs: undefined,
    isReady: false,
    draftText: '',
    selected: undefined,
    form: EMPTY_FORM,
  };
}

/** Returns the time from which the dialog accepts keys. */
export function getDialogReadyTime({ armedAtMs }: OpenDialog): number {
  return armedAtMs === undefined ? Number.POSITIVE_INFINITY : armedAtMs + ARMED_MS;
}

export function acceptsKeys({ armedAtMs, isReady }: OpenDialog): boolean {
  return armedAtMs !== undefined && isReady;
}
