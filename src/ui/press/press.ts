import { graphemes } from '../../lib/text/text-width.ts';
import { pressVim } from '../composer/vim.ts';
import type { Binding } from '../keys/actions.ts';
import type { InputEvent } from '../keys/input-event.ts';
import { DEFAULT_KEYMAP } from '../keys/keymap.ts';
import { DEAF_MS, hearsAtMs } from '../view/ask.ts';
import { type Overlay, takesKeys } from '../view/overlay.ts';
import { armIfQuiet, armsAtMs, endedByKey, isFolded, refold } from '../view/slice-asks.ts';
import { isBusy, NOT_ANSWERED, type ViewState } from '../view/view-state.ts';
import type { Viewer } from '../view/viewer-state.ts';
import { pressViewer } from '../viewer/press-viewer.ts';
import { only, type Pressed, withEffects } from './effects.ts';
import { heardIn, isEarly } from './first-key.ts';
import { editDraft, typeText } from './press-composer.ts';
import type { PressContext } from './press-context.ts';
import { pressDialog } from './press-dialog.ts';
import { pressOverlay } from './press-overlay.ts';
import { pastePanel } from './press-panel.ts';
import { performCommand } from './run-command.ts';

/** What a page does besides being looked at: only a key that was pressed by itself means it. */
const DOES = /^(?:answer|reviewed|take_back|copy|write)$/;

type KeyInput = Extract<InputEvent, { type: 'key' }>;

/** The screen after something came in at the keyboard. Pure: effects are told, not done. */
export function press(view: ViewState, input: InputEvent, context: PressContext): Pressed {
  const pressed = heard(view, input, context);
  return { ...pressed, view: refold(view, pressed.view, context.nowMs) };
}

function heard(view: ViewState, input: InputEvent, context: PressContext): Pressed {
  switch (input.type) {
    case 'focus':
      if (input.window === 'out') return only(withKeys(view, { window: 'away' }));
      return only(withKeys(view, { window: 'focused', returnedAtMs: context.nowMs }));
    case 'paste': {
      // Who pastes has gone on: the Enter behind it is for what was pasted.
      const seen = withKeys(noteKey(view, context.nowMs), { answered: NOT_ANSWERED });
      if (seen.overlay?.kind === 'viewer') return only(pasteReason(seen, seen.overlay, input.text));
      if (seen.overlay?.kind === 'panel') return pastePanel(seen, seen.overlay, input.text, context);
      return editDraft(stillLeaving(seen, undefined), { type: 'paste', text: input.text }, context);
    }
    case 'key':
      return pressKey(view, input, context);
    default:
      return only(view);
  }
}

/** What passes with time alone: dialogs arm, hints go. */
export function passTime(view: ViewState, { nowMs, quietMs }: PressContext): ViewState {
  const armed = armIfQuiet(view, nowMs, quietMs);
  return armed.hint !== undefined && armed.hint.untilMs <= nowMs ? { ...armed, hint: undefined } : armed;
}

/** When time alone will next make a difference. */
export function nextChange(view: ViewState, { nowMs, quietMs }: PressContext): number | undefined {
  const { attention, hint } = view;
  const due = [
    // Also when the moment has passed since the question came: nothing else would open it.
    attention.stage === 'open' && attention.armedAtMs === undefined && !isFolded(view)
      ? Math.max(armsAtMs(view, quietMs), nowMs + 1)
      : undefined,
    attention.stage === 'open' && attention.armedAtMs !== undefined && !attention.isHearing
      ? Math.max(hearsAtMs(attention), nowMs + 1)
      : undefined,
    hint === undefined ? undefined : Math.max(hint.untilMs, nowMs + 1),
  ].filter((time): time is number => time !== undefined && time > nowMs);
  return due.length === 0 ? undefined : Math.min(...due);
}

