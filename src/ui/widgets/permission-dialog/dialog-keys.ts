import type { PermissionAnswer } from '../../../contracts/permission.ts';
import { moveQueuedToDraft } from '../../app-state/message-text.ts';
import { getUserDraft, type ViewState } from '../../app-state/view-state.ts';
import type { InputEvent } from '../../input/input-event.ts';
import {
  type InputContext,
  type InputResult,
  type UiEffect,
  withEffects,
  withoutEffects,
} from '../../input/input-result.ts';
import { applyDraftEditorAction } from '../composer/draft-editor-actions.ts';
import { expandPlaceholders } from '../composer/paste-placeholders.ts';
import { applyAnswerStep, sendTypedAnswer } from '../form/answer-question.ts';
import { formatQuestion, listQuestionParts } from '../form/question-fields.ts';
import {
  createDialogOptions,
  createRequestListOptions,
  filterListedRequests,
  filterOptionsInList,
  findDialogOption,
} from './dialog-options.ts';
import {
  acceptsKeys,
  type DialogAction,
  type DialogForm,
  type DialogOption,
  type DialogRequest,
  FOCUS_GUARD_MS,
  KEY_GUARD_MS,
  KEY_REPEAT_MS,
  type OpenDialog,
} from './dialog-state.ts';

import { isDialogCollapsed, noteAnswerKey, startDialogText } from './reduce-dialog.ts';

/** Rows of the screen that a list of requests leaves for its title, its keys and the draft. */
const LIST_MARGIN_ROWS = 8;
/** Keys that answer some dialogs. Dialogs without such an option ignore them, as they were not meant for the draft. */
const ANSWER_KEYS = /^[1-9yYnNaAs]$/;
const NAVIGATION_KEYS: readonly string[] = [
  'up',
  'down',
  'tab',
  'shift+tab',
  'enter',
  ' ',
  'backspace',
  'delete',
  'left',
  'right',
];

/** Said about enter in a dialog that selects no answer in advance. */
const NOTHING_SELECTED = 'nothing is selected: press a letter, or use the arrow keys first';
const HINT_MS = 5_000;

type KeyInput = Extract<InputEvent, { type: 'key' }>;

/** Handles a key for the dialog. Returns undefined for keys of the draft; keys that must not answer are swallowed. */
export function handleDialogKey(
  before: ViewState,
  current: ViewState,
  input: KeyInput,
  context: InputContext,
): InputResult | undefined {
  const { chord } = input;
  const view = current.hint?.about === 'dialog_key' ? { ...current, hint: undefined } : current;
  // Without a quiet time (linear mode) whole lines are sent, so there are no key repeats.
  if (context.quietMs > 0 && isKeyRepeat(before, input, context.nowMs))
    return withoutEffects(chord === view.keys.lastAnswer.chord ? setLastAnswer(view, chord) : view);
  const request = view.dialogRequests[0];
  const { dialog } = view;
  if (request === undefined || dialog.stage === 'none' || view.overlay !== undefined) return undefined;
  if (dialog.form.typing !== 'nothing') return handleTypingKey(view, request, dialog, input);
  if (chord === 'ctrl+c' && view.editor.text !== '') {
    return withoutEffects({ ...view, editor: applyDraftEditorAction(view.editor, { type: 'clear' }, context.nowMs) });
  }
  // Held keys, and characters that arrive among others, were not pressed to answer. Inserted text goes to the draft.
  if (input.delivery === 'held' && !isDialogCollapsed(view)) return withoutEffects(view);
  if (input.delivery === 'among' && !isDialogCollapsed(view))
    return input.text === '' ? withoutEffects(view) : undefined;
  if (isDialogCollapsed(view)) {
    if (chord !== 'ctrl+y' && chord !== 'tab') return undefined;
    return withoutEffects({ ...view, dialog: { ...dialog, draftText: view.editor.text } });
  }
  const sinceFocusMs = context.nowMs - view.keys.refocusedAtMs;
  if (acceptsKeys(dialog) && sinceFocusMs >= FOCUS_GUARD_MS)
    return handleOpenDialogKey(view, request, dialog, input, context);
  const isTooEarly = context.nowMs - dialog.shownAtMs < KEY_GUARD_MS || sinceFocusMs < FOCUS_GUARD_MS;
  const isDialogKey =
    NAVIGATION_KEYS.includes(chord) ||
    ANSWER_KEYS.test(chord) ||
    findDialogOption(getOptions(view, request, dialog), chord) !== undefined;
  return isDialogKey || chord === 'ctrl+y' || (isTooEarly && input.text !== '') ? withoutEffects(view) : undefined;
}

