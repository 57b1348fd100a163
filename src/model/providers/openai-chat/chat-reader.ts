import type { JsonObject, JsonValue } from '../../../contracts/json.ts';
import { parseJson, readNumber, readObject, readObjects, readString } from '../../stream/json-values.ts';
import type { ReplyReader } from '../../stream/read-reply.ts';
import {
  appendTextDelta,
  appendToolCall,
  applyChatUpdates,
  type CallNaming,
  type ChatUpdate,
  closeBlocks,
  finishReply,
  INITIAL_CHAT_STATE,
  startReply,
} from './chat-state.ts';
import { createToolCallSplitter, type HeldText } from './text-tool-calls.ts';
import { createThinkSplitter, type ReplyPiece } from './think-tags.ts';

/** Creates a reader that translates chat completion chunks into Messages API events; `tools` maps sent tool names. */
export function createChatReader(newId: () => string, tools: ReadonlyMap<string, string> = new Map()): ReplyReader {
  const thinkSplitter = createThinkSplitter();
  const callSplitter = createToolCallSplitter(new Set(tools.keys()));
  const callNames: CallNaming = { newId, resolveName: (sent) => tools.get(sent) ?? sent };
  let state = INITIAL_CHAT_STATE;
  const applyUpdates = (...updates: readonly ChatUpdate[]): readonly JsonObject[] => {
    const update = applyChatUpdates(state, updates);
    state = update.state;
    return update.events;
  };
  const appendPieces = (pieces: ReturnType<typeof thinkSplitter.flush>) =>
    pieces.map(({ kind, text }) => appendTextDelta(kind, kind === 'text' ? callSplitter.push(text) : text));
  const flushText = (): readonly ChatUpdate[] => [
    ...appendPieces(thinkSplitter.flush()),
    ...releaseHeldText(callSplitter.flush(), callNames),
    closeBlocks,
  ];

  function readChunk(chunk: JsonObject): readonly JsonObject[] {
    const choice = readObjects(chunk.choices)[0];
    const error = findError(chunk, choice);
    if (error !== undefined) return [{ type: 'error', error }];
    state = { ...state, usage: parseUsage(chunk, choice) ?? state.usage };
    const startUpdate = startReply(readString(chunk.id) || newId());
    // Some servers send a first chunk with empty `choices`; usage chunks look the same but must not start a reply.
    if (!choice) return Array.isArray(chunk.choices) && chunk.usage === undefined ? applyUpdates(startUpdate) : [];
    const delta = readObject(choice.delta) ?? readObject(choice.message) ?? {};
    state = { ...state, details: readObjects(delta.reasoning_details).reduce(appendDetail, state.details) };
    const toolCalls = listToolCalls(delta);
    const updates = [
      startUpdate,
      ...REASONING_FIELDS.filter((field) => readString(delta[field]))
        .slice(0, 1)
        .map((field) => appendTextDelta('thinking', readString(delta[field]), field)),
      ...parseContent(delta.content ?? choice.text).flatMap(({ kind, text }) =>
        kind === 'thinking' ? [appendTextDelta(kind, text)] : appendPieces(thinkSplitter.push(text)),
      ),
      appendTextDelta('text', readString(delta.refusal)),
      // A server that reports a tool call may have left its markup in the text too, so held text is not parsed as calls.
      ...(toolCalls.length > 0 ? releaseHeldText({ ...callSplitter.flush(), calls: [] }, callNames) : []),
      ...toolCalls.map((rawCall, index) => appendToolCall(rawCall, index, callNames)),
    ];
    const reason = readString(choice.finish_reason)?.toLowerCase();
    if (!reason) return applyUpdates(...updates);
    state = { ...state, stopReason: STOP_REASONS[reason] ?? 'end_turn' };
    return [...applyUpdates(...updates), ...applyUpdates(...flushText())];
  }

  return {
    read({ name, data }) {
      if (data.trim() === '[DONE]') {
        // Some servers send no finish reason, only the end marker.
        if (state.isStarted) state = { ...state, stopReason: state.stopReason ?? 'end_turn' };
        return [...applyUpdates(...flushText()), ...applyUpdates(finishReply)];
      }
      const parsed = parseJson(data);
      const chunk = readObject(parsed) ?? readObjects(parsed)[0];
      if (name === 'error') return [{ type: 'error', error: chunk?.error ?? chunk ?? data }];
      return chunk ? readChunk(chunk) : [];
    },
    end: () => applyUpdates(finishReply),
  };
}

/** Response fields that contain thinking; requests send it back in the same field. */
const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'thinking'] as const;

function releaseHeldText({ text, calls }: HeldText, callNames: CallNaming): readonly ChatUpdate[] {
  return [
    appendTextDelta('text', text),
    ...calls.map(({ name, json }, index) =>
      appendToolCall({ index, id: `call_${callNames.newId()}`, name, arguments: json }, index, callNames),
    ),
  ];
}

/** Returns the tool calls of a chunk, or the single call of the older `function_call` field. */
function listToolCalls(delta: JsonObject): readonly JsonObject[] {
  const functionCall = readObject(delta.function_call);
  return functionCall === undefined ? readObjects(delta.tool_calls) : [{ index: 0, function: functionCall }];
}

/** Flattens the content: a string, or a list of parts, whose thinking may be a list again. */
function parseContent(content: JsonValue | undefined): readonly ReplyPiece[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  if (Array.isArray(content)) return content.flatMap((part: JsonValue) => parseContent(part));
  const part = readObject(content);
  if (part === undefined) return [];
  if (part.type !== 'thinking') return [{ kind: 'text', text: readString(part.text) ?? '' }];
  return parseContent(part.thinking).map(({ text }) => ({ kind: 'thinking', text }));
}

/** Appends a piece of reasoning details, joining it with the previous one if both belong together. */
function appendDetail(details: readonly JsonObject[], piece: JsonObject): readonly JsonObject[] {
  const last = details.at(-1);
  if (last === undefined || last.type !== piece.type || last.index !== piece.index) return [...details, piece];
  const appended = ['text', 'summary', 'data'].flatMap((name) => {
    const text = readString(piece[name]);
    return text === undefined ? [] : [[name, (readString(last[name]) ?? '') + text] as const];
  });
  return [...details.slice(0, -1), { ...last, ...piece, ...Object.fromEntries(appended) }];
}

/** Finds an error that a server sent as part of a chunk. */
function findError(chunk: JsonObject, choice: JsonObject | undefined): JsonValue | undefined {
  const error = [chunk.error, choice?.error].find((value) => readObject(value) ?? readString(value));
  if (error !== undefined) return error;
  if (chunk.object === 'error') return chunk;
  const reason = readString(choice?.finish_reason)?.toLowerCase() ?? '';
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
  const raw = readObject(chunk.usage) ?? readObject(choice?.usage) ?? readObject(readObject(chunk.x_groq)?.usage);
  const prompt = readNumber(raw?.prompt_tokens);
  if (!raw || prompt === undefined) return undefined;
  const cachedCounts = [
    readObject(raw.prompt_tokens_details)?.cached_tokens,
    raw.cached_tokens,
    raw.prompt_cache_hit_tokens,
  ];
  const cached = cachedCounts.map(readNumber).find((count) => count !== undefined) ?? 0;
  return {
    input_tokens: Math.max(0, prompt - cached),
    cache_read_input_tokens: cached,
    output_tokens: readNumber(raw.completion_tokens) ?? 0,
  };
}
