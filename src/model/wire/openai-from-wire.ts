import type { JsonObject } from '../../contracts/json.ts';
import type { WireReader } from './read-reply.ts';
import { createThinkSplitter } from './think-tags.ts';
import { numberOf, objectOf, objectsOf, parseJson, textOf } from './wire-json.ts';

type Open =
  | { readonly kind: 'text' | 'thinking'; readonly index: number }
  | {
      readonly kind: 'call';
      readonly index: number;
      readonly slot: number;
      readonly id: string;
      readonly json: string;
    };

/** A call that came while another was still being written. */
type Waiting = { readonly slot: number; readonly id: string; readonly name: string; readonly json: string };

/** Reads chat completion chunks as the Messages API events they mean. */
export function createChunkReader(newId: () => string): WireReader {
  let started = false;
  const splitter = createThinkSplitter();
  let next = 0;
  let open: Open | undefined;
  let waiting: readonly Waiting[] = [];
  let stopReason: string | undefined;
  let usage: JsonObject | undefined;

  function start(chunk: JsonObject): readonly JsonObject[] {
    if (started) return [];
    started = true;
    return [{ type: 'message_start', message: { id: textOf(chunk.id) || newId(), role: 'assistant', content: [] } }];
  }

  /** Ends what is open; calls that waited behind it come with all they have. */
  function close(): readonly JsonObject[] {
    const events = closeOne();
    while (waiting.length > 0) events.push(...openNext(), ...closeOne());
    return events;
  }

  function closeOne(): JsonObject[] {
    if (!open) return [];
    const { index } = open;
    open = undefined;
    return [{ type: 'content_block_stop', index }];
  }

  function openNext(): readonly JsonObject[] {
    const [first, ...rest] = waiting;
    waiting = rest;
    return first === undefined ? [] : begin(first);
  }

  function words(kind: 'text' | 'thinking', text: string | undefined): readonly JsonObject[] {
    if (!text) return [];
    const opening: JsonObject[] = [];
    if (open?.kind !== kind) {
      opening.push(...close());
      open = { kind, index: next++ };
      const block = kind === 'text' ? { type: kind, text: '' } : { type: kind, thinking: '', signature: '' };
      opening.push({ type: 'content_block_start', index: open.index, content_block: block });
    }
    const delta = kind === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text };
    return [...opening, { type: 'content_block_delta', index: open.index, delta }];
  }

  /** A call goes on while its slot and id stay; some servers number all of them 0, others write several in turns. */
  function call(raw: JsonObject): readonly JsonObject[] {
    const slot = numberOf(raw.index) ?? 0;
    const fn = objectOf(raw.function);
    const id = textOf(raw.id);
    const json = textOf(fn?.arguments) ?? (objectOf(fn?.arguments) ? JSON.stringify(fn?.arguments) : '');
    const isIt = (one: { readonly slot: number; readonly id: string }) => one.slot === slot && (!id || id === one.id);
    if (open?.kind === 'call' && isIt(open)) return [...write(open, json), ...goOn()];
    const at = waiting.findIndex(isIt);
    if (at === -1) waiting = [...waiting, { slot, id: id || `call_${newId()}`, name: textOf(fn?.name) ?? '', json }];
    else waiting = waiting.map((one, place) => (place === at ? { ...one, json: one.json + json } : one));
    return goOn();
  }

  /** The next call begins as soon as the one before it is whole. */
  function goOn(): readonly JsonObject[] {
    const events: JsonObject[] = [];
    while (waiting.length > 0 && (open?.kind !== 'call' || objectOf(parseJson(open.json)))) {
      events.push(...closeOne(), ...openNext());
    }
    return events;
  }

  function begin({ slot, id, name, json }: Waiting): readonly JsonObject[] {
    const call: Open = { kind: 'call', index: next++, slot, id, json: '' };
    open = call;
    const block = { type: 'tool_use', id, name, input: {} };
    return [{ type: 'content_block_start', index: call.index, content_block: block }, ...write(call, json)];
  }

  function write(call: Extract<Open, { kind: 'call' }>, json: string): readonly JsonObject[] {
    if (json === '') return [];
    open = { ...call, json: call.json + json };
    const delta = { type: 'input_json_delta', partial_json: json };
    return [{ type: 'content_block_delta', index: call.index, delta }];
  }

  function readChunk(chunk: JsonObject): readonly JsonObject[] {
    if (objectOf(chunk.error) || textOf(chunk.error)) return [{ type: 'error', error: chunk.error }];
    usage = readUsage(objectOf(chunk.usage)) ?? usage;
    const choice = objectsOf(chunk.choices)[0];
    if (!choice) return [];
    const delta = objectOf(choice.delta) ?? {};
    const events = [
      ...start(chunk),
      ...words('thinking', textOf(delta.reasoning_content) ?? textOf(delta.reasoning)),
      ...splitter.push(textOf(delta.content) ?? '').flatMap(({ kind, text }) => words(kind, text)),
      ...words('text', textOf(delta.refusal)),
      ...objectsOf(delta.tool_calls).flatMap(call),
    ];
    const reason = textOf(choice.finish_reason);
    if (!reason) return events;
    stopReason = STOP_REASONS[reason] ?? 'end_turn';
    return [...events, ...splitter.flush().flatMap(({ kind, text }) => words(kind, text)), ...close()];
  }

  function finish(): readonly JsonObject[] {
    if (!started || stopReason === undefined) return [];
    return [
      ...close(),
      { type: 'message_delta', delta: { stop_reason: stopReason }, ...(usage && { usage }) },
      { type: 'message_stop' },
    ];
  }

  return {
    read({ name, data }) {
      if (data.trim() === '[DONE]') {
        // Some servers say only this of the end.
        if (started) stopReason ??= 'end_turn';
        return finish();
      }
      const chunk = objectOf(parseJson(data));
      if (name === 'error') return [{ type: 'error', error: chunk?.error ?? chunk ?? data }];
      return chunk ? readChunk(chunk) : [];
    },
    end: finish,
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
