import type { JsonObject } from '../../contracts/json.ts';
import type { WireReader } from './read-reply.ts';
import { createThinkSplitter } from './think-tags.ts';
import { numberOf, objectOf, objectsOf, parseJson, textOf } from './wire-json.ts';

/** Reads chat completion chunks as the Messages API events they mean. */
export function createChunkReader(newId: () => string, nameOf: (sent: string) => string = (sent) => sent): WireReader {
  const splitter = createThinkSplitter();
  let state = NOTHING_READ;
  const take = (...moves: readonly Move[]): readonly JsonObject[] => {
    const step = inOrder(state, moves);
    state = step.state;
    return step.events;
  };
  const sayAll = (spoken: ReturnType<typeof splitter.flush>) => spoken.map(({ kind, text }) => say(kind, text));

  function readChunk(chunk: JsonObject): readonly JsonObject[] {
    if (objectOf(chunk.error) || textOf(chunk.error)) return [{ type: 'error', error: chunk.error }];
    state = { ...state, usage: readUsage(objectOf(chunk.usage)) ?? state.usage };
    const choice = objectsOf(chunk.choices)[0];
    if (!choice) return [];
    const delta = objectOf(choice.delta) ?? {};
    const moves = [
      start(textOf(chunk.id) || newId()),
      say('thinking', textOf(delta.reasoning_content) ?? textOf(delta.reasoning)),
      ...sayAll(splitter.push(textOf(delta.content) ?? '')),
      say('text', textOf(delta.refusal)),
      ...objectsOf(delta.tool_calls).map((raw) => call(raw, newId, nameOf)),
    ];
    const reason = textOf(choice.finish_reason);
    if (!reason) return take(...moves);
    state = { ...state, stopReason: STOP_REASONS[reason] ?? 'end_turn' };
    return take(...moves, ...sayAll(splitter.flush()), closeAll);
  }

  return {
    read({ name, data }) {
      if (data.trim() === '[DONE]') {
        // Some servers say only this of the end.
        if (state.isStarted) state = { ...state, stopReason: state.stopReason ?? 'end_turn' };
        return take(finish);
      }
      const chunk = objectOf(parseJson(data));
      if (name === 'error') return [{ type: 'error', error: chunk?.error ?? chunk ?? data }];
      return chunk ? readChunk(chunk) : [];
    },
    end: () => take(finish),
  };
}

type ChunkState = {
  readonly isStarted: boolean;
  /** The number of the next block. */
  readonly next: number;
  readonly open: OpenWords | OpenCall | undefined;
  /** Calls that came while another was still being written. */
  readonly waiting: readonly WaitingCall[];
  readonly stopReason: string | undefined;
  readonly usage: JsonObject | undefined;
};

type OpenWords = { readonly kind: 'text' | 'thinking'; readonly index: number };
type OpenCall = {
  readonly kind: 'call';
  readonly index: number;
  readonly slot: number;
  readonly id: string;
  readonly json: string;
};
type WaitingCall = { readonly slot: number; readonly id: string; readonly name: string; readonly json: string };

/** A change of the state and the events it makes. */
type Move = (state: ChunkState) => { readonly state: ChunkState; readonly events: readonly JsonObject[] };

const NOTHING_READ: ChunkState = {
  isStarted: false,
  next: 0,
  open: undefined,
  waiting: [],
  stopReason: undefined,
  usage: undefined,
};

function inOrder(first: ChunkState, moves: readonly Move[]): ReturnType<Move> {
  let state = first;
  const events = moves.flatMap((move) => {
    const step = move(state);
    state = step.state;
    return step.events;
  });
  return { state, events };
}

const stay: Move = (state) => ({ state, events: [] });

function start(id: string): Move {
  return (state) => {
    if (state.isStarted) return stay(state);
    const message = { id, role: 'assistant', content: [] };
    return { state: { ...state, isStarted: true }, events: [{ type: 'message_start', message }] };
  };
}

const finish: Move = (state) => {
  const { isStarted, stopReason, usage } = state;
  if (!isStarted || stopReason === undefined) return stay(state);
  const end = { type: 'message_delta', delta: { stop_reason: stopReason }, ...(usage && { usage }) };
  const closed = closeAll(state);
  return { state: closed.state, events: [...closed.events, end, { type: 'message_stop' }] };
};

