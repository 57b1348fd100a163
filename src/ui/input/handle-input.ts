import type { PermissionAnswer } from '../../contracts/permission.ts';
import { splitGraphemes } from '../../lib/text/text-width.ts';
import { isModalOverlay, type Overlay } from '../app-state/overlay.ts';
import { isBusy, NO_RECENT_DIALOG_ANSWER, type ViewState } from '../app-state/view-state.ts';
import { editDraft, typeIntoDraft } from '../widgets/composer/draft-actions.ts';
import { handleVimKey } from '../widgets/composer/vim.ts';
import { handleOverlayKey } from '../widgets/menu/overlay-keys.ts';
import { pasteIntoPanel } from '../widgets/panel/panel-keys.ts';
import { handleDialogKey } from '../widgets/permission-dialog/dialog-keys.ts';
import { getDialogReadyTime, KEY_GUARD_MS } from '../widgets/permission-dialog/dialog-state.ts';
import {
  armDialogIfQuiet,
  getDialogArmTime,
  isDialogCollapsed,
  noteAnswerKey,
  updateDialogVisibility,
} from '../widgets/permission-dialog/reduce-dialog.ts';
import { resolveViewerKey } from '../widgets/viewer/viewer-keys.ts';
import type { ViewerState } from '../widgets/viewer/viewer-state.ts';
import type { InputEvent } from './input-event.ts';
import { type InputContext, type InputResult, withEffects, withoutEffects } from './input-result.ts';

import type { KeyBinding } from './key-actions.ts';
import { DEFAULT_KEYMAP } from './keymap.ts';
import { runKeyCommand } from './run-key-command.ts';

/** Results of a page that have an effect. They need a single key press, not a repeated key or inserted text. */
const EFFECTFUL_RESULTS = /^(?:answer|reviewed|take_back|copy|write)$/;

type KeyInput = Extract<InputEvent, { type: 'key' }>;

/** Returns the view after an input event, with the effects to run. */
export function handleInput(view: ViewState, input: InputEvent, context: InputContext): InputResult {
  const result = dispatch(view, input, context);
  const shown = dropOutdatedHint(view, result.view);
  return { effects: result.effects, view: updateDialogVisibility(view, shown, context.nowMs) };
}

/** A hint is about what the next key could do: it vanishes when another key changed the draft or the overlay. */
function dropOutdatedHint(before: ViewState, after: ViewState): ViewState {
  const isOld = after.hint !== undefined && after.hint === before.hint;
  const hasChanged = after.editor.text !== before.editor.text || after.overlay !== before.overlay;
  return isOld && hasChanged ? { ...after, hint: undefined } : after;
}

function dispatch(view: ViewState, input: InputEvent, context: InputContext): InputResult {
  switch (input.type) {
    case 'focus':
      if (input.window === 'out') return withoutEffects(setKeys(view, { window: 'away' }));
      return withoutEffects(setKeys(view, { window: 'focused', refocusedAtMs: context.nowMs }));
    case 'paste': {
      // After a paste, Enter belongs to the pasted text and not to the dialog that was answered before.
      const noted = setKeys(noteKey(view, context.nowMs), { lastAnswer: NO_RECENT_DIALOG_ANSWER });
      if (noted.overlay?.kind === 'viewer') return withoutEffects(pasteReason(noted, noted.overlay, input.text));
      if (noted.overlay?.kind === 'panel') return pasteIntoPanel(noted, noted.overlay, input.text, context);
      return editDraft(disarmExit(noted, undefined), { type: 'paste', text: input.text }, context);
    }
    case 'key':
      return handleKey(view, input, context);
    default:
      return withoutEffects(view);
  }
}

/** Applies the changes that come with time alone: dialogs arm, hints expire. */
export function applyElapsedTime(view: ViewState, { nowMs, quietMs }: InputContext): ViewState {
  const armed = armDialogIfQuiet(view, nowMs, quietMs);
  return armed.hint !== undefined && armed.hint.untilMs <= nowMs ? { ...armed, hint: undefined } : armed;
}

/** Returns the time at which the view next changes without any event. */
export function findNextTimedChangeMs(view: ViewState, { nowMs, quietMs }: InputContext): number | undefined {
  const { dialog, hint } = view;
  const dueTimes = [
    // Also when this time has already passed, as nothing else would open the dialog.
    dialog.stage === 'open' && dialog.armedAtMs === undefined && !isDialogCollapsed(view)
      ? Math.max(getDialogArmTime(view, quietMs), nowMs + 1)
      : undefined,
    dialog.stage === 'open' && dialog.armedAtMs !== undefined && !dialog.isReady
      ? Math.max(getDialogReadyTime(dialog), nowMs + 1)
      : undefined,
    hint === undefined ? undefined : Math.max(hint.untilMs, nowMs + 1),
  ].filter((time): time is number => time !== undefined && time > nowMs);
  return dueTimes.length === 0 ? undefined : Math.min(...dueTimes);
}

