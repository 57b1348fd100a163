import type { JsonObject } from '../contracts/json.ts';
import type { WireReader } from './read-reply.ts';
import { createThinkSplitter } from './think-tags.ts';
import { numberOf, objectOf, objectsOf, parseJson, textOf } from './wire-json.ts';

type Open =
  | { readonly kind: 'text' | 'thinking'; readonly index: number }
  | { readonly kind: 'call'; readonly index: number; readonly slot: number; readonly id: string };

/** Reads chat completion chunks as the Messages API events they mean. */
export function createChunkReader(newId: () => string): WireReader {
  let started = false;
  const splitter = createThinkSplitter();
  let next = 0;
  let open: Open | undefined;
  let stopReason: string | undefined;
  let usage: JsonObject | undefined;

  function start(chunk: JsonObject): readonly JsonObject[] {
    if (started) return [];
    started = true;
    return [{ type: 'message_start', message: { id: textOf(chunk.id) || newId(), role: 'assistant', content: [] } }];
  }

  function close(): readonly JsonObject[] {
    if (!open) return [];
    const { index } = open;
    open = undefined;
    return [{ type: 'content_block_stop', index }];
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

  /** A call goes on while its slot and id stay; some servers number all of them 0. */
  function call(raw: JsonObject): readonly JsonObject[] {
    const slot = numberOf(raw.index) ?? 0;
    const fn = objectOf(raw.function);
    const id = textOf(raw.id);
    const opening: JsonObject[] = [];
    if (open?.kind !== 'call' || open.slot !== slot || (id && id !== open.id)) {
      opening.push(...close());
      open = { kind: 'call', index: next++, slot, id: id || `call_${newId()}` };
      const block = { type: 'tool_use', id: open.id, name: textOf(fn?.name) ?? '', input: {} };
      opening.push({ type: 'content_block_start', index: open.index, content_block: block });
    }
    const json = textOf(fn?.arguments) ?? (objectOf(fn?.arguments) ? JSON.stringify(fn?.arguments) : '');
    if (json === '') return opening;
    const delta = { type: 'input_json_delta', partial_json: json };
    return [...opening, { type: 'content_block_delta', index: open.index, delta }];
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
      if (data.trim() === '[DONE]') return finish();
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
