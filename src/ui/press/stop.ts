import { edit } from '../composer/edit.ts';
import { queuedWords } from '../view/typed-words.ts';
import { isBusy, type ViewState } from '../view/view-state.ts';
import { type Effect, only, type Pressed, withEffects } from './effects.ts';

const EXIT_ARMED_MS = 2000;
const REWIND_ARMED_MS = 500;
/** So long something that was stopped may take to end, and a little. */
const DYING_MS = 4000;

/** ESC when nothing is open: stops what runs; at rest, twice, it offers the earlier messages. */
export function pressEscape(view: ViewState, nowMs: number): Pressed {
  const kill = killing(view, nowMs);
  if (isBusy(view)) return stop(view, nowMs);
  if (view.editor.text !== '') return withEffects(view, ...kill);
  if (nowMs < view.keys.rewindArmedUntilMs) return withEffects(view, { type: 'command', line: 'rewind' });
  const armed = {
    ...view,
    keys: { ...view.keys, rewindArmedUntilMs: nowMs + REWIND_ARMED_MS },
    hint: { text: 'esc again: edit an earlier message', untilMs: nowMs + EXIT_ARMED_MS },
  };
  return withEffects(armed, ...kill);
}

/** Ctrl-C: stops, or clears the draft (undo brings it back), or asks once more before it leaves. */
export function interruptRun(view: ViewState, nowMs: number): Pressed {
  if (isBusy(view) && view.activity.status !== 'stopping') return stop(view, nowMs);
  if (view.editor.search !== undefined)
    return only({ ...view, editor: edit(view.editor, { type: 'search-cancel' }, nowMs) });
  if (view.editor.text !== '' && !isBusy(view)) {
    const keys = { ...view.keys, exitArmedUntilMs: 0 };
    const cleared = { ...view, keys, overlay: undefined, editor: edit(view.editor, { type: 'clear' }, nowMs) };
    return withEffects(cleared, ...killing(view, nowMs));
  }
  const leaving = leaveKey(view, nowMs);
  return { ...leaving, effects: [...killing(view, nowMs), ...leaving.effects] };
}

/** Who presses again does not wait for what was stopped. */
function killing({ keys }: ViewState, nowMs: number): readonly Effect[] {
  return nowMs < keys.dyingUntilMs ? [{ type: 'kill_stopping' }] : [];
}

/** The first press arms, the second leaves. */
export function leaveKey(view: ViewState, nowMs: number): Pressed {
  const isArmed = nowMs < view.keys.exitArmedUntilMs && view.hint !== undefined;
  return isArmed ? withEffects(view, { type: 'leave' }) : only(withLeaveArmed(view, nowMs));
}

/** Takes queued messages back into the draft, before what stands there. */
export function pullQueued(view: ViewState, which: 'last' | 'all'): Pressed {
  // Words that are pinned are no draft: they wait for the next request.
  const drafts = view.queue.filter(({ message }) => message.pinned !== true);
  const taken = which === 'all' ? drafts : drafts.slice(-1);
  if (taken.length === 0) return only(view);
  const effects: readonly Effect[] = taken.map(({ id }) => ({ type: 'unqueue', id }));
  return { view: { ...view, editor: withWords(view, taken.map(queuedWords)) }, effects };
}

/** One press: the run is aborted, and what waited in the queue comes back into the draft, the draft last. */
function stop(view: ViewState, nowMs: number): Pressed {
  const back = pullQueued(view, 'all');
  const keys = { ...back.view.keys, dyingUntilMs: nowMs + DYING_MS };
  return {
    view: { ...back.view, keys },
    effects: [...back.effects, { type: 'abort' }, ...killing(view, nowMs)],
  };
}

function withWords(view: ViewState, words: readonly string[]): ViewState['editor'] {
  const parts = [...words, view.editor.text].filter((part) => part !== '');
  return edit(view.editor, { type: 'set-text', text: parts.join('\n\n') }, 0);
}

function withLeaveArmed(view: ViewState, nowMs: number): ViewState {
  const untilMs = nowMs + EXIT_ARMED_MS;
  const keys = { ...view.keys, exitArmedUntilMs: untilMs };
  return { ...view, keys, hint: { text: 'ctrl-c again to leave', untilMs } };
}
