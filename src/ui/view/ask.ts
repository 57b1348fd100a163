import type { PermissionRequest } from '../../contracts/permission.ts';
import type { UserQuestion } from '../../contracts/tool.ts';
import type { EditorState } from '../composer/editor-state.ts';

/** Something the program waits to be told. */
export type Ask =
  | { readonly kind: 'permission'; readonly id: string; readonly request: PermissionRequest }
  | { readonly kind: 'question'; readonly id: string; readonly callId: string; readonly question: UserQuestion };

/** The call an ask is about. */
export function callIdOf(ask: Ask): string {
  return ask.kind === 'permission' ? ask.request.callId : ask.callId;
}

/** The dialog of the first ask: whether it hears keys, and what has been answered so far. */
export type Attention =
  | { readonly stage: 'none' }
  | {
      readonly stage: 'open';
      /** Since when it is in sight as a whole. */
      readonly shownAtMs: number;
      /** Since when it hears keys; undefined before the keys were quiet. */
      readonly armedAtMs: number | undefined;
      /** It has been drawn as one that is armed, and what was pressed before that has been read. */
      readonly isHearing: boolean;
      /** The draft it is open over: a draft with other words in it folds the dialog and has the keys. */
      readonly over: string;
      /** The option under the cursor; Enter does nothing without one. */
      readonly selected: number | undefined;
      /** What has been answered and chosen so far, for questions in several parts. */
      readonly form: AskForm;
    };

/** A dialog that is open. */
export type OpenDialog = Extract<Attention, { stage: 'open' }>;

/** Keys so soon after a dialog came in sight, or after an answer, were meant for something else. */
export const DEAF_MS = 250;
/** Keys so soon after the window came back were meant for another one. */
export const RETURN_MS = 300;
/** A key that answered is the same key again so soon afterwards. */
export const ECHO_MS = 400;
/** Keys that were pressed before a dialog was drawn as one that hears may be read this much later. */
const ARMED_MS = 60;

/** Progress through a dialog that takes more than one key. */
export type AskForm = {
  /** What the draft is being used for, when the dialog has lent it. */
  readonly writing: 'nothing' | 'reason' | 'own_words' | 'rule' | 'command' | 'plan';
  /** What stood there at first. */
  readonly start: string;
  /** What was written and left, to be gone on with. */
  readonly begun: { readonly what: AskForm['writing']; readonly text: string } | undefined;
  readonly details: 'hidden' | 'shown';
  readonly question: number;
  readonly answers: readonly string[];
  readonly marked: readonly number[];
  /** Why the last answer could not be taken. */
  readonly problem: string | undefined;
  /** The asks that are listed to be answered together; none while there is no list. */
  readonly listed: readonly string[];
  /** The draft as it was before the dialog borrowed the composer. */
  readonly kept: EditorState | undefined;
};

const EMPTY_FORM: AskForm = {
  writing: 'nothing',
  start: '',
  begun: undefined,
  details: 'hidden',
  question: 0,
  answers: [],
  marked: [],
  problem: undefined,
  listed: [],
  kept: undefined,
};

/** The dialog of an ask, in sight from now on. */
export function openDialog(shownAtMs: number): OpenDialog {
  return {
    stage: 'open',
    shownAtMs,
    armedAtMs: undefined,
    isHearing: false,
    over: '',
    selected: undefined,
    form: EMPTY_FORM,
  };
}

/** When it begins to hear keys. */
export function hearsAtMs({ armedAtMs }: OpenDialog): number {
  return armedAtMs === undefined ? Number.POSITIVE_INFINITY : armedAtMs + ARMED_MS;
}

/** Does it hear keys? */
export function hearsKeys({ armedAtMs, isHearing }: OpenDialog): boolean {
  return armedAtMs !== undefined && isHearing;
}
