import type { JsonObject } from '../../../contracts/json.ts';
import { narrowToNumber, narrowToObject, narrowToString, parseNetworkJson } from '../../stream/json-values.ts';
import { MALFORMED_EVENT } from '../../stream/read-reply.ts';

/** State of a chat completions reply while it streams. */
export type ChatStreamState = {
  readonly isStarted: boolean;
  /** Index of the next block. */
  readonly nextIndex: number;
  readonly openBlock: OpenText | OpenCall | undefined;
  /** Tool calls that started while another one was still streaming. */
  readonly waitingCalls: readonly ChatCall[];
  /** Text that arrived between the pieces of a call. */
  readonly waitingTexts: readonly ChatStreamUpdate[];
  readonly hasCalls: boolean;
  readonly stopReason: string | undefined;
  readonly usage: JsonObject | undefined;
  /** Reasoning details to be sent back unchanged with the tool call that follows. */
  readonly details: readonly JsonObject[];
};

type OpenText = { readonly kind: 'text' | 'thinking'; readonly index: number; readonly field: string | undefined };
type ChatCall = {
  readonly slot: number;
  readonly id: string;
  readonly name: string;
  readonly json: string;
  readonly extra: JsonObject | undefined;
};
type OpenCall = ChatCall & { readonly kind: 'call'; readonly index: number };

/** An update of the state, with the Messages API events it produces. */
export type ChatStreamUpdate = (state: ChatStreamState) => {
  readonly state: ChatStreamState;
  readonly events: readonly JsonObject[];
};

/** State before the first chunk. */
export const INITIAL_CHAT_STREAM_STATE: ChatStreamState = {
  isStarted: false,
  nextIndex: 0,
  openBlock: undefined,
  waitingCalls: [],
  waitingTexts: [],
  hasCalls: false,
  stopReason: undefined,
  usage: undefined,
  details: [],
};

/** Applies updates in order and collects their events. */
export function applyChatStreamUpdates(
  initial: ChatStreamState,
  updates: readonly ChatStreamUpdate[],
): ReturnType<ChatStreamUpdate> {
  let state = initial;
  const events = updates.flatMap((update) => {
    const step = update(state);
    state = step.state;
    return step.events;
  });
  return { state, events };
}

const keepState: ChatStreamUpdate = (state) => ({ state, events: [] });

/** Starts the reply unless it has started. */
export function startChatReply(id: string): ChatStreamUpdate {
  return (state) => {
    if (state.isStarted) return keepState(state);
    const message = { id, role: 'assistant', content: [] };
    return { state: { ...state, isStarted: true }, events: [{ type: 'message_start', message }] };
  };
}

/** Ends the reply if the server sent a stop reason. */
export const finishChatReply: ChatStreamUpdate = (state) => {
  const { isStarted, usage } = state;
  if (!isStarted || state.stopReason === undefined) return keepState(state);
  // Some servers send `stop` even after tool calls.
  const stopReason = state.hasCalls && state.stopReason === 'end_turn' ? 'tool_use' : state.stopReason;
  const endEvent = { type: 'message_delta', delta: { stop_reason: stopReason }, ...(usage && { usage }) };
  const closed = applyChatStreamUpdates({ ...state, waitingTexts: [] }, [
    closeChatBlocks,
    ...state.waitingTexts,
    closeChatBlocks,
  ]);
  return { state: closed.state, events: [...closed.events, endEvent, { type: 'message_stop' }] };
};

/** Appends text or thinking. `field` is the response field of the thinking, which requests send it back in. */
export function appendChatTextDelta(
  kind: OpenText['kind'],
  text: string | undefined,
  field?: string,
): ChatStreamUpdate {
  return (state) => {
    if (!text) return keepState(state);
    if (isCallUnfinished(state))
      return keepState({ ...state, waitingTexts: [...state.waitingTexts, appendChatTextDelta(kind, text, field)] });
    const { state: opened, events } =
      state.openBlock?.kind === kind
        ? keepState(state)
        : applyChatStreamUpdates(state, [closeChatBlocks, startBlock(kind, field)]);
    const delta = kind === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text };
    const index = opened.openBlock?.index ?? 0;
    return { state: opened, events: [...events, { type: 'content_block_delta', index, delta }] };
  };
}

function startBlock(kind: OpenText['kind'], field: string | undefined): ChatStreamUpdate {
  return (state) => {
    const index = state.nextIndex;
    const content_block = kind === 'text' ? { type: kind, text: '' } : { type: kind, thinking: '', signature: '' };
    const events = [{ type: 'content_block_start', index, content_block }];
    return { state: { ...state, nextIndex: index + 1, openBlock: { kind, index, field } }, events };
  };
}

const closeBlock: ChatStreamUpdate = (state) => {
  const { openBlock, details } = state;
  if (openBlock === undefined) return keepState(state);
  const { index } = openBlock;
  const sentBack =
    openBlock.kind === 'call' ? { ...openBlock.extra, ...(details.length > 0 && { reasoning_details: details }) } : {};
  const signature =
    Object.keys(sentBack).length > 0
      ? JSON.stringify(sentBack)
      : openBlock.kind === 'thinking'
        ? openBlock.field
        : undefined;
  const delta = { type: 'signature_delta', signature: signature ?? '' };
  return {
    state: { ...state, openBlock: undefined, ...(openBlock.kind === 'call' && { details: [] }) },
    events: [
      ...(signature === undefined ? [] : [{ type: 'content_block_delta', index, delta }]),
      { type: 'content_block_stop', index },
    ],
  };
};

