import type { JsonObject, JsonValue } from '../../../contracts/json.ts';
import {
  type BlockEventWriter,
  EMPTY_TEXT_BLOCK,
  EMPTY_THINKING_BLOCK,
  writeWebSearchResultBlock,
} from '../../stream/block-event-writer.ts';
import {
  narrowToNumber,
  narrowToObject,
  narrowToObjects,
  narrowToString,
  parseNetworkJson,
} from '../../stream/json-values.ts';
import { MALFORMED_EVENT } from '../../stream/read-reply.ts';

/** State of a reply while it streams. */
export type ResponsesReaderState = {
  readonly writer: BlockEventWriter;
  /** Original tool names by the names sent to the API. */
  readonly tools: ReadonlyMap<string, string>;
  /** Events so far that determine the stop reason. */
  readonly progress: Set<'call' | 'refusal' | 'content'>;
  /** Ids of the web searches so far. */
  readonly searches: Set<string>;
  /** Keys of items by their ids, for events without an index. */
  readonly keys: Map<string, string>;
  /** Keys of calls by their call ids. */
  readonly callKeys: Map<string, string>;
  /** Inputs of calls whose start was not sent, by key. */
  readonly inputs: Map<string, string>;
  /** Keys of finished items. */
  readonly finished: Set<string>;
  readonly calls: ResponsesCall[];
  /** Keys of items that were announced, but cannot be read until another event repeats them. */
  readonly unreadable: Set<string>;
  /** All text so far. */
  text: string;
};
/** A call of the reply, as the server sent it. */
type ResponsesCall = { readonly id: string; readonly name: string; readonly input: string };

type Events = readonly JsonObject[];

/** Finishes an item; content that was not streamed in pieces is written now. */
export function finishResponsesItem(raw: JsonObject, item: string, state: ResponsesReaderState): Events {
  const { writer, finished, unreadable } = state;
  if (isUnreadableItem(raw, state)) {
    unreadable.add(item);
    return [];
  }
  unreadable.delete(item);
  finished.add(item);
  switch (raw.type) {
    case 'reasoning': {
      const startEvents = writer.start(item, EMPTY_THINKING_BLOCK);
      const parts = [...narrowToObjects(raw.summary), ...narrowToObjects(raw.content)].map(
        ({ text }) => narrowToString(text) ?? '',
      );
      const contentEvents =
        writer.getContent(item) === '' && parts.length > 0
          ? writeResponsesThinking(parts.join('\n\n'), item, state)
          : [];
      const signatureEvents = writer.append(item, { type: 'signature_delta', signature: serializeReasoning(raw) });
      return [...startEvents, ...contentEvents, ...signatureEvents, ...writer.end(item)];
    }
    case 'function_call':
      return finishToolCall(raw, item, state);
    case 'message':
      return narrowToObjects(raw.content).flatMap((part, content_index) => {
        const key = formatPartKey(item, { content_index });
        if (part.type === 'refusal') state.progress.add('refusal');
        const contentEvents = completeText(readPartText(part), key, state);
        const signature = narrowToString(raw.phase);
        const signatureEvents =
          signature === undefined ? [] : writer.append(key, { type: 'signature_delta', signature });
        const citations = narrowToObjects(part.annotations).filter(({ type }) => type === 'url_citation');
        return [
          ...contentEvents,
          ...signatureEvents,
          ...writer.end(key),
          ...writeWebSearchResultBlock(`${key}.pages`, citations, writer),
        ];
      });
    case 'web_search_call': {
      const action = narrowToObject(raw.action) ?? {};
      if (action.type === 'search') state.searches.add(item);
      return writeWebSearchResultBlock(item, narrowToObjects(action.sources), writer);
    }
    default:
      return [];
  }
}

/** Returns true if an item cannot be read although it may be a call. Unknown types are not calls of offered tools. */
export function isUnreadableItem(raw: JsonObject | undefined, { tools }: ResponsesReaderState): boolean {
  if (typeof raw?.type !== 'string') return true;
  return raw.type !== 'function_call' && tools.has(narrowToString(raw.name) ?? '');
}

