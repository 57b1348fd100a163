import type { JsonObject, JsonValue } from './json.ts';

/** A text block. The request builder drops empty ones. */
export type TextBlock = {
  readonly type: 'text';
  readonly text: string;
  readonly citations?: readonly JsonObject[];
  /** The reply broke off in this text. Never sent. */
  readonly cut?: boolean;
  /** Signature of the provider, sent back only to the model that wrote the text. */
  readonly signature?: string;
};

/** The model's reasoning. It is sent back unmodified, with its signature, only to the model that wrote it. */
export type ThinkingBlock = { readonly type: 'thinking'; readonly thinking: string; readonly signature: string };

/** Encrypted reasoning of the provider. */
export type RedactedThinkingBlock = { readonly type: 'redacted_thinking'; readonly data: string };

/** A tool call with the input as the model wrote it. `unparsed` holds an input that was not a JSON object. */
export type ToolUseBlock = {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly unparsed?: string;
  /** Signature of the provider, sent back only to the model that made the call. */
  readonly signature?: string;
};

/** A block that the provider executed itself (web search and its results), sent back byte for byte. */
export type ServerBlock = { readonly type: 'server'; readonly raw: JsonObject };

/** A block of an unknown kind. It is recorded and never sent back. */
export type UnknownBlock = { readonly type: 'opaque'; readonly raw: JsonObject };

/** A block of a reply. */
export type AssistantBlock =
  | TextBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ServerBlock
  | UnknownBlock;

type Bytes = { readonly type: 'base64'; readonly media_type: string; readonly data: string };
/** A URL that only the provider fetches, never ouro. */
type Address = { readonly type: 'url'; readonly url: string };

/** An image, as bytes or as a URL. */
export type ImageBlock = { readonly type: 'image'; readonly source: Bytes | Address };

/** A document (PDF), as bytes or as a URL. */
export type DocumentBlock = { readonly type: 'document'; readonly source: Bytes | Address };

/** A block of a tool result. Media are always bytes. */
export type ResultBlock =
  | TextBlock
  | { readonly type: 'image'; readonly source: Bytes }
  | { readonly type: 'document'; readonly source: Bytes };

/** The result of one tool call. */
export type ToolResultBlock = {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string | readonly ResultBlock[];
  readonly is_error?: boolean;
};

/** A block of a user message: text, media or a tool result. */
export type UserBlock = TextBlock | ImageBlock | DocumentBlock | ToolResultBlock;

/** The origin of a user message. Only `prompt`, `steer` and `follow_up` are typed; `background` starts a turn. */
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

/** A message from the user, a tool or ouro to the model. */
export type UserMessage = {
  readonly role: 'user';
  readonly id: string;
  readonly origin: UserOrigin;
  readonly blocks: readonly UserBlock[];
  /** Number of leading blocks that the user sent; hooks and ouro added the rest. Absent: all of them. */
  readonly sentBlocks?: number;
  /** The slash command whose prompt this is, as it was typed. */
  readonly command?: string;
  /** Pinned messages stay byte-identical through compactions. */
  readonly pinned?: boolean;
  /** The user interrupted the run here. */
  readonly interrupted?: true;
  readonly at?: string;
};

/** The stop reason of a reply, as the API names it. */
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
  /** Message id of the API, or a generated one. */
  readonly id: string;
  /** Chosen model that wrote it, not the name the API returns; thinking is sent back to this model only. */
  readonly model: string;
  readonly blocks: readonly AssistantBlock[];
  readonly stopReason?: StopReason;
  readonly usage?: Usage;
  readonly at?: string;
};

/** The mark of a compaction. Neither it nor anything before it is sent. */
export type BoundaryMessage = {
  readonly role: 'boundary';
  readonly id: string;
  readonly trigger: 'manual' | 'auto' | 'reactive';
  readonly preTokens: number;
};

/** Custom message kinds and their data, which an application adds by declaration merging. */
export interface CustomMessages {
  readonly [nothing: symbol]: never;
}

/** A message of an application's own kind. It is stored; `convertToLlm` decides what the model sees of it. */
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

/** Without kinds of its own, an application can still read messages that another one stored. */
type CustomKinds = [CustomKind] extends [never]
  ? { readonly [kind: string]: JsonValue }
  : { readonly [Kind in CustomKind]: CustomMessages[Kind] };

/** One entry of a conversation. */
export type Message = UserMessage | AssistantMessage | BoundaryMessage | CustomMessage;

/** Token usage, as counted by the API. */
export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly webSearches?: number;
  /** Old results that the provider excluded from the request by itself, and their tokens. */
  readonly cleared?: { readonly results: number; readonly tokens: number };
};

/** Returns whether the user has typed a message. */
export function isTypedByUser(message: Message): message is UserMessage {
  return message.role === 'user' && ['prompt', 'steer', 'follow_up'].includes(message.origin);
}

/** Returns the blocks of a user or assistant message; none for other messages. */
export function listMessageBlocks(message: Message): readonly (UserBlock | AssistantBlock)[] {
  return message.role === 'user' || message.role === 'assistant' ? message.blocks : [];
}

/** Joins the texts of blocks; blocks of other kinds are left out. */
export function joinTextBlocks(blocks: readonly (UserBlock | AssistantBlock)[], separator: string): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(separator);
}

/** Formats the content of a tool result as text, with the types of images and documents in brackets. */
export function formatResultText({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}
