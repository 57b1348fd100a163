import type { JsonObject, JsonValue } from '../../../contracts/json.ts';
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
  appendChatTextDelta,
  appendChatToolCall,
  applyChatStreamUpdates,
  type ChatStreamUpdate,
  closeCompleteChatBlock,
  finishChatReply,
  INITIAL_CHAT_STREAM_STATE,
  startChatReply,
  type ToolCallNaming,
} from './chat-stream-state.ts';
import { createTextToolCallSplitter, type HeldBackReplyText } from './text-tool-calls.ts';
import { createThinkTagSplitter, type ReplyPiece } from './think-tags.ts';

/** Creates a reader that translates chat completion chunks into Messages API events; `tools` maps sent tool names. */
export function createChatTranslator(
  newId: () => string,
  tools: ReadonlyMap<string, string> = new Map(),
): StreamEventTranslator {
  const thinkSplitter = createThinkTagSplitter();
  const callSplitter = createTextToolCallSplitter(new Set(tools.keys()));
  const callNames: ToolCallNaming = { newId, resolveName: (sent) => tools.get(sent) ?? sent };
  let state = INITIAL_CHAT_STREAM_STATE;
  const applyUpdates = (...updates: readonly ChatStreamUpdate[]): readonly JsonObject[] => {
    const update = applyChatStreamUpdates(state, updates);
    state = update.state;
    return update.events;
  };
  const appendPieces = (pieces: ReturnType<typeof thinkSplitter.flush>) =>
    pieces.map(({ kind, text }) => appendChatTextDelta(kind, kind === 'text' ? callSplitter.push(text) : text));
  const flushText = (): readonly ChatStreamUpdate[] => [
    ...appendPieces(thinkSplitter.flush()),
    ...releaseHeldText(callSplitter.flush(), callNames),
    // Some servers send a reason with every chunk.
    closeCompleteChatBlock,
  ];

  function readChunk(chunk: JsonObject): readonly JsonObject[] {
    const choices = narrowToObjects(chunk.choices);
    const choice = choices.find(({ index }) => index === 0) ?? choices[0];
    const error = findError(chunk, choice);
    if (error !== undefined) return [{ type: 'error', error }];
    if (isMalformedChunk(chunk)) return [MALFORMED_EVENT];
    state = { ...state, usage: parseUsage(chunk, choice) ?? state.usage };
    const startUpdate = startChatReply(narrowToString(chunk.id) || newId());
    // Some servers send a first chunk with empty `choices`; usage chunks look the same but must not start a reply.
    if (!choice) return Array.isArray(chunk.choices) && chunk.usage === undefined ? applyUpdates(startUpdate) : [];
    const delta = narrowToObject(choice.delta) ?? narrowToObject(choice.message) ?? {};
    state = { ...state, details: narrowToObjects(delta.reasoning_details).reduce(appendDetail, state.details) };
    const toolCalls = listToolCalls(delta);
    const updates = [
      startUpdate,
      ...REASONING_FIELDS.filter((field) => narrowToString(delta[field]))
        .slice(0, 1)
        .map((field) => appendChatTextDelta('thinking', narrowToString(delta[field]), field)),
      ...parseContent(delta.content ?? choice.text).flatMap(({ kind, text }) =>
        kind === 'thinking' ? [appendChatTextDelta(kind, text)] : appendPieces(thinkSplitter.push(text)),
      ),
      appendChatTextDelta('text', narrowToString(delta.refusal)),
      // A server that reports a tool call may have left its markup in the text too, so held text is not parsed as calls.
      ...(toolCalls.length > 0 ? releaseHeldText({ ...callSplitter.flush(), calls: [] }, callNames) : []),
      ...toolCalls.map((rawCall, index) => appendChatToolCall(rawCall, index, callNames)),
    ];
    const reason = narrowToString(choice.finish_reason)?.toLowerCase();
    if (!reason) return applyUpdates(...updates);
    state = { ...state, stopReason: STOP_REASONS[reason] ?? 'end_turn' };
    return [...applyUpdates(...updates), ...applyUpdates(...flushText())];
  }

  return {
    read({ name, data }) {
      if (data.trim() === '[DONE]') {
        // Some servers send no finish reason, only the end marker.
        if (state.isStarted) state = { ...state, stopReason: state.stopReason ?? 'end_turn' };
        return [...applyUpdates(...flushText()), ...applyUpdates(finishChatReply)];
      }
      const chunks = parseEventObjects(data);
      if (name === 'error') return [{ type: 'error', error: chunks?.[0]?.error ?? chunks?.[0] ?? data }];
      return chunks?.flatMap(readChunk) ?? [MALFORMED_EVENT];
    },
    end: () => applyUpdates(finishChatReply),
  };
}

/** Response fields that contain thinking; requests send it back in the same field. */
const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'thinking'] as const;

function releaseHeldText({ text, calls }: HeldBackReplyText, callNames: ToolCallNaming): readonly ChatStreamUpdate[] {
  return [
    appendChatTextDelta('text', text),
    ...calls.map(({ name, json }, index) =>
      appendChatToolCall({ index, id: `call_${callNames.newId()}`, name, arguments: json }, index, callNames),
    ),
  ];
}