function pressKey(before: ViewState, input: KeyInput, context: PressContext): Pressed {
  const { chord } = input;
  const { bindingOf } = context.keymap ?? DEFAULT_KEYMAP;
  const view = stillLeaving(noteKey(before, context.nowMs), bindingOf('', chord));
  if (/^alt\+.$/u.test(chord) && bindingOf('', chord) === undefined) return pressApart(before, chord.slice(4), context);
  if (view.overlay?.kind === 'viewer') return lookOn(before, view, view.overlay.viewer, input, context);
  if (before.keys.prefix !== '') {
    const bound = bindingOf(before.keys.prefix, chord);
    const free = withKeys(view, { prefix: '' });
    return bound === undefined || bound === 'prefix' ? only(free) : perform(free, bound, context);
  }
  if (takesKeys(view.overlay)) {
    if (isEarly(before, input, context)) return only(view);
    const { view: now, effects } = pressOverlay(view, input, context) ?? only(view);
    return { view: heardIn(now), effects };
  }
  const asked = pressDialog(before, view, input, context);
  if (asked !== undefined) return asked;
  const inOverlay = pressOverlay(view, input, context);
  if (inOverlay !== undefined) return inOverlay;
  const retried = input.manner === undefined ? pressRetry(before, view, chord, context) : undefined;
  if (retried !== undefined) return retried;
  const vim = pressVimKey(view, input);
  if (vim?.key === 'taken') return only(vim.view);
  return pressBound(vim?.view ?? view, input, context);
}

function pressBound(view: ViewState, { chord, text }: KeyInput, context: PressContext): Pressed {
  const found = (context.keymap ?? DEFAULT_KEYMAP).bindingOf('', chord);
  if (found === 'prefix') return only(withKeys(view, { prefix: chord }));
  const bound = searching(view, found);
  if (bound === undefined) return text === '' ? only(view) : typeText(view, text, context);
  return perform(view, bound, context);
}

function perform(view: ViewState, bound: Binding, context: PressContext): Pressed {
  return typeof bound === 'string' ? performCommand(view, bound, context) : editDraft(view, bound, context);
}

/** In a search of the history, the line that is edited is what is searched for. */
function searching({ editor: { search } }: ViewState, bound: Binding | undefined): Binding | undefined {
  if (search === undefined || typeof bound !== 'object') return bound;
  if (bound.type === 'older' || bound.type === 'newer') return { type: `search-${bound.type}` };
  if (bound.type !== 'delete') return bound;
  const query = bound.what === 'left' ? graphemes(search.query).slice(0, -1).join('') : '';
  return { type: 'search', query };
}

/** While a retry counts down: `r` does not wait, `m` offers another model. At a usage limit `w` waits for its end. */
function pressRetry(before: ViewState, view: ViewState, chord: string, context: PressContext): Pressed | undefined {
  const isQuiet = context.nowMs - before.keys.lastKeyAtMs >= context.quietMs;
  if (view.editor.text !== '' || !isQuiet) return undefined;
  if (chord === 'w' && view.rest === 'limited' && !isBusy(view))
    return withEffects({ ...view, rest: 'ended' }, { type: 'wait_for_limit' });
  if (view.retry === undefined) return undefined;
  if (chord === 'r') return withEffects(view, { type: 'retry_now' });
  return chord === 'm' ? withEffects(view, { type: 'command', line: 'model' }) : undefined;
}

/** ESC and a key right behind it came as one: nothing is bound to both, so each is heard. */
function pressApart(view: ViewState, key: string, context: PressContext): Pressed {
  const first = pressKey(view, { type: 'key', chord: 'escape', text: '' }, context);
  const second = pressKey(first.view, { type: 'key', chord: key, text: key }, context);
  return { view: second.view, effects: [...first.effects, ...second.effects] };
}

function noteKey(view: ViewState, nowMs: number): ViewState {
  return withKeys(view, { lastKeyAtMs: nowMs, heardIn: takesKeys(view.overlay) ? view.keys.heardIn : '' });
}