const closeOne: Move = (state) => {
  if (state.open === undefined) return stay(state);
  return { state: { ...state, open: undefined }, events: [{ type: 'content_block_stop', index: state.open.index }] };
};

/** Ends what is open; calls that waited behind it come with all they have. */
const closeAll: Move = (state) =>
  state.waiting.length === 0 ? closeOne(state) : inOrder(state, [closeOne, openNext, closeAll]);

const openNext: Move = (state) => {
  const [first, ...waiting] = state.waiting;
  if (first === undefined) return stay(state);
  const { slot, id, name, json } = first;
  const index = state.next;
  const open: OpenCall = { kind: 'call', index, slot, id, json: '' };
  const content_block = { type: 'tool_use', id, name, input: {} };
  const opened = write(open, json)({ ...state, next: index + 1, waiting, open });
  return { ...opened, events: [{ type: 'content_block_start', index, content_block }, ...opened.events] };
};

/** The next call begins as soon as the one before it is whole. */
const goOn: Move = (state) => {
  const { open, waiting } = state;
  const isUnfinished = open?.kind === 'call' && objectOf(parseJson(open.json)) === undefined;
  return waiting.length === 0 || isUnfinished ? stay(state) : inOrder(state, [closeOne, openNext, goOn]);
};

function write(open: OpenCall, json: string): Move {
  return (state) => {
    if (json === '') return stay(state);
    const delta = { type: 'input_json_delta', partial_json: json };
    return {
      state: { ...state, open: { ...open, json: open.json + json } },
      events: [{ type: 'content_block_delta', index: open.index, delta }],
    };
  };
}

function say(kind: OpenWords['kind'], text: string | undefined): Move {
  return (state) => {
    if (!text) return stay(state);
    const { state: opened, events } = state.open?.kind === kind ? stay(state) : inOrder(state, [closeAll, begin(kind)]);
    const delta = kind === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text };
    const index = opened.open?.index ?? 0;
    return { state: opened, events: [...events, { type: 'content_block_delta', index, delta }] };
  };
}

function begin(kind: OpenWords['kind']): Move {
  return (state) => {
    const index = state.next;
    const content_block = kind === 'text' ? { type: kind, text: '' } : { type: kind, thinking: '', signature: '' };
    const events = [{ type: 'content_block_start', index, content_block }];
    return { state: { ...state, next: index + 1, open: { kind, index } }, events };
  };
}

/** A call goes on while its slot and id stay; some servers number all of them 0, others write several in turns. */
function call(raw: JsonObject, newId: () => string, nameOf: (sent: string) => string): Move {
  const slot = numberOf(raw.index) ?? 0;
  const fn = objectOf(raw.function);
  const id = textOf(raw.id);
  const json = textOf(fn?.arguments) ?? (objectOf(fn?.arguments) ? JSON.stringify(fn?.arguments) : '');
  const isIt = (one: { readonly slot: number; readonly id: string }) => one.slot === slot && (!id || id === one.id);
  return (state) => {
    const { open, waiting } = state;
    if (open?.kind === 'call' && isIt(open)) return inOrder(state, [write(open, json), goOn]);
    const at = waiting.findIndex(isIt);
    const fresh = { slot, id: id || `call_${newId()}`, name: nameOf(textOf(fn?.name) ?? ''), json };
    const more = waiting.map((one, place) => (place === at ? { ...one, json: one.json + json } : one));
    return goOn({ ...state, waiting: at === -1 ? [...waiting, fresh] : more });
  };
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
};

/** Prompt tokens include the cached ones here; ours do not. */
function readUsage(raw: JsonObject | undefined): JsonObject | undefined {
  const prompt = numberOf(raw?.prompt_tokens);
  if (!raw || prompt === undefined) return undefined;
  const cached = numberOf(objectOf(raw.prompt_tokens_details)?.cached_tokens) ?? 0;
  return {
    input_tokens: Math.max(0, prompt - cached),
    cache_read_input_tokens: cached,
    output_tokens: numberOf(raw.completion_tokens) ?? 0,
  };
}
