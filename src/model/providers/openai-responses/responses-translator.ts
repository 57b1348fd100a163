import type { JsonObject } from '../../../contracts/json.ts';
import { createBlockEventWriter, EMPTY_THINKING_BLOCK } from '../../stream/block-event-writer.ts';
import {
  hasOtherType,
  narrowToNumber,
  narrowToObject,
  narrowToObjects,
  narrowToString,
  parseEventObjects,
} from '../../stream/json-values.ts';
import { MALFORMED_EVENT, type StreamEventTranslator } from '../../stream/read-reply.ts';
import {
  finishResponsesItem,
  formatPartKey,
  includesText,
  isUnreadableItem,
  type ResponsesReaderState,
  readPartText,
  readResponsesCall,
  startResponsesCall,
  writeResponsesInput,
  writeResponsesText,
  writeResponsesThinking,
} from './responses-items.ts';

/** Creates a reader that translates Responses API events into Messages API events; `tools` maps sent tool names. */
export function createResponsesTranslator(tools: ReadonlyMap<string, string>): StreamEventTranslator {
  const state: ResponsesReaderState = {
    writer: createBlockEventWriter(),
    tools,
    progress: new Set(),
    searches: new Set(),
    keys: new Map(),
    callKeys: new Map(),
    inputs: new Map(),
    finished: new Set(),
    calls: [],
    unreadable: new Set(),
    text: '',
  };
  return {
    read({ name, data }) {
      const events = parseEventObjects(data);
      if (name === 'error' && events?.[0] === undefined) return [{ type: 'error', error: { message: data } }];
      if (events === undefined) state.unreadable.add('event');
      return (events ?? []).flatMap((event) => {
        const type = narrowToString(event.type) ?? name ?? '';
        const lifecycleEvents = readLifecycleEvent(type, event, state);
        if (lifecycleEvents !== undefined) return lifecycleEvents;
        const itemEvents = readItemEvent(type, event, state);
        if (itemEvents.length > 0) state.progress.add('content');
        return itemEvents;
      });
    },
    isWaitingForRest: () => state.unreadable.size > 0,
    end: () => [],
  };
}

type Events = readonly JsonObject[];

/** Reads events that start, end or fail the whole response; `undefined` for other events. */
function readLifecycleEvent(type: string, event: JsonObject, state: ResponsesReaderState): Events | undefined {
  const response = narrowToObject(event.response) ?? {};
  switch (type) {
    case 'response.created':
      return [{ type: 'message_start', message: { id: narrowToString(response.id), role: 'assistant', content: [] } }];
    case 'response.completed':
    case 'response.done':
      return completeReply(response, state);
    case 'response.incomplete': {
      const reason = narrowToString(narrowToObject(response.incomplete_details)?.reason);
      return buildEndEvents(response, reason === 'content_filter' ? 'refusal' : 'max_tokens', state.searches.size);
    }
    case 'response.failed':
    case 'response.cancelled':
      return [{ type: 'error', error: narrowToObject(response.error) ?? { code: 'server_error', message: type } }];
    case 'error': {
      const flatError = { code: event.code ?? null, message: event.message ?? null };
      return [{ type: 'error', error: narrowToObject(event.error) ?? flatError }];
    }
    default:
      return type === '' && narrowToObject(event.error) !== undefined
        ? [{ type: 'error', error: event.error }]
        : undefined;
  }
}

/** Ends the reply. Its last event repeats all items; those that did not arrive before are written now. */
function completeReply(response: JsonObject, state: ResponsesReaderState): Events {
  const { writer, progress, finished, unreadable } = state;
  const output = Array.isArray(response.output) ? response.output : [];
  const isReadable = output.length > 0 && !output.some((raw) => isUnreadableItem(narrowToObject(raw), state));
  const isLost = isReadable ? false : unreadable.size > 0 || output.length > finished.size;
  if (isLost || (hasOtherType(response.output, 'array') && !progress.has('content'))) return [MALFORMED_EVENT];
  const items = narrowToObjects(output);
  const calls = items.filter((raw) => raw.type === 'function_call');
  // Some servers change the ids of the items.
  const areCallsKnown = state.calls.length >= calls.length;
  const missing = items.map((raw) => isMissing(raw, state) && !(raw.type === 'function_call' && areCallsKnown));
  return [
    ...items.flatMap((raw, index) => (missing[index] ? finishResponsesItem(raw, String(index), state) : [])),
    ...writer.endAll(),
    ...buildEndEvents(
      response,
      progress.has('call') ? 'tool_use' : progress.has('refusal') ? 'refusal' : 'end_turn',
      state.searches.size,
    ),
  ];
}