/** Only the same key again leaves: whoever does anything else goes on. */
function stillLeaving(view: ViewState, bound: ReturnType<typeof DEFAULT_KEYMAP.bindingOf>): ViewState {
  if (view.keys.exitArmedUntilMs === 0 || bound === 'interrupt' || bound === 'leave_or_delete') return view;
  return { ...withKeys(view, { exitArmedUntilMs: 0 }), hint: undefined };
}

function withKeys(view: ViewState, keys: Partial<ViewState['keys']>): ViewState {
  return { ...view, keys: { ...view.keys, ...keys } };
}

/** What vim mode makes of a key; undefined where it is off, or somebody else has the composer. */
function pressVimKey(
  view: ViewState,
  { chord, text }: Extract<InputEvent, { type: 'key' }>,
): { readonly view: ViewState; readonly key: 'taken' | 'passed' } | undefined {
  if (view.vim === undefined || view.editor.search !== undefined) return undefined;
  const pressed = pressVim(view.vim, view.editor, { chord, text });
  const overlay = pressed.vim.mode === 'insert' || view.overlay?.kind !== 'menu' ? view.overlay : undefined;
  return { view: { ...view, vim: pressed.vim, editor: pressed.editor, overlay }, key: pressed.key };
}

/** On a page only the reason that is being written takes a paste. */
function pasteReason(view: ViewState, overlay: Extract<Overlay, { kind: 'viewer' }>, text: string): ViewState {
  const { page } = overlay.viewer;
  if (page.kind !== 'review' || page.writing === undefined) return view;
  const writing = page.writing + text.replaceAll(/\s+/g, ' ');
  return { ...view, overlay: { ...overlay, viewer: { ...overlay.viewer, page: { ...page, writing } } } };
}

/** A key while a page fills the screen: nothing below it hears any. */
function lookOn(
  before: ViewState,
  view: ViewState,
  viewer: Viewer,
  input: Extract<InputEvent, { type: 'key' }>,
  context: PressContext,
): Pressed {
  const back = view.overlay?.kind === 'viewer' ? view.overlay.back : undefined;
  const open = (viewed: Viewer): ViewState => {
    const kept = back === undefined ? {} : { back };
    return { ...view, overlay: { kind: 'viewer', viewer: viewed, ...kept } };
  };
  const pressed = pressViewer(viewer, input, context.viewer);
  if (input.manner !== undefined && DOES.test(pressed.type)) return only(view);
  switch (pressed.type) {
    case 'stay':
      return only(open(pressed.viewer));
    case 'close':
      return only({ ...view, overlay: back });
    case 'answer': {
      // A key so soon after the last one was meant for what stood there before.
      if (context.nowMs - before.keys.lastKeyAtMs < DEAF_MS) return only(view);
      const answer = pressed.verdict === 'allow' ? ({ behavior: 'allow' } as const) : ({ behavior: 'deny' } as const);
      return withEffects(endedByKey({ ...view, overlay: undefined }), {
        type: 'answer_permission',
        id: pressed.requestId,
        answer,
      });
    }
    case 'reviewed':
      // Enter sends what was decided; any other key that answers could have been meant for what stood there before.
      if (input.chord !== 'enter' && context.nowMs - before.keys.lastKeyAtMs < DEAF_MS) return only(view);
      return withEffects(endedByKey({ ...view, overlay: undefined }), {
        type: 'answer_parts',
        page: pressed.page,
      });
    case 'take_back':
      return withEffects(view, { type: 'take_back', line: pressed.line, shows: pressed.shows });
    default: {
      const note = pressed.type === 'copy' ? 'copied' : 'written';
      const effect = pressed.type === 'copy' ? 'copy' : 'write_page';
      return withEffects(open({ ...pressed.viewer, note }), { type: effect, text: pressed.text });
    }
  }
}