/** Closes the open block and emits all waiting tool calls as they are. */
const closeChatBlocks: ChatStreamUpdate = (state) =>
  state.waitingCalls.length === 0
    ? closeBlock(state)
    : applyChatStreamUpdates(state, [closeBlock, openNextCall, closeChatBlocks]);

const openNextCall: ChatStreamUpdate = (state) => {
  const [nextCall, ...waitingCalls] = state.waitingCalls;
  if (nextCall === undefined) return keepState(state);
  const index = state.nextIndex;
  const openBlock: OpenCall = { ...nextCall, kind: 'call', index, json: '' };
  const content_block = { type: 'tool_use', id: nextCall.id, name: nextCall.name, input: {} };
  const opened = appendInput(
    openBlock,
    nextCall.json,
  )({ ...state, nextIndex: index + 1, waitingCalls, openBlock, hasCalls: true });
  return { ...opened, events: [{ type: 'content_block_start', index, content_block }, ...opened.events] };
};

/** Opens waiting tool calls as soon as the input of the open one is complete. */
const openReadyCalls: ChatStreamUpdate = (state) => {
  return state.waitingCalls.length === 0 || isCallUnfinished(state)
    ? keepState(state)
    : applyChatStreamUpdates(state, [closeBlock, openNextCall, openReadyCalls]);
};

/** Closes the open block unless it is a call whose input is incomplete. */
export const closeCompleteChatBlock: ChatStreamUpdate = (state) =>
  isCallUnfinished(state) ? keepState(state) : closeBlock(state);

function isCallUnfinished({ openBlock }: ChatStreamState): boolean {
  return openBlock?.kind === 'call' && !isCompleteObject(openBlock.json);
}

function appendInput(openBlock: OpenCall, json: string): ChatStreamUpdate {
  return (state) => {
    if (json === '') return { state: { ...state, openBlock }, events: [] };
    const delta = { type: 'input_json_delta', partial_json: json };
    return {
      state: { ...state, openBlock: { ...openBlock, json: openBlock.json + json } },
      events: [{ type: 'content_block_delta', index: openBlock.index, delta }],
    };
  };
}

/** Creates missing call ids and maps sent tool names to the original ones. */
export type ToolCallNaming = { readonly newId: () => string; readonly resolveName: (sent: string) => string };

/** Adds a piece of a tool call; `listIndex` is its index in the list of the chunk. */
export function appendChatToolCall(
  rawCall: JsonObject,
  listIndex: number,
  { newId, resolveName }: ToolCallNaming,
): ChatStreamUpdate {
  const rawFunction = narrowToObject(rawCall.function) ?? rawCall;
  const piece: CallPiece = {
    slot: narrowToNumber(rawCall.index),
    id: narrowToString(rawCall.id) ?? '',
    name: resolveName(narrowToString(rawFunction.name) ?? ''),
    json:
      narrowToString(rawFunction.arguments) ??
      (narrowToObject(rawFunction.arguments) ? JSON.stringify(rawFunction.arguments) : ''),
  };
  const extra_content = narrowToObject(rawCall.extra_content);
  const extra = extra_content && { extra_content };
  return (state) => {
    const { openBlock, waitingCalls } = state;
    const calls = [...(openBlock?.kind === 'call' ? [openBlock] : []), ...waitingCalls];
    const knownCall = calls.findLast((candidate) => isPieceOf(piece, candidate, listIndex));
    if (knownCall === undefined && piece.id === '' && piece.name === '' && piece.json !== '')
      return { state, events: [MALFORMED_EVENT] };
    if (knownCall === undefined) {
      const newCall = { ...piece, slot: piece.slot ?? listIndex, id: piece.id || `call_${newId()}`, extra };
      return openReadyCalls({ ...state, waitingCalls: [...waitingCalls, newCall] });
    }
    const json = isCompleteObject(knownCall.json) && piece.json === knownCall.json ? '' : piece.json;
    if (openBlock?.kind === 'call' && knownCall === openBlock) {
      return applyChatStreamUpdates(state, [
        appendInput({ ...openBlock, extra: extra ?? openBlock.extra }, json),
        openReadyCalls,
      ]);
    }
    const extendedCall = { ...knownCall, json: knownCall.json + json, extra: extra ?? knownCall.extra };
    return openReadyCalls({
      ...state,
      waitingCalls: waitingCalls.map((waitingCall) => (waitingCall === knownCall ? extendedCall : waitingCall)),
    });
  };
}

type CallPiece = {
  readonly slot: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly json: string;
};

/**
 * Returns true if a piece continues a call: its slot and id are unchanged. Some servers send slot 0 or none and no ids;
 * then another name, or a name after a complete input, starts a new call.
 */
function isPieceOf({ slot, id, name, json }: CallPiece, call: ChatCall, listIndex: number): boolean {
  if (slot === undefined && id === '' && name === '') return true;
  if ((slot ?? listIndex) !== call.slot || (id !== '' && id !== call.id)) return false;
  if (name === '') return true;
  return name === call.name && (!isCompleteObject(call.json) || json === '' || (id !== '' && json === call.json));
}

function isCompleteObject(json: string): boolean {
  return narrowToObject(parseNetworkJson(json)) !== undefined;
}
