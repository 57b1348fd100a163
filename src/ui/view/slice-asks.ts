import type { AgentEvent } from '../../contracts/event.ts';
import { type Ask, callIdOf, DEAF_MS, hearsAtMs, openDialog, RETURN_MS } from './ask.ts';
import { preselected } from './dialog-options.ts';
import { markTool } from './slice-tools.ts';
import { dialogWords, returnedDraft, type ViewState } from './view-state.ts';

/** A dialog wants to open: it is announced, and listens only when the keys have been quiet. */
export function openAsk(view: ViewState, ask: Ask, nowMs: number): ViewState {
  if (view.asks.some(({ id }) => id === ask.id)) return view;
  const waiting = markTool(view, callIdOf(ask), 'waiting', nowMs);
  const next = { ...waiting, asks: [...view.asks, ask] };
  return view.asks.length > 0 ? next : present(next, nowMs);
}

const PUT_ASIDE = 'what you wrote is put aside (ctrl+s on an empty line takes it back)';
const PUT_ASIDE_MS = 10_000;
/** So long after somebody's own key its answer may come back. */
const OWN_ANSWER_MS = 1000;
/** So much later a question hears keys that came into the place of one that was being read. */
const TAKEN_AWAY_MS = 400;

/** An ask was answered, by whomever. The next one starts from the beginning. */
export function closeAsk(view: ViewState, id: string, nowMs: number): ViewState {
  const ask = view.asks.find((one) => one.id === id);
  if (ask === undefined) return view;
  const asks = view.asks.filter((one) => one !== ask);
  const going = markTool({ ...view, asks }, callIdOf(ask), 'running', nowMs);
  if (view.asks[0] !== ask) return going;
  const words = dialogWords(view);
  const put = words === '' ? {} : { hint: { text: PUT_ASIDE, untilMs: nowMs + PUT_ASIDE_MS } };
  const left = { ...going, ...put, editor: returnedDraft(view) };
  const isOwn = nowMs - view.keys.endedAtMs < OWN_ANSWER_MS;
  if (isOwn || isFolded(view)) return present(left, nowMs);
  // Taken away under the eyes of whoever was about to answer: that key is neither for the next one nor for the draft.
  return present({ ...left, keys: { ...left.keys, answered: { chord: '', atMs: nowMs } } }, nowMs + TAKEN_AWAY_MS);
}

/** A key of the person's has answered, or stopped what asks. */
export function endedByKey(view: ViewState): ViewState {
  return { ...view, keys: { ...view.keys, endedAtMs: view.keys.lastKeyAtMs } };
}

/** The window has another size: what was read stands elsewhere, or is in sight only now. */
export function resizeWindow(view: ViewState, nowMs: number): ViewState {
  return view.attention.stage === 'none' ? view : { ...view, keys: { ...view.keys, returnedAtMs: nowMs } };
}

/** What an ask event says, if it is one. */
export function askOf(event: AgentEvent): Ask | undefined {
  if (event.type === 'permission_request') return { kind: 'permission', id: event.request.id, request: event.request };
  if (event.type === 'question') {
    return { kind: 'question', id: event.id, callId: event.callId, question: event.question };
  }
  return undefined;
}

/** The first ask in its first stage. */
function present(view: ViewState, nowMs: number): ViewState {
  return { ...view, attention: view.asks.length === 0 ? { stage: 'none' } : openDialog(nowMs) };
}

/** Is the dialog folded to a hint, because the keys belong to somebody else? */
export function isFolded({ attention, editor, overlay }: Pick<ViewState, 'attention' | 'editor' | 'overlay'>): boolean {
  if (attention.stage === 'none') return false;
  return overlay !== undefined || (attention.form.writing === 'nothing' && editor.text !== attention.over);
}

/** When a dialog in sight will hear keys, if none comes before. */
export function armsAtMs({ attention, keys }: ViewState, quietMs: number): number {
  const { shownAtMs, over } = attention.stage === 'open' ? attention : { shownAtMs: 0, over: '' };
  // Whoever unfolded it by hand is not in the middle of a sentence.
  return Math.max(
    keys.lastKeyAtMs + (over === '' ? quietMs : DEAF_MS),
    shownAtMs + DEAF_MS,
    keys.returnedAtMs + RETURN_MS,
  );
}

/** Arms a dialog once the keys have been quiet for long enough; the first option is under the cursor where that is safe. */
export function armIfQuiet(view: ViewState, nowMs: number, quietMs: number): ViewState {
  const { attention, asks } = view;
  const [ask] = asks;
  if (attention.stage === 'none' || ask === undefined) return view;
  if (attention.armedAtMs !== undefined) {
    const isDue = !attention.isHearing && nowMs >= hearsAtMs(attention);
    return isDue ? { ...view, attention: { ...attention, isHearing: true } } : view;
  }
  if (isFolded(view) || nowMs < armsAtMs(view, quietMs)) return view;
  return {
    ...view,
    attention: { ...attention, armedAtMs: nowMs, isHearing: false, selected: preselected(ask, attention.form) },
  };
}

/** What a change of the draft, or of what is open, means to the dialog: it folds, or comes in sight anew. */
export function refold(before: ViewState, after: ViewState, nowMs: number): ViewState {
  const { attention } = after;
  if (attention.stage === 'none' || isFolded(before) === isFolded(after)) return after;
  // What was unfolded over a draft goes back to the rule: an empty draft.
  const over = isFolded(after) ? '' : attention.over;
  return { ...after, attention: { ...attention, over, shownAtMs: nowMs, armedAtMs: undefined, selected: undefined } };
}