/** Returns the block key of a message part. Messages may have several parts, and some servers send no start event. */
export function formatPartKey(item: string, { content_index }: JsonObject): string {
  return `${item}.${narrowToNumber(content_index) ?? 0}`;
}

/** Writes a piece of text. */
export function writeResponsesText(text: string, key: string, state: ResponsesReaderState): Events {
  const { writer } = state;
  state.text += text;
  return text === ''
    ? []
    : [...writer.start(key, EMPTY_TEXT_BLOCK), ...writer.append(key, { type: 'text_delta', text })];
}

/** Writes what is missing of a text: its end, or all of it if another piece was lost. */
function completeText(text: string, key: string, state: ResponsesReaderState): Events {
  const written = state.writer.getContent(key) ?? '';
  if (text.startsWith(written)) return writeResponsesText(text.slice(written.length), key, state);
  return includesText(written, text) ? [] : [...state.writer.end(key), ...writeResponsesText(text, key, state)];
}

/** Returns whether a text contains another, apart from blanks, which some servers trim. */
export function includesText(text: string, part: string): boolean {
  return text.includes(part) || text.replace(/\s+/g, '').includes(part.replace(/\s+/g, ''));
}

/** Reads the text of a message part, also of a refusal. */
export function readPartText(part: JsonObject): string {
  return narrowToString(part.text) ?? narrowToString(part.refusal) ?? '';
}

/** Writes a piece of thinking. */
export function writeResponsesThinking(thinking: string, item: string, { writer }: ResponsesReaderState): Events {
  return [...writer.start(item, EMPTY_THINKING_BLOCK), ...writer.append(item, { type: 'thinking_delta', thinking })];
}

/** Starts the block of a tool call. */
export function startResponsesCall(
  raw: JsonObject,
  item: string,
  { writer, tools, progress, callKeys }: ResponsesReaderState,
): Events {
  progress.add('call');
  const { id, name } = readResponsesCall(raw);
  if (id !== '') callKeys.set(id, item);
  return writer.start(item, { type: 'tool_use', id, name: tools.get(name) ?? name, input: {} });
}

/** Reads the id, name and input of a tool call. */
export function readResponsesCall(raw: JsonObject): ResponsesCall {
  const id = narrowToString(raw.call_id) ?? narrowToString(raw.id) ?? '';
  return { id, name: narrowToString(raw.name) ?? '', input: stringifyInput(raw.arguments) };
}

/** Finishes a call; an input that was not streamed, or not to its end, is written now. */
function finishToolCall(raw: JsonObject, item: string, state: ResponsesReaderState): Events {
  const { writer, callKeys, inputs, calls } = state;
  const call = readResponsesCall(raw);
  // Some servers number the end of a call differently.
  const key = writer.isOpen(item) ? item : (callKeys.get(call.id) ?? item);
  const startEvents = startResponsesCall(raw, key, state);
  const pieceEvents = writer.getContent(key) === '' ? writeResponsesInput(inputs.get(item) ?? '', key, state) : [];
  const streamed = writer.getContent(key) ?? '';
  const isComplete = narrowToObject(parseNetworkJson(streamed)) !== undefined;
  const input = isComplete || call.input === '' ? streamed : call.input;
  if (!input.startsWith(streamed)) return [MALFORMED_EVENT];
  calls.push({ ...call, input });
  const rest = input.slice(streamed.length);
  return [...startEvents, ...pieceEvents, ...writeResponsesInput(rest, key, state), ...writer.end(key)];
}

/** Writes a piece of the input of a tool call. */
export function writeResponsesInput(partial_json: string, key: string, { writer }: ResponsesReaderState): Events {
  return partial_json === '' ? [] : writer.append(key, { type: 'input_json_delta', partial_json });
}

function stringifyInput(input: JsonValue | undefined): string {
  return narrowToString(input) ?? (input === undefined || input === null ? '' : JSON.stringify(input));
}

/** Serializes reasoning for the next request; without encrypted content it would be useless there. */
function serializeReasoning({ id, summary, encrypted_content }: JsonObject): string {
  return typeof encrypted_content === 'string'
    ? JSON.stringify({ type: 'reasoning', ...(id && { id }), summary: summary ?? [], encrypted_content })
    : '';
}
