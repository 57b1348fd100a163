import type { Display } from './display.ts';
import type { QueuedMessage } from './event.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type {
  AssistantBlock,
  BoundaryMessage,
  Message,
  StopReason,
  ToolResultBlock,
  Usage,
  UserMessage,
} from './message.ts';

export const SCHEMA_VERSION = 1;

/** What every record carries. Order is by position in the file, never by clock. */
export type RecordHead = {
  readonly v: number;
  readonly uuid: string;
  readonly parentUuid: string | null;
  readonly sessionId: string;
  readonly timestamp: string;
  readonly cwd: string;
  readonly gitBranch?: string;
  readonly version: string;
};

/** What a record says. Kinds we do not know are kept in the file and ignored. */
export type RecordBody =
  /** A user message. Results it carries were recorded when they completed; here only their ids stand. */
  | { readonly type: 'user'; readonly message: UserMessage; readonly results?: readonly string[] }
  /** One completed block of a reply. */
  | {
      readonly type: 'assistant';
      readonly messageId: string;
      readonly model: string;
      readonly index: number;
      readonly block: AssistantBlock;
    }
  /** The reply joined the conversation with these of its blocks, counted in the order they were recorded. */
  | {
      readonly type: 'reply';
      readonly messageId: string;
      readonly model: string;
      readonly kept: readonly number[];
      readonly stopReason?: StopReason;
      readonly usage?: Usage;
    }
  | {
      readonly type: 'result';
      readonly callId: string;
      readonly tool: string;
      readonly result: ToolResultBlock;
      readonly status: string;
      readonly durationMs: number;
      readonly display?: Display;
      readonly structured?: JsonValue;
    }
  | { readonly type: 'tombstone'; readonly messageId: string; readonly why: string }
  | {
      readonly type: 'compact-boundary';
      readonly boundary: BoundaryMessage;
      readonly messages: readonly Message[];
      readonly postTokens: number;
    }
  | { readonly type: 'title'; readonly title: string; readonly by: 'person' | 'model' | 'first-words' }
  | { readonly type: 'queue'; readonly item: QueuedMessage; readonly state: string }
  | {
      readonly type: 'permission';
      readonly callId: string;
      readonly tool: string;
      readonly verdict: string;
      readonly trace: JsonValue;
    }
  | { readonly type: 'checkpoint'; readonly checkpoint: JsonObject }
  | { readonly type: 'child'; readonly phase: 'started' | 'ended'; readonly pgid: number; readonly detail: JsonObject }
  | { readonly type: 'system'; readonly subtype: string; readonly data: JsonObject };

export type SessionRecord = RecordHead & RecordBody;