/** Returns true if an item of the last event did not arrive before, or not completely. */
function isMissing(raw: JsonObject, { progress, calls, text }: ResponsesReaderState): boolean {
  if (!progress.has('content')) return true;
  if (raw.type === 'message')
    return narrowToObjects(raw.content).some((part) => !includesText(text, readPartText(part)));
  const wanted = readResponsesCall(raw);
  const isSame = ({ id, name, input }: (typeof calls)[number]) =>
    (id !== '' && id === wanted.id) || (name === wanted.name && input === wanted.input);
  return raw.type === 'function_call' && !calls.some(isSame);
}

const CONTENT_DELTAS: readonly string[] = [
  'response.output_text.delta',
  'response.refusal.delta',
  'response.function_call_arguments.delta',
];

function readItemEvent(type: string, event: JsonObject, state: ResponsesReaderState): Events {
  const { writer, progress, inputs, finished, unreadable } = state;
  const item = findItemKey(event, state);
  const delta = narrowToString(event.delta) ?? '';
  if (CONTENT_DELTAS.includes(type) && hasOtherType(event.delta, 'string')) unreadable.add(item);
  switch (type) {
    case 'response.output_item.added': {
      const raw = narrowToObject(event.item);
      if (isUnreadableItem(raw, state)) unreadable.add(item);
      if (raw?.type === 'reasoning') return writer.start(item, EMPTY_THINKING_BLOCK);
      return raw?.type === 'function_call' ? startResponsesCall(raw, item, state) : [];
    }
    case 'response.output_text.delta':
      return writeResponsesText(delta, formatPartKey(item, event), state);
    case 'response.refusal.delta':
      progress.add('refusal');
      return writeResponsesText(delta, formatPartKey(item, event), state);
    case 'response.reasoning_summary_part.added':
      return writer.getContent(item) ? writeResponsesThinking('\n\n', item, state) : [];
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return writeResponsesThinking(delta, item, state);
    case 'response.function_call_arguments.delta':
    case 'response.function_call_arguments.done':
      if (writer.isOpen(item)) return writeResponsesInput(delta, item, state);
      if (!finished.has(item)) unreadable.add(item);
      inputs.set(item, (inputs.get(item) ?? '') + delta);
      return [];
    case 'response.output_item.done':
      return finishResponsesItem(narrowToObject(event.item) ?? {}, item, state);
    default:
      return [];
  }
}

/** Returns the key of the item an event belongs to: its index, where the server sends one. */
function findItemKey(event: JsonObject, { keys }: ResponsesReaderState): string {
  const id = narrowToString(event.item_id) ?? narrowToString(narrowToObject(event.item)?.id);
  const index = narrowToNumber(event.output_index);
  const key = String(index ?? keys.get(id ?? '') ?? id ?? 0);
  if (id !== undefined) keys.set(id, key);
  return key;
}

function buildEndEvents(response: JsonObject, stop_reason: string, searches: number): Events {
  const counts = parseUsage(response);
  const usage = counts && searches > 0 ? { ...counts, server_tool_use: { web_search_requests: searches } } : counts;
  return [{ type: 'message_delta', delta: { stop_reason }, ...(usage && { usage }) }, { type: 'message_stop' }];
}

/** Parses the token counts. Input tokens include cached ones in this API; in the result they do not. */
function parseUsage(response: JsonObject): JsonObject | undefined {
  const raw = narrowToObject(response.usage);
  const input = narrowToNumber(raw?.input_tokens);
  if (raw === undefined || input === undefined) return undefined;
  const details = narrowToObject(raw.input_tokens_details);
  const cached = narrowToNumber(details?.cached_tokens) ?? 0;
  const written = narrowToNumber(details?.cache_write_tokens) ?? 0;
  return {
    input_tokens: Math.max(0, input - cached - written),
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    output_tokens: narrowToNumber(raw.output_tokens) ?? 0,
  };
}
