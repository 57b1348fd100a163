import type { AgentEvent } from '../../contracts/event.ts';
import { type Ask, callIdOf, EMPTY_FORM } from './ask.ts';
import { markTool } from './slice-tools.ts';
import type { ViewState } from './view-state.ts';

/** So long nobody may have typed before a dialog hears keys; `dialogDelayMs` in the settings changes it. */
const ARMING_MS = 400;

/** A dialog wants to open: it is announced, and listens only when the keys have been quiet. */
export function openAsk(view: ViewState, ask: Ask, nowMs: number): ViewState {
  if (view.asks.some(({ id }) => id === ask.id)) return view;
  const waiting = markTool(view, callIdOf(ask), 'waiting', nowMs);
  const next = { ...waiting, asks: [...view.asks, ask] };
  return view.asks.length > 0 ? next : present(next, nowMs);
}

/** An ask was answered, by whomever. The next one starts from the beginning. */
export function closeAsk(view: ViewState, id: string, nowMs: number): ViewState {
  const ask = view.asks.find((one) => one.id === id);
  if (ask === undefined) return view;
  const asks = view.asks.filter((one) => one !== ask);
  const going = markTool({ ...view, asks }, callIdOf(ask), 'running', nowMs);
  if (view.asks[0] !== ask) return going;
  const returned = view.attention.stage === 'armed' ? view.attention.form.kept : undefined;
  return present({ ...going, editor: returned ?? going.editor }, nowMs);
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
  if (view.asks.length === 0) return { ...view, attention: { stage: 'none' } };
  return armIfQuiet({ ...view, attention: { stage: 'pending', lastKeyAtMs: view.keys.lastKeyAtMs } }, nowMs, ARMING_MS);
}

/** Arms a pending dialog once the keys have been quiet for long enough. */
export function armIfQuiet(view: ViewState, nowMs: number, quietMs: number): ViewState {
  if (view.attention.stage !== 'pending' || nowMs - view.keys.lastKeyAtMs < quietMs) return view;
  const focus = view.editor.text === '' ? 'dialog' : 'composer';
  return { ...view, attention: { stage: 'armed', armedAtMs: nowMs, focus, selected: undefined, form: EMPTY_FORM } };
}
