import type { JsonObject, JsonValue } from './json.ts';

/** Words. Never empty in a request; the request builder sees to it. */
export type TextBlock = {
  readonly type: 'text';
  readonly text: string;
  readonly citations?: readonly JsonObject[];
  /** The reply broke off in the middle of these words. Never sent. */
  readonly cut?: boolean;
  /** What the provider wants back with the words, and from the model that wrote them only. */
  readonly signature?: string;
};

/** The model's reasoning. Goes back unmodified, signed, and only to the model that wrote it. */
export type ThinkingBlock = { readonly type: 'thinking'; readonly thinking: string; readonly signature: string };

/** Reasoning the provider keeps to itself. */
export type RedactedThinkingBlock = { readonly type: 'redacted_thinking'; readonly data: string };

/** One call: the input exactly as the model wrote it. `unparsed` holds text that was not a JSON object. */
export type ToolUseBlock = {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly unparsed?: string;
  /** What the provider wants back with the call, and from the model that wrote it only. */
  readonly signature?: string;
};

/** A block run by the provider itself (web search and its results), sent back byte for byte. */
export type ServerBlock = { readonly type: 'server'; readonly raw: JsonObject };

/** A block of a kind we do not know: kept for the record, never sent back. */
export type OpaqueBlock = { readonly type: 'opaque'; readonly raw: JsonObject };

/** What a reply is made of. */
export type AssistantBlock =
  | TextBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ServerBlock
  | OpaqueBlock;

type Bytes = { readonly type: 'base64'; readonly media_type: string; readonly data: string };
/** Fetched by the provider alone: nothing of ours ever contacts this address. */
type Address = { readonly type: 'url'; readonly url: string };

/** A picture: its bytes, or where it lies. */
export type ImageBlock = { readonly type: 'image'; readonly source: Bytes | Address };

/** A document (PDF): its bytes, or where it lies. */
export type DocumentBlock = { readonly type: 'document'; readonly source: Bytes | Address };

/** What a result may hold for the model: whoever makes one has the bytes. */
export type ResultBlock =
  | TextBlock
  | { readonly type: 'image'; readonly source: Bytes }
  | { readonly type: 'document'; readonly source: Bytes };

/** The answer to one call. */
export type ToolResultBlock = {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string | readonly ResultBlock[];
  readonly is_error?: boolean;
};

/** What a message of the other side is made of: words, media, results of calls. */
export type UserBlock = TextBlock | ImageBlock | DocumentBlock | ToolResultBlock;

/** Where a user message comes from; only `prompt`, `steer` and `follow_up` were typed by a person. `background` begins a turn by itself. */
export type UserOrigin =
  | 'prompt'
  | 'steer'
  | 'follow_up'
  | 'results'
  | 'attachment'
  | 'hook'
  | 'nudge'
  | 'resume'
  | 'interrupt'
  | 'summary'
  | 'shell'
  | 'background';

/** What a person, a tool or the program itself says to the model. */
export type UserMessage = {
  readonly role: 'user';
  readonly id: string;
  readonly origin: UserOrigin;
  readonly blocks: readonly UserBlock[];
  /** Pinned: byte-identical through any number of compactions. */
  readonly pinned?: boolean;
  readonly at?: string;
};

/** Why a reply ended, in the API's words; `undefined` when it never did. */
export type StopReason =
  | 'end_turn'
  | 'tool_use'
  | 'max_tokens'
  | 'stop_sequence'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded'
  | (string & {});

/** A reply of a model. */
export type AssistantMessage = {
  readonly role: 'assistant';
  /** The API's message id, or one of ours. */
  readonly id: string;
  /** The model choice that wrote it (not the name the API echoes): decides whose thinking may go back. */
  readonly model: string;
  readonly blocks: readonly AssistantBlock[];
  readonly stopReason?: StopReason;
  readonly usage?: Usage;
  readonly at?: string;
};

/** Where a compaction cut the conversation. Never sent; what came before it is not sent either. */
export type BoundaryMessage = {
  readonly role: 'boundary';
  readonly id: string;
  readonly trigger: 'manual' | 'auto' | 'reactive';
  readonly preTokens: number;
};

/** Kinds of messages that an application adds, by declaration merging: the name of the kind, and what it holds. */
export interface CustomMessages {
  readonly [nothing: symbol]: never;
}

/** A message of the application's own. It lives in the conversation and is stored; the model sees what is made of it. */
export type CustomMessage = {
  readonly [Kind in keyof CustomKinds]: {
    readonly role: 'custom';
    readonly id: string;
    readonly kind: Kind;
    readonly data: CustomKinds[Kind];
    readonly at?: string;
  };
}[keyof CustomKinds];

type CustomKind = Extract<keyof CustomMessages, string>;

/** Without any of its own, an application may still meet what another one stored. */
type CustomKinds = [CustomKind] extends [never]
  ? { readonly [kind: string]: JsonValue }
  : { readonly [Kind in CustomKind]: CustomMessages[Kind] };

/** One entry of a conversation. */
export type Message = UserMessage | AssistantMessage | BoundaryMessage | CustomMessage;

/** Tokens as the API counts them. */
export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly webSearches?: number;
  /** What the provider left out of the request by itself: old results, and how many tokens they were. */
  readonly cleared?: { readonly results: number; readonly tokens: number };
};

/** Typed by a person. */
export function isTypedByPerson(message: Message): message is UserMessage {
  return message.role === 'user' && ['prompt', 'steer', 'follow_up'].includes(message.origin);
}

/** What a message says, block by block; nothing for those that are not words. */
export function saidBlocks(message: Message): readonly (UserBlock | AssistantBlock)[] {
  return message.role === 'user' || message.role === 'assistant' ? message.blocks : [];
}