/** Returns whether a key repeats the last answer, or was pressed together with it. */
function isKeyRepeat({ keys }: ViewState, { chord, text }: KeyInput, nowMs: number): boolean {
  const sinceMs = nowMs - keys.lastAnswer.atMs;
  if (sinceMs < KEY_REPEAT_MS && chord === keys.lastAnswer.chord) return true;
  return sinceMs < KEY_GUARD_MS && (text !== '' || chord === 'enter');
}

function setLastAnswer(view: ViewState, chord: string): ViewState {
  return { ...view, keys: { ...view.keys, lastAnswer: { chord, atMs: view.keys.lastKeyAtMs } } };
}

function getOptions(view: ViewState, request: DialogRequest, { form }: OpenDialog): readonly DialogOption[] {
  const listedRequests = filterListedRequests(view.dialogRequests, form.listedIds);
  return listedRequests.length > 0 ? createRequestListOptions(listedRequests) : createDialogOptions(request, form);
}

function handleOpenDialogKey(
  view: ViewState,
  request: DialogRequest,
  dialog: OpenDialog,
  { chord, text }: KeyInput,
  context: InputContext,
): InputResult | undefined {
  const options = getOptions(view, request, dialog);
  const lines = filterOptionsInList(options);
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return denyAndAbort(noteAnswerKey(view), request);
    case 'ctrl+y':
      return withoutEffects(toggleList(view, dialog, context));
    case 'up':
    case 'down':
    case 'tab':
    case 'shift+tab': {
      const step = chord === 'down' || chord === 'tab' ? 1 : -1;
      const current = dialog.selected ?? (step === 1 ? -1 : 0);
      return withoutEffects({
        ...view,
        dialog: { ...dialog, selected: (current + step + lines.length) % lines.length },
      });
    }
    case ' ':
    case 'enter': {
      const option = dialog.selected === undefined ? undefined : lines[dialog.selected];
      const isMarking =
        request.kind === 'question' && listQuestionParts(request.question)[dialog.form.partIndex]?.multiSelect === true;
      if (chord === ' ' && !(isMarking && option?.action.type === 'choose')) return withoutEffects(view);
      if (chord === 'enter' && dialog.form.marked.length > 0) {
        return noteAnswer(applyAnswerStep(view, request, dialog, { type: 'send_marked' }), chord);
      }
      if (option !== undefined) return runAction(view, request, dialog, option.action, chord, context);
      const hint = { text: NOTHING_SELECTED, untilMs: context.nowMs + HINT_MS, about: 'dialog_key' } as const;
      return withoutEffects(chord === 'enter' ? { ...view, hint } : view);
    }
    case 'ctrl+o':
      return runAction(view, request, dialog, { type: 'details' }, chord, context);
    default: {
      const option = findDialogOption(options, chord);
      if (option !== undefined) return runAction(view, request, dialog, option.action, chord, context);
      return ANSWER_KEYS.test(chord) || (NAVIGATION_KEYS.includes(chord) && text === '')
        ? withoutEffects(view)
        : undefined;
    }
  }
}

