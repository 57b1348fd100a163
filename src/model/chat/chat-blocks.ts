import type { JsonObject } from '../../contracts/json.ts';
import { numberOf, objectOf, parseJson, textOf } from '../wire/wire-json.ts';

/** A reply of chat completions as far as it was read, and what is open in it. */
export type ChatState = {
  readonly isStarted: boolean;
  /** The number of the next block. */
  readonly next: number;
  readonly open: OpenWords | OpenCall | undefined;
  /** Calls that came while another was still being written. */
  readonly waiting: readonly ChatCall[];
  readonly hasCalls: boolean;
  readonly stopReason: string | undefined;
  readonly usage: JsonObject | undefined;
  /** Reasoning that has to go back as it came; it goes with the call that follows. */
  readonly details: readonly JsonObject[];
};

type OpenWords = { readonly kind: 'text' | 'thinking'; readonly index: number; readonly field: string | undefined };
type ChatCall = {
  readonly slot: number;
  readonly id: string;
  readonly name: string;
  readonly json: string;
  readonly extra: JsonObject | undefined;
};
type OpenCall = ChatCall & { readonly kind: 'call'; readonly index: number };

/** A change of the state and the events of the Messages API it makes. */
export type Move = (state: ChatState) => { readonly state: ChatState; readonly events: readonly JsonObject[] };

export const NOTHING_READ: ChatState = {
  isStarted: false,
  next: 0,
  open: undefined,
  waiting: [],
  hasCalls: false,
  stopReason: undefined,
  usage: undefined,
  details: [],
};

/** Several moves, one after the other. */
export function inOrder(first: ChatState, moves: readonly Move[]): ReturnType<Move> {
  let state = first;
  const events = moves.flatMap((move) => {
    const step = move(state);
    state = step.state;
    return step.events;
  });
  return { state, events };
}

const stay: Move = (state) => ({ state, events: [] });

/** Begins the reply, once. */
export function start(id: string): Move {
  return (state) => {
    if (state.isStarted) return stay(state);
    const message = { id, role: 'assistant', content: [] };
    return { state: { ...state, isStarted: true }, events: [{ type: 'message_start', message }] };
  };
}

/** Ends the reply, if the server said why it ended. */
export const finish: Move = (state) => {
  const { isStarted, usage } = state;
  if (!isStarted || state.stopReason === undefined) return stay(state);
  // Some servers say `stop` behind calls, too.
  const stopReason = state.hasCalls && state.stopReason === 'end_turn' ? 'tool_use' : state.stopReason;
  const end = { type: 'message_delta', delta: { stop_reason: stopReason }, ...(usage && { usage }) };
  const closed = closeAll(state);
  return { state: closed.state, events: [...closed.events, end, { type: 'message_stop' }] };
};

/** Words, or thoughts that came in a field of their own: `field` is what they go back in. */
export function say(kind: OpenWords['kind'], text: string | undefined, field?: string): Move {
  return (state) => {
    if (!text) return stay(state);
    const { state: opened, events } =
      state.open?.kind === kind ? stay(state) : inOrder(state, [closeAll, begin(kind, field)]);
    const delta = kind === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text };
    const index = opened.open?.index ?? 0;
    return { state: opened, events: [...events, { type: 'content_block_delta', index, delta }] };
  };
}

function begin(kind: OpenWords['kind'], field: string | undefined): Move {
  return (state) => {
    const index = state.next;
    const content_block = kind === 'text' ? { type: kind, text: '' } : { type: kind, thinking: '', signature: '' };
    const events = [{ type: 'content_block_start', index, content_block }];
    return { state: { ...state, next: index + 1, open: { kind, index, field } }, events };
  };
}

const closeOne: Move = (state) => {
  const { open, details } = state;
  if (open === undefined) return stay(state);
  const { index } = open;
  const back = open.kind === 'call' ? { ...open.extra, ...(details.length > 0 && { reasoning_details: details }) } : {};
  const proof = Object.keys(back).length > 0 ? JSON.stringify(back) : open.kind === 'thinking' ? open.field : undefined;
  const delta = { type: 'signature_delta', signature: proof ?? '' };
  return {
    state: { ...state, open: undefined, ...(open.kind === 'call' && { details: [] }) },
    events: [
      ...(proof === undefined ? [] : [{ type: 'content_block_delta', index, delta }]),
      { type: 'content_block_stop', index },
    ],
  };
};

