import type { PermissionAnswer, PermissionRequest } from '../../../contracts/permission.ts';
import type { UserAnswer, UserQuestion } from '../../../contracts/tool.ts';
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

/** The state of a dialog that is shown. */
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
export function createOpenDialogState(shownAtMs: number): OpenDialog {
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

/** Returns whether keys are answers to the dialog already. */
export function acceptsKeys({ armedAtMs, isReady }: OpenDialog): boolean {
  return armedAtMs !== undefined && isReady;
}

/** The effect of choosing an option. */
export type DialogAction =
  | { readonly type: 'answer_permission'; readonly answer: PermissionAnswer }
  | { readonly type: 'answer_question'; readonly answer: UserAnswer | undefined }
  /** Lets the user type text for the dialog in the composer. */
  | { readonly type: 'write'; readonly purpose: DialogForm['typing']; readonly initialText: string }
  | { readonly type: 'details' | 'view' | 'back' | 'edit_proposal' | 'list' }
  | { readonly type: 'answer_several'; readonly ids: readonly string[] }
  | { readonly type: 'choose'; readonly choice: number }
  | { readonly type: 'copy'; readonly text: string }
  | { readonly type: 'skip' };

/** An option of a dialog. The letter of an option is always the same. */
export type DialogOption = {
  readonly key: string;
  readonly label: string;
  readonly action: DialogAction;
  /** Position: in the list of options, or in the line of keys below. */
  readonly position: 'list' | 'footer';
  /** Digit key of the option. 1 means yes, 2 don't ask again, 3 no; a missing option leaves its digit unused. */
  readonly digit?: string;
  /** Command, file or server that the label is about; shown in a color of its own. */
  readonly subject?: string;
  /** End of the label, after the subject. */
  readonly labelEnd?: string;
  readonly note?: string;
  /** On a low screen it is left out before the call is cut. */
  readonly isOptional?: true;
  /** Label in a collapsed dialog, if it is not the start of the full label. */
  readonly shortLabel?: string;
};

/** Creates a choice in the line of keys. */
export function createKeyOption(key: string, label: string, action: DialogAction): DialogOption {
  return { key, label, action, position: 'footer' };
}

/** Creates an option that is listed, with the key that chooses it. */
export function createChoiceOption(key: string, label: string, action: DialogAction): DialogOption {
  return { key, label, action, position: 'list' };
}

/** Creates the option that says yes: 1 and y. */
export function createYesOption(label: string, action: DialogAction): DialogOption {
  return { ...createChoiceOption('y', label, action), digit: '1' };
}

/** Creates the option that prevents further questions: 2 and a. */
export function createAlwaysOption(label: string, action: DialogAction): DialogOption {
  return { ...createChoiceOption('a', label, action), digit: '2', shortLabel: 'always' };
}

/** Creates the option that says no: 3 and n. */
export function createNoOption(label: string, action: DialogAction): DialogOption {
  return { ...createChoiceOption('n', label, action), digit: '3' };
}

/** Shows the whole request in the viewer. */
export const SHOW_ALL_OPTION = createKeyOption('v', 'show all', { type: 'view' });
/** Returns to the part before. */
export const BACK_OPTION = createKeyOption('b', 'back', { type: 'back' });
