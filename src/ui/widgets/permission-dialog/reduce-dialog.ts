import type { AgentEvent } from '../../../contracts/event.ts';
import { setLiveCallStatus } from '../../app-state/live-pieces.ts';
import { getUnsentDialogText, restoreUserDraft, type ViewState } from '../../app-state/view-state.ts';
import { createDraftEditor } from '../composer/draft-editor-state.ts';
import { listQuestionParts } from '../form/question-fields.ts';
import { getInitialSelection } from './dialog-options.ts';
import {
  createOpenDialogState,
  type DialogAction,
  type DialogForm,
  type DialogRequest,
  FOCUS_GUARD_MS,
  getDialogReadyTime,
  getRequestCallId,
  KEY_GUARD_MS,
  type OpenDialog,
} from './dialog-state.ts';

/** Adds a request. Its dialog is shown at once but accepts keys only after typing has paused. */
export function addDialogRequest(view: ViewState, request: DialogRequest, nowMs: number): ViewState {
  if (view.dialogRequests.some(({ id }) => id === request.id)) return view;
  const waiting = setLiveCallStatus(view, getRequestCallId(request), 'waiting', nowMs);
  const next: ViewState = { ...waiting, dialogRequests: [...view.dialogRequests, request] };
  return view.dialogRequests.length > 0 ? next : showFirstDialog(next, nowMs);
}

const STASHED_HINT = 'your text was stashed (ctrl+s on an empty draft restores it)';
const STASHED_HINT_MS = 10_000;
/** Time after an answering key in which the closing of its request is expected. */
const ANSWER_CLOSE_MS = 1000;
/** Additional delay before a dialog accepts keys when it replaces one that was answered elsewhere. */
const REPLACED_DELAY_MS = 400;

/** Removes a request that was answered, here or elsewhere, and shows the next one. */
export function removeDialogRequest(view: ViewState, id: string, nowMs: number): ViewState {
  const request = view.dialogRequests.find((other) => other.id === id);
  if (request === undefined) return view;
  const dialogRequests = view.dialogRequests.filter((other) => other !== request);
  const resumed = setLiveCallStatus({ ...view, dialogRequests }, getRequestCallId(request), 'running', nowMs);
  if (view.dialogRequests[0] !== request) return resumed;
  const unsentText = getUnsentDialogText(view);
  const hintChange = unsentText === '' ? {} : { hint: { text: STASHED_HINT, untilMs: nowMs + STASHED_HINT_MS } };
  const closed: ViewState = { ...resumed, ...hintChange, editor: restoreUserDraft(view) };
  const isAnsweredHere = nowMs - view.keys.lastAnswerKeyAtMs < ANSWER_CLOSE_MS;
  if (isAnsweredHere || isDialogCollapsed(view)) return showFirstDialog(closed, nowMs);
  // The dialog was closed from elsewhere: a key meant for it must reach neither the next dialog nor the draft.
  return showFirstDialog(
    { ...closed, keys: { ...closed.keys, lastAnswer: { chord: '', atMs: nowMs } } },
    nowMs + REPLACED_DELAY_MS,
  );
}

/** Notes that a key of the user answered the request or stopped the run. */
export function noteAnswerKey(view: ViewState): ViewState {
  return { ...view, keys: { ...view.keys, lastAnswerKeyAtMs: view.keys.lastKeyAtMs } };
}

/** Handles a resize of the window: the dialog moved, so keys are ignored for a moment. */
export function pauseDialogKeysAfterResize(view: ViewState, nowMs: number): ViewState {
  return view.dialog.stage === 'none' ? view : { ...view, keys: { ...view.keys, refocusedAtMs: nowMs } };
}

/** Returns the request of an event that asks the user something. */
export function toDialogRequest(event: AgentEvent): DialogRequest | undefined {
  if (event.type === 'permission_request')
    return { kind: 'permission', id: event.request.id, permission: event.request };
  if (event.type === 'question') {
    return { kind: 'question', id: event.id, callId: event.callId, question: event.question };
  }
  return undefined;
}