/** Runs the action of an option. In multiple choice questions enter sends, other keys toggle. */
function runAction(
  view: ViewState,
  request: DialogRequest,
  dialog: OpenDialog,
  action: DialogAction,
  chord: string,
  context: InputContext,
): InputResult {
  switch (action.type) {
    case 'answer_permission': {
      // A call that is not fully visible cannot be allowed here: it is opened in the viewer and answered there.
      if (
        action.answer.behavior === 'allow' &&
        isHidden(action.answer, context.getQuestionVisibility?.(view) ?? 'all')
      ) {
        return runAction(view, request, dialog, { type: 'view' }, chord, context);
      }
      return noteAnswer(withEffects(view, { type: 'answer_permission', id: request.id, answer: action.answer }), chord);
    }
    case 'answer_question':
      return noteAnswer(withEffects(view, { type: 'answer_question', id: request.id, answer: action.answer }), chord);
    case 'answer_several':
      return noteAnswer(
        withEffects(
          view,
          ...action.ids.map((id) => ({
            type: 'answer_permission' as const,
            id,
            answer: { behavior: 'allow' as const },
          })),
        ),
        chord,
      );
    case 'list':
      return withoutEffects({
        ...view,
        dialog: { ...dialog, selected: undefined, form: { ...dialog.form, listedIds: [] } },
      });
    case 'write':
      return withoutEffects(startDialogText(view, dialog, action));
    case 'details': {
      const details = dialog.form.details === 'shown' ? 'hidden' : 'shown';
      return withoutEffects({ ...view, dialog: { ...dialog, form: { ...dialog.form, details } } });
    }
    case 'view':
    case 'edit_proposal': {
      const type = action.type === 'view' ? 'view_request' : 'edit_proposal';
      if (request.kind === 'permission') return withEffects(view, { type, request: request.permission });
      return withEffects(view, {
        type: 'view_question',
        markdown: formatQuestion(request.question, dialog.form.partIndex),
      });
    }
    case 'copy':
      return withEffects(view, { type: 'copy', text: action.text });
    case 'choose': {
      const mode = chord === 'enter' ? 'take' : 'mark';
      return noteAnswer(applyAnswerStep(view, request, dialog, { ...action, mode }), chord);
    }
    default:
      return noteAnswer(applyAnswerStep(view, request, dialog, { type: action.type }), chord);
  }
}

/** Returns whether a part of what would be allowed or remembered is not visible. */
function isHidden(
  { remember, mode, sandbox }: Extract<PermissionAnswer, { behavior: 'allow' }>,
  inSight: 'all' | 'call' | 'part',
): boolean {
  return inSight === 'part' || (inSight === 'call' && (remember ?? mode ?? sandbox) !== undefined);
}

/** Notes the key of an answer, so that its repetitions are ignored. */
function noteAnswer(pressed: InputResult, chord: string): InputResult {
  return pressed.effects.length === 0
    ? pressed
    : { ...pressed, view: noteAnswerKey(setLastAnswer(pressed.view, chord)) };
}

/** Handles a key while the user types for the dialog: Enter sends the text, ESC returns to the options. */
function handleTypingKey(
  view: ViewState,
  request: DialogRequest,
  dialog: OpenDialog,
  { chord }: KeyInput,
): InputResult | undefined {
  if (chord === 'escape' || chord === 'ctrl+c') {
    const { typing, initialText } = dialog.form;
    const text = expandPlaceholders(view.editor.text, view.editor.placeholders);
    const unsentText: DialogForm['unsentText'] =
      text === initialText || text.trim() === '' ? undefined : { purpose: typing, text };
    const form: DialogForm = {
      ...dialog.form,
      typing: 'nothing',
      unsentText,
      userDraft: undefined,
      problem: undefined,
    };
    return withoutEffects({ ...view, editor: getUserDraft(view), dialog: { ...dialog, form } });
  }
  if (chord !== 'enter') return undefined;
  const text = expandPlaceholders(view.editor.text, view.editor.placeholders).trim();
  return noteAnswer(sendTypedAnswer(view, request, dialog, text), chord);
}

/** Denies the request and stops the run. Queued messages return to the draft, as with any other stop. */
function denyAndAbort(before: ViewState, request: DialogRequest): InputResult {
  const { view, effects } = moveQueuedToDraft(before, 'all');
  const denial: UiEffect =
    request.kind === 'permission'
      ? { type: 'answer_permission', id: request.id, answer: { behavior: 'deny', interrupt: true } }
      : { type: 'answer_question', id: request.id, answer: undefined };
  return withEffects(view, denial, ...effects, { type: 'abort' });
}

/** Opens or closes the list of all requests. It has to be armed again, so that earlier key presses are ignored. */
function toggleList(view: ViewState, dialog: OpenDialog, { nowMs, viewer }: InputContext): ViewState {
  const isListOpen = dialog.form.listedIds.length > 0 || view.dialogRequests.length < 2;
  // Only visible requests can be answered.
  const visible = view.dialogRequests.slice(0, Math.max(1, viewer.height - LIST_MARGIN_ROWS));
  const form: DialogForm = { ...dialog.form, listedIds: isListOpen ? [] : visible.map(({ id }) => id) };
  return { ...view, dialog: { ...dialog, shownAtMs: nowMs, armedAtMs: undefined, selected: undefined, form } };
}
