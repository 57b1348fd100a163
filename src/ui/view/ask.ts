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

/**
 * How ready the first ask is for keys. `pending` shows one line and hears nothing; an `armed` dialog hears letters
 * when it has the focus, or when there is no draft that could be meant.
 */
export type Attention =
  | { readonly stage: 'none' }
  | { readonly stage: 'pending'; readonly lastKeyAtMs: number }
  | {
      readonly stage: 'armed';
      readonly armedAtMs: number;
      readonly focus: 'dialog' | 'composer';
      /** Option chosen by arrow keys; Enter does nothing before there is one. */
      readonly selected: number | undefined;
      /** What has been answered and chosen so far, for questions in several parts. */
      readonly form: AskForm;
    };

/** Keys so soon after arming were meant for something else. */
export const DEAF_MS = 150;

/** Progress through a dialog that takes more than one key. */
export type AskForm = {
  /** What the draft is being used for, when the dialog has lent it. */
  readonly writing: 'nothing' | 'reason' | 'own_words' | 'rule' | 'command' | 'plan';
  readonly details: 'hidden' | 'shown';
  readonly question: number;
  readonly answers: readonly string[];
  readonly marked: readonly number[];
  /** The asks that are listed to be answered together; none while there is no list. */
  readonly listed: readonly string[];
  /** The draft as it was before the dialog borrowed the composer. */
  readonly kept: EditorState | undefined;
};

export const EMPTY_FORM: AskForm = {
  writing: 'nothing',
  details: 'hidden',
  question: 0,
  answers: [],
  marked: [],
  listed: [],
  kept: undefined,
};
