import type { JsonObject } from '../../contracts/json.ts';
import { type BlockWriter, createBlockWriter, NEW_TEXT, NEW_THOUGHT } from '../wire/block-writer.ts';
import type { WireReader } from '../wire/read-reply.ts';
import { numberOf, objectOf, objectsOf, parseJson, textOf } from '../wire/wire-json.ts';

type Events = readonly JsonObject[];

/** A reply as far as it was read. */
type Reading = {
  readonly out: BlockWriter;
  /** The tools that are offered, by the names under which they were sent. */
  readonly tools: ReadonlyMap<string, string>;
  readonly newId: () => string;
  /** What has been said that tells how it goes on. */
  readonly heard: Set<'begin' | 'call' | 'end'>;
};

/** Reads the chunks of a streamed `generateContent` as the Messages API events they mean. */
export function createGeminiReader(newId: () => string, tools: ReadonlyMap<string, string>): WireReader {
  const reading: Reading = { out: createBlockWriter(), tools, newId, heard: new Set() };
  /** Counts are totals; the last chunk may leave them out. */
  let usageMetadata: JsonObject | undefined;
  return {
    read({ data }) {
      const parsed = parseJson(data);
      const chunk = objectOf(parsed) ?? objectsOf(parsed)[0];
      if (chunk === undefined || reading.heard.has('end')) return [];
      usageMetadata = objectOf(chunk.usageMetadata) ?? usageMetadata;
      return readChunk({ ...chunk, ...(usageMetadata && { usageMetadata }) }, reading);
    },
    end: () => [],
  };
}

function readChunk(chunk: JsonObject, reading: Reading): Events {
  const { out, heard, newId } = reading;
  const error = objectOf(chunk.error);
  if (error !== undefined) return [{ type: 'error', error }];
  const candidate = objectsOf(chunk.candidates)[0];
  const message = { id: textOf(chunk.responseId) ?? newId(), role: 'assistant', content: [] };
  const begun = heard.has('begin') ? [] : [{ type: 'message_start', message }];
  heard.add('begin');
  const parts = objectsOf(objectOf(candidate?.content)?.parts).flatMap((part) => readPart(part, reading));
  const reason = textOf(candidate?.finishReason) ?? blockedBy(chunk);
  const read = [...begun, ...parts];
  if (reason === undefined || reason === 'FINISH_REASON_UNSPECIFIED') return read;
  heard.add('end');
  const failure = FAILED[reason];
  if (failure !== undefined) {
    const message = textOf(candidate?.finishMessage) ?? `The model ended its reply with ${reason}`;
    return [...read, { type: 'error', error: { status: failure, message } }];
  }
  const stop_reason = STOP_REASONS[reason] ?? (heard.has('call') ? 'tool_use' : 'end_turn');
  const usage = usageIn(chunk);
  const end = { type: 'message_delta', delta: { stop_reason }, ...(usage && { usage }) };
  return [...read, ...out.endAll(), end, { type: 'message_stop' }];
}

/** A prompt that is refused has no reply at all. */
function blockedBy(chunk: JsonObject): string | undefined {
  const reason = textOf(objectOf(chunk.promptFeedback)?.blockReason);
  return reason === undefined ? undefined : 'PROHIBITED_CONTENT';
}

function readPart(part: JsonObject, reading: Reading): Events {
  const { out } = reading;
  const call = objectOf(part.functionCall);
  if (call !== undefined) return [...out.endAll(), ...readCall(call, part, reading)];
  const text = textOf(part.text) ?? '';
  const signature = textOf(part.thoughtSignature);
  // It may stand beside the last words, or behind them with none of its own.
  const signed = () => (signature === undefined ? [] : out.grow('text', { type: 'signature_delta', signature }));
  if (text === '') return signed();
  const kind = part.thought === true ? 'thinking' : 'text';
  const [block, delta] =
    kind === 'thinking'
      ? [NEW_THOUGHT, { type: 'thinking_delta', thinking: text }]
      : [NEW_TEXT, { type: 'text_delta', text }];
  const ended = out.isOpen(kind) ? [] : out.endAll();
  return [...ended, ...out.begin(kind, block), ...out.grow(kind, delta), ...signed()];
}

/** A call comes whole; its signature stands beside it, for the first of several alone. */
function readCall(call: JsonObject, part: JsonObject, { out, tools, newId, heard }: Reading): Events {
  heard.add('call');
  const sent = textOf(call.name) ?? '';
  const id = textOf(call.id) || `call_${newId()}`;
  const signature = textOf(part.thoughtSignature);
  return [
    ...out.begin(id, { type: 'tool_use', id, name: tools.get(sent) ?? sent, input: {} }),
    ...out.grow(id, { type: 'input_json_delta', partial_json: JSON.stringify(call.args ?? {}) }),
    ...(signature === undefined ? [] : out.grow(id, { type: 'signature_delta', signature })),
    ...out.end(id),
  ];
}

const REFUSED = 'refusal';
const STOP_REASONS: Readonly<Record<string, string>> = {
  MAX_TOKENS: 'max_tokens',
  SAFETY: REFUSED,
  RECITATION: REFUSED,
  LANGUAGE: REFUSED,
  BLOCKLIST: REFUSED,
  PROHIBITED_CONTENT: REFUSED,
  SPII: REFUSED,
  IMAGE_SAFETY: REFUSED,
};

/** Reasons that are failures, and what Google would call them: another try may help with all but the last. */
const FAILED: Readonly<Record<string, string>> = {
  MALFORMED_FUNCTION_CALL: 'server_error',
  UNEXPECTED_TOOL_CALL: 'server_error',
  TOO_MANY_TOOL_CALLS: 'server_error',
  MALFORMED_RESPONSE: 'server_error',
  OTHER: 'server_error',
  MISSING_THOUGHT_SIGNATURE: 'INVALID_ARGUMENT',
};

/** What it thought is written, too; what was cached is part of the prompt there, ours is not. */
function usageIn(chunk: JsonObject): JsonObject | undefined {
  const raw = objectOf(chunk.usageMetadata);
  const count = (name: string) => numberOf(raw?.[name]) ?? 0;
  if (raw === undefined) return undefined;
  const cached = count('cachedContentTokenCount');
  return {
    input_tokens: Math.max(0, count('promptTokenCount') + count('toolUsePromptTokenCount') - cached),
    cache_read_input_tokens: cached,
    output_tokens: count('candidatesTokenCount') + count('thoughtsTokenCount'),
  };
}