/** Ends what is open; calls that waited behind it come with all they have. */
export const closeAll: Move = (state) =>
  state.waiting.length === 0 ? closeOne(state) : inOrder(state, [closeOne, openNext, closeAll]);

const openNext: Move = (state) => {
  const [first, ...waiting] = state.waiting;
  if (first === undefined) return stay(state);
  const index = state.next;
  const open: OpenCall = { ...first, kind: 'call', index, json: '' };
  const content_block = { type: 'tool_use', id: first.id, name: first.name, input: {} };
  const opened = write(open, first.json)({ ...state, next: index + 1, waiting, open, hasCalls: true });
  return { ...opened, events: [{ type: 'content_block_start', index, content_block }, ...opened.events] };
};

/** The next call begins as soon as the one before it is whole. */
const goOn: Move = (state) => {
  const { open, waiting } = state;
  const isUnfinished = open?.kind === 'call' && !isWhole(open.json);
  return waiting.length === 0 || isUnfinished ? stay(state) : inOrder(state, [closeOne, openNext, goOn]);
};

function write(open: OpenCall, json: string): Move {
  return (state) => {
    if (json === '') return { state: { ...state, open }, events: [] };
    const delta = { type: 'input_json_delta', partial_json: json };
    return {
      state: { ...state, open: { ...open, json: open.json + json } },
      events: [{ type: 'content_block_delta', index: open.index, delta }],
    };
  };
}

/** What a call is given that the server does not say: an id, and the name of the tool it was sent as. */
export type CallNames = { readonly newId: () => string; readonly nameOf: (sent: string) => string };

/** A piece of a call, as the server sent it at a place in its list. */
export function call(raw: JsonObject, place: number, { newId, nameOf }: CallNames): Move {
  const fn = objectOf(raw.function) ?? raw;
  const piece: Piece = {
    slot: numberOf(raw.index),
    id: textOf(raw.id) ?? '',
    name: nameOf(textOf(fn.name) ?? ''),
    json: textOf(fn.arguments) ?? (objectOf(fn.arguments) ? JSON.stringify(fn.arguments) : ''),
  };
  const extra_content = objectOf(raw.extra_content);
  const extra = extra_content && { extra_content };
  return (state) => {
    const { open, waiting } = state;
    const calls = [...(open?.kind === 'call' ? [open] : []), ...waiting];
    const known = calls.findLast((one) => isPieceOf(piece, one, place));
    if (known === undefined) {
      const fresh = { ...piece, slot: piece.slot ?? place, id: piece.id || `call_${newId()}`, extra };
      return goOn({ ...state, waiting: [...waiting, fresh] });
    }
    const json = isWhole(known.json) && piece.json === known.json ? '' : piece.json;
    if (open?.kind === 'call' && known === open) {
      return inOrder(state, [write({ ...open, extra: extra ?? open.extra }, json), goOn]);
    }
    const grown = { ...known, json: known.json + json, extra: extra ?? known.extra };
    return goOn({ ...state, waiting: waiting.map((one) => (one === known ? grown : one)) });
  };
}

type Piece = {
  readonly slot: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly json: string;
};

/**
 * A call goes on while its slot and id stay. Some servers number all of them 0, or not at all, and give no ids: then
 * another name, or a name behind a whole input, begins another call.
 */
function isPieceOf({ slot, id, name, json }: Piece, one: ChatCall, place: number): boolean {
  if (slot === undefined && id === '' && name === '') return true;
  if ((slot ?? place) !== one.slot || (id !== '' && id !== one.id)) return false;
  if (name === '') return true;
  return name === one.name && (!isWhole(one.json) || json === '' || (id !== '' && json === one.json));
}

function isWhole(json: string): boolean {
  return objectOf(parseJson(json)) !== undefined;
}