/** Returns true if a chunk has content that is neither text nor a call. Parts of unknown types are not content. */
function isMalformedChunk({ choices }: JsonObject): boolean {
  if (hasOtherType(choices, 'array')) return true;
  return Array.isArray(choices) && choices.some(isMalformedChoice);
}

function isMalformedChoice(value: JsonValue): boolean {
  const choice = narrowToObject(value);
  const content = choice?.delta ?? choice?.message;
  const { tool_calls, function_call, ...delta } = narrowToObject(content) ?? {};
  const calls = Array.isArray(tool_calls) ? tool_calls : [];
  return (
    choice === undefined ||
    hasOtherType(content, 'object') ||
    hasOtherType(tool_calls, 'array') ||
    calls.some(isMalformedCall) ||
    (function_call !== undefined && function_call !== null && isMalformedCall({ function: function_call })) ||
    isMalformedContent(delta.content ?? choice.text)
  );
}

function isMalformedCall(value: JsonValue): boolean {
  const call = narrowToObject(value);
  if (call === undefined || hasOtherType(call.function, 'object')) return true;
  const input = (narrowToObject(call.function) ?? call).arguments;
  return hasOtherType(input, 'string') && hasOtherType(input, 'object');
}

function isMalformedContent(content: JsonValue | undefined): boolean {
  if (Array.isArray(content)) return content.some(isMalformedContent);
  if (typeof content !== 'object') return hasOtherType(content, 'string');
  const part = narrowToObject(content);
  return part !== undefined && (hasOtherType(part.text, 'string') || hasOtherType(part.type, 'string'));
}

/** Returns the tool calls of a chunk, or the single call of the older `function_call` field. */
function listToolCalls(delta: JsonObject): readonly JsonObject[] {
  const functionCall = narrowToObject(delta.function_call);
  return functionCall === undefined ? narrowToObjects(delta.tool_calls) : [{ index: 0, function: functionCall }];
}

/** Flattens the content: a string, or a list of parts, whose thinking may be a list again. */
function parseContent(content: JsonValue | undefined): readonly ReplyPiece[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  if (Array.isArray(content)) return content.flatMap((part: JsonValue) => parseContent(part));
  const part = narrowToObject(content);
  if (part === undefined) return [];
  if (part.type !== 'thinking') return [{ kind: 'text', text: narrowToString(part.text) ?? '' }];
  return parseContent(part.thinking).map(({ text }) => ({ kind: 'thinking', text }));
}

/** Appends a piece of reasoning details, joining it with the previous one if both belong together. */
function appendDetail(details: readonly JsonObject[], piece: JsonObject): readonly JsonObject[] {
  const last = details.at(-1);
  if (last === undefined || last.type !== piece.type || last.index !== piece.index) return [...details, piece];
  const appended = ['text', 'summary', 'data'].flatMap((name) => {
    const text = narrowToString(piece[name]);
    return text === undefined ? [] : [[name, (narrowToString(last[name]) ?? '') + text] as const];
  });
  return [...details.slice(0, -1), { ...last, ...piece, ...Object.fromEntries(appended) }];
}

/** Finds an error that a server sent as part of a chunk. */
function findError(chunk: JsonObject, choice: JsonObject | undefined): JsonValue | undefined {
  const error = [chunk.error, choice?.error].find((value) => narrowToObject(value) ?? narrowToString(value));
  if (error !== undefined) return error;
  if (chunk.object === 'error' || (chunk.choices === undefined && chunk.detail !== undefined)) return chunk;
  const reason = narrowToString(choice?.finish_reason)?.toLowerCase() ?? '';
  return FAILURE_REASONS.includes(reason)
    ? { type: reason, message: `The server ended the reply with the reason "${reason}"` }
    : undefined;
}

const FAILURE_REASONS: readonly string[] = [
  'error',
  'network_error',
  'insufficient_system_resource',
  'engine_overloaded',
];

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

/** Parses the token counts. Prompt tokens include cached ones in this API; in the result they do not. */
function parseUsage(chunk: JsonObject, choice: JsonObject | undefined): JsonObject | undefined {
  const raw =
    narrowToObject(chunk.usage) ?? narrowToObject(choice?.usage) ?? narrowToObject(narrowToObject(chunk.x_groq)?.usage);
  const prompt = narrowToNumber(raw?.prompt_tokens);
  if (!raw || prompt === undefined) return undefined;
  const cachedCounts = [
    narrowToObject(raw.prompt_tokens_details)?.cached_tokens,
    raw.cached_tokens,
    raw.prompt_cache_hit_tokens,
  ];
  const cached = cachedCounts.map(narrowToNumber).find((count) => count !== undefined) ?? 0;
  return {
    input_tokens: Math.max(0, prompt - cached),
    cache_read_input_tokens: cached,
    output_tokens: narrowToNumber(raw.completion_tokens) ?? 0,
  };
}
