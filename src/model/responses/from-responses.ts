import type { JsonObject } from '../../contracts/json.ts';
import { type BlockWriter, createBlockWriter, NEW_TEXT, NEW_THOUGHT } from '../wire/block-writer.ts';
import type { WireReader } from '../wire/read-reply.ts';
import { numberOf, objectOf, objectsOf, parseJson, textOf } from '../wire/wire-json.ts';

/** A reply as far as it was read. */
type Reading = {
  readonly out: BlockWriter;
  /** The tools that are offered, by the names under which they were sent. */
  readonly tools: ReadonlyMap<string, string>;
  /** What has been said that tells why the reply ends. */
  readonly heard: Set<'call' | 'refusal'>;
};
type Events = readonly JsonObject[];

/** Reads the events of a response as the Messages API events they mean; `tools` are those offered, by their sent names. */
export function createResponsesReader(tools: ReadonlyMap<string, string>): WireReader {
  const reading: Reading = { out: createBlockWriter(), tools, heard: new Set() };
  return {
    read({ name, data }) {
      const event = objectOf(parseJson(data));
      if (event === undefined) return name === 'error' ? [{ type: 'error', error: { message: data } }] : [];
      const type = textOf(event.type) ?? name ?? '';
      return readEnd(type, event, reading) ?? readPiece(type, event, reading);
    },
    end: () => [],
  };
}

/** What begins, ends or breaks off the whole of it. */
function readEnd(type: string, event: JsonObject, { out, heard }: Reading): Events | undefined {
  const response = objectOf(event.response) ?? {};
  switch (type) {
    case 'response.created':
      return [{ type: 'message_start', message: { id: textOf(response.id), role: 'assistant', content: [] } }];
    case 'response.completed':
    case 'response.done':
      return [
        ...out.endAll(),
        ...close(response, heard.has('call') ? 'tool_use' : heard.has('refusal') ? 'refusal' : 'end_turn'),
      ];
    case 'response.incomplete': {
      const reason = textOf(objectOf(response.incomplete_details)?.reason);
      return close(response, reason === 'content_filter' ? 'refusal' : 'max_tokens');
    }
    case 'response.failed':
      return [{ type: 'error', error: objectOf(response.error) ?? { code: 'server_error', message: 'It failed' } }];
    case 'error': {
      const bare = { code: event.code ?? null, message: event.message ?? null };
      return [{ type: 'error', error: objectOf(event.error) ?? bare }];
    }
    default:
      return type === '' && objectOf(event.error) !== undefined ? [{ type: 'error', error: event.error }] : undefined;
  }
}

function readPiece(type: string, event: JsonObject, reading: Reading): Events {
  const { out, heard } = reading;
  const item = String(numberOf(event.output_index) ?? textOf(event.item_id) ?? textOf(objectOf(event.item)?.id) ?? 0);
  const delta = textOf(event.delta) ?? '';
  switch (type) {
    case 'response.output_item.added': {
      const raw = objectOf(event.item);
      if (raw?.type === 'reasoning') return out.begin(item, NEW_THOUGHT);
      return raw?.type === 'function_call' ? call(raw, item, reading) : [];
    }
    case 'response.output_text.delta':
      return say(delta, partKey(item, event), reading);
    case 'response.refusal.delta':
      heard.add('refusal');
      return say(delta, partKey(item, event), reading);
    case 'response.reasoning_summary_part.added':
      return out.isOpen(item) && !out.isEmpty(item) ? think('\n\n', item, reading) : [];
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return think(delta, item, reading);
    case 'response.function_call_arguments.delta':
      return out.grow(item, { type: 'input_json_delta', partial_json: delta });
    case 'response.output_item.done':
      return finish(objectOf(event.item) ?? {}, item, reading);
    default:
      return [];
  }
}

/** A message may have several parts, and some servers tell none of them to begin. */
function partKey(item: string, { content_index }: JsonObject): string {
  return `${item}.${numberOf(content_index) ?? 0}`;
}

function say(text: string, key: string, { out }: Reading): Events {
  return text === '' ? [] : [...out.begin(key, NEW_TEXT), ...out.grow(key, { type: 'text_delta', text })];
}

function think(thinking: string, item: string, { out }: Reading): Events {
  return [...out.begin(item, NEW_THOUGHT), ...out.grow(item, { type: 'thinking_delta', thinking })];
}

function call(raw: JsonObject, item: string, { out, tools, heard }: Reading): Events {
  heard.add('call');
  const sent = textOf(raw.name) ?? '';
  const id = textOf(raw.call_id) ?? textOf(raw.id) ?? '';
  return out.begin(item, { type: 'tool_use', id, name: tools.get(sent) ?? sent, input: {} });
}

/** An item is whole: what was never told in pieces is told now. */
function finish(raw: JsonObject, item: string, reading: Reading): Events {
  const { out } = reading;
  switch (raw.type) {
    case 'reasoning': {
      const begun = out.begin(item, NEW_THOUGHT);
      const parts = [...objectsOf(raw.summary), ...objectsOf(raw.content)].map(({ text }) => textOf(text) ?? '');
      const told = out.isEmpty(item) && parts.length > 0 ? think(parts.join('\n\n'), item, reading) : [];
      const signed = out.grow(item, { type: 'signature_delta', signature: whatGoesBack(raw) });
      return [...begun, ...told, ...signed, ...out.end(item)];
    }
    case 'function_call': {
      const begun = call(raw, item, reading);
      const partial_json = out.isEmpty(item) ? (textOf(raw.arguments) ?? '') : '';
      const told = partial_json === '' ? [] : out.grow(item, { type: 'input_json_delta', partial_json });
      return [...begun, ...told, ...out.end(item)];
    }
    case 'message':
      return objectsOf(raw.content).flatMap((part, content_index) => {
        const key = partKey(item, { content_index });
        if (part.type === 'refusal') reading.heard.add('refusal');
        const text = textOf(part.text) ?? textOf(part.refusal) ?? '';
        const told = out.isOpen(key) ? [] : say(text, key, reading);
        const signature = textOf(raw.phase);
        const signed = signature === undefined ? [] : out.grow(key, { type: 'signature_delta', signature });
        return [...told, ...signed, ...out.end(key)];
      });
    default:
      return [];
  }
}

/** Reasoning without its encrypted form is of no use in the next request. */
function whatGoesBack({ id, summary, encrypted_content }: JsonObject): string {
  return typeof encrypted_content === 'string'
    ? JSON.stringify({ type: 'reasoning', ...(id && { id }), summary: summary ?? [], encrypted_content })
    : '';
}

function close(response: JsonObject, stop_reason: string): Events {
  const usage = usageIn(response);
  return [{ type: 'message_delta', delta: { stop_reason }, ...(usage && { usage }) }, { type: 'message_stop' }];
}

/** Input tokens include the cached ones there, ours do not. */
function usageIn(response: JsonObject): JsonObject | undefined {
  const raw = objectOf(response.usage);
  const input = numberOf(raw?.input_tokens);
  if (raw === undefined || input === undefined) return undefined;
  const details = objectOf(raw.input_tokens_details);
  const cached = numberOf(details?.cached_tokens) ?? 0;
  const written = numberOf(details?.cache_write_tokens) ?? 0;
  return {
    input_tokens: Math.max(0, input - cached - written),
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    output_tokens: numberOf(raw.output_tokens) ?? 0,
  };
}