function handleKey(before: ViewState, input: KeyInput, context: InputContext): InputResult {
  const { chord } = input;
  const { findBinding } = context.keymap ?? DEFAULT_KEYMAP;
  const view = disarmExit(noteKey(before, context.nowMs), findBinding('', chord));
  if (/^alt\+.$/u.test(chord) && findBinding('', chord) === undefined)
    return handleEscapeAndKey(before, chord.slice(4), context);
  if (view.overlay?.kind === 'viewer') return handleViewerKey(before, view, view.overlay.viewer, input, context);
  if (before.keys.prefix !== '') {
    const binding = findBinding(before.keys.prefix, chord);
    const cleared = setKeys(view, { prefix: '' });
    return binding === undefined || binding === 'prefix'
      ? withoutEffects(cleared)
      : performBinding(cleared, binding, context);
  }
  if (isModalOverlay(view.overlay)) {
    if (isTooEarly(before, input, context)) return withoutEffects(view);
    const { view: after, effects } = handleOverlayKey(view, input, context) ?? withoutEffects(view);
    return { view: noteListKey(after), effects };
  }
  const inDialog = handleDialogKey(before, view, input, context);
  if (inDialog !== undefined) return inDialog;
  const inOverlay = handleOverlayKey(view, input, context);
  if (inOverlay !== undefined) return inOverlay;
  const inRetry = input.delivery === undefined ? handleRetryKey(before, view, chord, context) : undefined;
  if (inRetry !== undefined) return inRetry;
  const vim = applyVimMode(view, input);
  if (vim?.key === 'taken') return withoutEffects(vim.view);
  return handleBoundKey(vim?.view ?? view, input, context);
}

function handleBoundKey(view: ViewState, { chord, text }: KeyInput, context: InputContext): InputResult {
  const found = (context.keymap ?? DEFAULT_KEYMAP).findBinding('', chord);
  if (found === 'prefix') return withoutEffects(setKeys(view, { prefix: chord }));
  const binding = toSearchBinding(view, found);
  if (binding === undefined) return text === '' ? withoutEffects(view) : typeIntoDraft(view, text, context);
  return performBinding(view, binding, context);
}

function performBinding(view: ViewState, binding: KeyBinding, context: InputContext): InputResult {
  // With nothing left to delete, the context of the editor is what precedes the caret.
  const isDeletion = typeof binding === 'object' && binding.type === 'delete' && binding.what === 'left';
  if (isDeletion && view.editor.text === '' && view.editor.search === undefined && view.editorContext !== undefined)
    return runKeyCommand(view, 'drop_context', context);
  return typeof binding === 'string' ? runKeyCommand(view, binding, context) : editDraft(view, binding, context);
}

/** During a history search, editing keys change the query and not the draft. */
function toSearchBinding({ editor: { search } }: ViewState, binding: KeyBinding | undefined): KeyBinding | undefined {
  if (search === undefined || typeof binding !== 'object') return binding;
  if (binding.type === 'older' || binding.type === 'newer') return { type: `search-${binding.type}` };
  if (binding.type !== 'delete') return binding;
  const query = binding.what === 'left' ? splitGraphemes(search.query).slice(0, -1).join('') : '';
  return { type: 'search', query };
}

/** During the countdown of a retry, `r` retries now and `m` chooses a model. At a usage limit, `w` waits for its reset. */
function handleRetryKey(
  before: ViewState,
  view: ViewState,
  chord: string,
  context: InputContext,
): InputResult | undefined {
  const isQuiet = context.nowMs - before.keys.lastKeyAtMs >= context.quietMs;
  if (view.editor.text !== '' || !isQuiet) return undefined;
  if (chord === 'w' && view.lastRunEnd === 'limited' && !isBusy(view))
    return withEffects({ ...view, lastRunEnd: 'ended' }, { type: 'wait_for_limit' });
  if (view.retry === undefined) return undefined;
  if (chord === 'r') return withEffects(view, { type: 'retry_now' });
  return chord === 'm' ? withEffects(view, { type: 'command', line: 'model' }) : undefined;
}

/** Handles an unbound Alt chord as ESC followed by the key: both arrive as the same bytes. */
function handleEscapeAndKey(view: ViewState, key: string, context: InputContext): InputResult {
  const first = handleKey(view, { type: 'key', chord: 'escape', text: '' }, context);
  const second = handleKey(first.view, { type: 'key', chord: key, text: key }, context);
  return { view: second.view, effects: [...first.effects, ...second.effects] };
}

function noteKey(view: ViewState, nowMs: number): ViewState {
  return setKeys(view, { lastKeyAtMs: nowMs, usedOverlay: isModalOverlay(view.overlay) ? view.keys.usedOverlay : '' });
}

/** Cancels the pending exit unless the key is one of those that exit. */
function disarmExit(view: ViewState, binding: ReturnType<typeof DEFAULT_KEYMAP.findBinding>): ViewState {
  if (view.keys.exitArmedUntilMs === 0 || binding === 'interrupt' || binding === 'leave_or_delete') return view;
  return { ...setKeys(view, { exitArmedUntilMs: 0 }), hint: undefined };
}

function setKeys(view: ViewState, keys: Partial<ViewState['keys']>): ViewState {
  return { ...view, keys: { ...view.keys, ...keys } };
}