/** Opens the dialog of the first request, or none. */
function showFirstDialog(view: ViewState, nowMs: number): ViewState {
  return { ...view, dialog: view.dialogRequests.length === 0 ? { stage: 'none' } : createOpenDialogState(nowMs) };
}

/** Returns whether the dialog is collapsed to a hint because an overlay or the draft receives the keys. */
export function isDialogCollapsed({
  dialog,
  editor,
  overlay,
}: Pick<ViewState, 'dialog' | 'editor' | 'overlay'>): boolean {
  if (dialog.stage === 'none') return false;
  return overlay !== undefined || (dialog.form.typing === 'nothing' && editor.text !== dialog.draftText);
}

/** Returns the time at which a visible dialog is armed, unless a key is pressed before. */
export function getDialogArmTime({ dialog, keys }: ViewState, quietMs: number): number {
  const { shownAtMs, draftText } = dialog.stage === 'open' ? dialog : createOpenDialogState(0);
  // A dialog that was expanded by hand does not interrupt typing, so it waits less.
  return Math.max(
    keys.lastKeyAtMs + (draftText === '' ? quietMs : KEY_GUARD_MS),
    shownAtMs + KEY_GUARD_MS,
    keys.refocusedAtMs + FOCUS_GUARD_MS,
  );
}

/** Arms the dialog after typing has paused long enough, and selects the first option where that is safe. */
export function armDialogIfQuiet(view: ViewState, nowMs: number, quietMs: number): ViewState {
  const { dialog, dialogRequests } = view;
  const [request] = dialogRequests;
  if (dialog.stage === 'none' || request === undefined) return view;
  if (dialog.armedAtMs !== undefined) {
    if (dialog.isReady || nowMs < getDialogReadyTime(dialog)) return view;
    const ready = { ...dialog, isReady: true };
    const action = quietMs > 0 && view.editor.text === '' ? getOnlyTextAction(request, dialog.form) : undefined;
    return action === undefined ? { ...view, dialog: ready } : startDialogText(view, ready, action);
  }
  if (isDialogCollapsed(view) || nowMs < getDialogArmTime(view, quietMs)) return view;
  return {
    ...view,
    dialog: { ...dialog, armedAtMs: nowMs, isReady: false, selected: getInitialSelection(request, dialog.form) },
  };
}

/** Returns the action of a form field that can only be typed: it takes text without a key before it. */
function getOnlyTextAction(request: DialogRequest, form: DialogForm): WriteAction | undefined {
  if (request.kind !== 'question' || request.question.kind !== 'elicitation') return undefined;
  const part = listQuestionParts(request.question)[form.partIndex];
  if (part?.typedLabel === undefined || part.options.length > 0) return undefined;
  return { type: 'write', purpose: 'custom_answer', initialText: part.initialText };
}

type WriteAction = Extract<DialogAction, { type: 'write' }>;

/** Lets the user type text for the dialog in the composer; it starts with what was typed there and not sent. */
export function startDialogText(view: ViewState, dialog: OpenDialog, { purpose, initialText }: WriteAction): ViewState {
  const { unsentText } = dialog.form;
  const text = unsentText?.purpose === purpose ? unsentText.text : initialText;
  const form: DialogForm = {
    ...dialog.form,
    typing: purpose,
    initialText,
    unsentText: undefined,
    userDraft: view.editor,
  };
  const editor = createDraftEditor({ width: view.editor.width, draft: { text, caret: text.length } });
  return { ...view, editor, dialog: { ...dialog, form } };
}

/** Collapses or shows the dialog again after a change of the draft or the overlay. */
export function updateDialogVisibility(before: ViewState, after: ViewState, nowMs: number): ViewState {
  const { dialog } = after;
  if (dialog.stage === 'none' || isDialogCollapsed(before) === isDialogCollapsed(after)) return after;
  // A collapsed dialog opens again when the draft is empty.
  const draftText = isDialogCollapsed(after) ? '' : dialog.draftText;
  return { ...after, dialog: { ...dialog, draftText, shownAtMs: nowMs, armedAtMs: undefined, selected: undefined } };
}
