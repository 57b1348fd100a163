import type { PermissionAnswer } from '../../../contracts/permission.ts';
import type { UserAnswer } from '../../../contracts/tool.ts';
import type { DialogForm } from './dialog-state.ts';

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
  /** Label in a collapsed dialog, if it is not the start of the full label. */
  readonly shortLabel?: string;
};

/** Creates a choice in the line of keys. */
export function createKeyOption(key: string, label: string, action: DialogAction): DialogOption {
  return { key, label, action, position: 'footer' };
}

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