/** Handles a key in vim mode. Returns undefined where vim mode is off or a history search is open. */
function applyVimMode(
  view: ViewState,
  { chord, text }: Extract<InputEvent, { type: 'key' }>,
): { readonly view: ViewState; readonly key: 'taken' | 'passed' } | undefined {
  if (view.vim === undefined || view.editor.search !== undefined) return undefined;
  const result = handleVimKey(view.vim, view.editor, { chord, text });
  const overlay = result.vim.mode === 'insert' || view.overlay?.kind !== 'menu' ? view.overlay : undefined;
  return { view: { ...view, vim: result.vim, editor: result.editor, overlay }, key: result.key };
}

/** Inserts a paste on a page. Only the reason of a refused hunk accepts text. */
function pasteReason(view: ViewState, overlay: Extract<Overlay, { kind: 'viewer' }>, text: string): ViewState {
  const { page } = overlay.viewer;
  if (page.kind !== 'review' || page.typedReason === undefined) return view;
  const typedReason = page.typedReason + text.replaceAll(/\s+/g, ' ');
  return { ...view, overlay: { ...overlay, viewer: { ...overlay.viewer, page: { ...page, typedReason } } } };
}

/** Handles a key while a page fills the screen. Nothing below the page receives keys. */
function handleViewerKey(
  before: ViewState,
  view: ViewState,
  viewer: ViewerState,
  input: Extract<InputEvent, { type: 'key' }>,
  context: InputContext,
): InputResult {
  const back = view.overlay?.kind === 'viewer' ? view.overlay.back : undefined;
  const withViewer = (next: ViewerState): ViewState => {
    const overlay: Overlay = { kind: 'viewer', viewer: next, ...(back === undefined ? {} : { back }) };
    return { ...view, overlay };
  };
  const result = resolveViewerKey(viewer, input, context.viewer);
  if (input.delivery !== undefined && EFFECTFUL_RESULTS.test(result.type)) return withoutEffects(view);
  switch (result.type) {
    case 'stay':
      return withoutEffects(withViewer(result.viewer));
    case 'close':
      return withoutEffects({ ...view, overlay: back });
    case 'answer': {
      // A key this soon after the last one may have been meant for the content shown before.
      if (context.nowMs - before.keys.lastKeyAtMs < KEY_GUARD_MS) return withoutEffects(view);
      const answer: PermissionAnswer = result.verdict === 'allow' ? { behavior: 'allow' } : { behavior: 'deny' };
      return withEffects(noteAnswerKey({ ...view, overlay: undefined }), {
        type: 'answer_permission',
        id: result.requestId,
        answer,
      });
    }
    case 'reviewed':
      // Enter submits the decisions; any other answering key may have been meant for the content shown before.
      if (input.chord !== 'enter' && context.nowMs - before.keys.lastKeyAtMs < KEY_GUARD_MS)
        return withoutEffects(view);
      return withEffects(noteAnswerKey({ ...view, overlay: undefined }), {
        type: 'answer_parts',
        page: result.page,
      });
    case 'take_back':
      return withEffects(view, { type: 'take_back', line: result.command, viewCommand: result.viewCommand });
    default: {
      const note = result.type === 'copy' ? 'copied' : 'written';
      const effect = result.type === 'copy' ? 'copy' : 'write_page';
      return withEffects(withViewer({ ...result.viewer, note }), { type: effect, text: result.text });
    }
  }
}

/** Longest delay before a held key starts to repeat. */
const REPEAT_MS = 700;
/** Keys that only move, search or close; every other key has an effect. */
const HARMLESS_KEYS =
  /^(?:escape|ctrl\+[cnpu]|up|down|tab|shift\+tab|home|end|pageup|pagedown|backspace|[^ -~]|[!-~]|space| )$/u;

/**
 * Reports whether the first key in a list came too early: it may be a repeat of the key that opened the list, or meant
 * for the content shown before. Such a key must not approve, rewind or switch anything.
 */
function isTooEarly(
  before: ViewState,
  { chord, delivery }: Extract<InputEvent, { type: 'key' }>,
  { nowMs, quietMs }: InputContext,
): boolean {
  if (quietMs === 0 || !isModalOverlay(before.overlay) || before.overlay?.kind === 'viewer') return false;
  if (delivery === 'among' && !HARMLESS_KEYS.test(chord)) return true;
  if (before.keys.usedOverlay === getListName(before.overlay) || HARMLESS_KEYS.test(chord)) return false;
  return nowMs - before.keys.lastKeyAtMs < (chord === 'enter' ? REPEAT_MS : KEY_GUARD_MS);
}

/** Notes that the open list has received a key. A list that opens later starts again. */
function noteListKey(view: ViewState): ViewState {
  const name = getListName(view.overlay);
  return view.keys.usedOverlay === name ? view : { ...view, keys: { ...view.keys, usedOverlay: name } };
}

function getListName(overlay: Overlay | undefined): string {
  switch (overlay?.kind) {
    case 'panel':
      return `panel ${overlay.panel.command}`;
    case 'picker':
      return `picker ${overlay.purpose} ${overlay.title}`;
    case 'sessions':
      return 'sessions';
    default:
      return '';
  }
}
