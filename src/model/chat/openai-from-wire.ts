import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import type { WireReader } from '../wire/read-reply.ts';
import { numberOf, objectOf, objectsOf, parseJson, textOf } from '../wire/wire-json.ts';
import { type CallNames, call, closeAll, finish, inOrder, type Move, NOTHING_READ, say, start } from './chat-blocks.ts';
import { createCallSplitter, type HeldWords } from './text-calls.ts';
import { createThinkSplitter } from './think-tags.ts';

/** Reads chat completion chunks as the Messages API events they mean; `tools` are those offered, by their sent names. */
export function createChunkReader(newId: () => string, tools: ReadonlyMap<string, string> = new Map()): WireReader {
  const thoughts = createThinkSplitter();
  const calls = createCallSplitter(new Set(tools.keys()));
  const begin: CallNames = { newId, nameOf: (sent) => tools.get(sent) ?? sent };
  let state = NOTHING_READ;
  const take = (...moves: readonly Move[]): readonly JsonObject[] => {
    const step = inOrder(state, moves);
    state = step.state;
    return step.events;
  };
  const sayAll = (spoken: ReturnType<typeof thoughts.flush>) =>
    spoken.map(({ kind, text }) => say(kind, kind === 'text' ? calls.push(text) : text));
  const flush = (): readonly Move[] => [...sayAll(thoughts.flush()), ...heldMoves(calls.flush(), begin), closeAll];

  function readChunk(chunk: JsonObject): readonly JsonObject[] {
    const choice = objectsOf(chunk.choices)[0];
    const error = errorIn(chunk, choice);
    if (error !== undefined) return [{ type: 'error', error }];
    state = { ...state, usage: usageIn(chunk, choice) ?? state.usage };
    const started = start(textOf(chunk.id) || newId());
    // The first chunk of some servers has no choices, and of others every one.
    if (!choice) return Array.isArray(chunk.choices) && chunk.usage === undefined ? take(started) : [];
    const delta = objectOf(choice.delta) ?? objectOf(choice.message) ?? {};
    state = { ...state, details: objectsOf(delta.reasoning_details).reduce(withDetail, state.details) };
    const written = callsIn(delta);
    const moves = [
      started,
      ...REASONING.filter((field) => textOf(delta[field]))
        .slice(0, 1)
        .map((field) => say('thinking', textOf(delta[field]), field)),
      ...partsOf(delta.content ?? choice.text).flatMap(({ kind, text }) =>
        kind === 'thinking' ? [say(kind, text)] : sayAll(thoughts.push(text)),
      ),
      say('text', textOf(delta.refusal)),
      // A server that tells a call itself may have left it among the words, too.
      ...(written.length > 0 ? heldMoves({ ...calls.flush(), calls: [] }, begin) : []),
      ...written.map((raw, place) => call(raw, place, begin)),
    ];
    const reason = textOf(choice.finish_reason)?.toLowerCase();
    if (!reason) return take(...moves);
    state = { ...state, stopReason: STOP_REASONS[reason] ?? 'end_turn' };
    return [...take(...moves), ...take(...flush())];
  }

  return {
    read({ name, data }) {
      if (data.trim() === '[DONE]') {
        // Some servers say only this of the end.
        if (state.isStarted) state = { ...state, stopReason: state.stopReason ?? 'end_turn' };
        return [...take(...flush()), ...take(finish)];
      }
      const parsed = parseJson(data);
      const chunk = objectOf(parsed) ?? objectsOf(parsed)[0];
      if (name === 'error') return [{ type: 'error', error: chunk?.error ?? chunk ?? data }];
      return chunk ? readChunk(chunk) : [];
    },
    end: () => take(finish),
  };
}

/** Fields that servers put thoughts into; they want them back in the same. */
const REASONING = ['reasoning_content', 'reasoning', 'thinking'] as const;

function heldMoves({ words, calls }: HeldWords, begin: CallNames): readonly Move[] {
  return [
    say('text', words),
    ...calls.map(({ name, json }, index) =>
      call({ index, id: `call_${begin.newId()}`, name, arguments: json }, index, begin),
    ),
  ];
}

/** Calls as a list, or the only one as they were told before there were lists. */
function callsIn(delta: JsonObject): readonly JsonObject[] {
  const one = objectOf(delta.function_call);
  return one === undefined ? objectsOf(delta.tool_calls) : [{ index: 0, function: one }];
}

type Part = { readonly kind: 'text' | 'thinking'; readonly text: string };

/** Content is a string, or a list of parts, whose thoughts may be lists again. */
function partsOf(content: JsonValue | undefined): readonly Part[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  if (Array.isArray(content)) return content.flatMap((part: JsonValue) => partsOf(part));
  const part = objectOf(content);
  if (part === undefined) return [];
  if (part.type !== 'thinking') return [{ kind: 'text', text: textOf(part.text) ?? '' }];
  return partsOf(part.thinking).map(({ text }) => ({ kind: 'thinking', text }));
}

/** A part of reasoning that came in pieces is one again. */
function withDetail(details: readonly JsonObject[], piece: JsonObject): readonly JsonObject[] {
  const last = details.at(-1);
  if (last === undefined || last.type !== piece.type || last.index !== piece.index) return [...details, piece];
  const grown = ['text', 'summary', 'data'].flatMap((name) => {
    const text = textOf(piece[name]);
    return text === undefined ? [] : [[name, (textOf(last[name]) ?? '') + text] as const];
  });
  return [...details.slice(0, -1), { ...last, ...piece, ...Object.fromEntries(grown) }];
}

/** An error that stands where a part of the reply should. */
function errorIn(chunk: JsonObject, choice: JsonObject | undefined): JsonValue | undefined {
  const error = [chunk.error, choice?.error].find((one) => objectOf(one) ?? textOf(one));
  if (error !== undefined) return error;
  if (chunk.object === 'error') return chunk;
  const reason = textOf(choice?.finish_reason)?.toLowerCase() ?? '';
  return FAILED.includes(reason)
    ? { type: reason, message: `The server ended the reply with the reason "${reason}"` }
    : undefined;
}

const FAILED: readonly string[] = ['error', 'network_error', 'insufficient_system_resource', 'engine_overloaded'];

const STOP_REASONS: Readonly<Record<string, string>> = {
  tool_calls: 'tool_use',
  tool_use: 'tool_use',
  function_call: 'tool_use',
  length: 'max_tokens',
  max_tokens: 'max_tokens',
  max_output_tokens: 'max_tokens',
  model_length: 'max_tokens',
  model_context_window_exceeded: 'model_context_window_exceeded',
  content_filter: 'refusal',
  refusal: 'refusal',
  sensitive: 'refusal',
  safety: 'refusal',
  recitation: 'refusal',
  prohibited_content: 'refusal',
};

/** Where servers tell what was used; prompt tokens include the cached ones there, ours do not. */
function usageIn(chunk: JsonObject, choice: JsonObject | undefined): JsonObject | undefined {
  const raw = objectOf(chunk.usage) ?? objectOf(choice?.usage) ?? objectOf(objectOf(chunk.x_groq)?.usage);
  const prompt = numberOf(raw?.prompt_tokens);
  if (!raw || prompt === undefined) return undefined;
  const told = [objectOf(raw.prompt_tokens_details)?.cached_tokens, raw.cached_tokens, raw.prompt_cache_hit_tokens];
  const cached = told.map(numberOf).find((count) => count !== undefined) ?? 0;
  return {
    input_tokens: Math.max(0, prompt - cached),
    cache_read_input_tokens: cached,
    output_tokens: numberOf(raw.completion_tokens) ?? 0,
  };
}
