import type { Display } from './display.ts';
import type { AgentEvent, QueuedMessage } from './event.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type {
  AssistantBlock,
  BoundaryMessage,
  CustomMessage,
  Message,
  StopReason,
  ToolResultBlock,
  Usage,
  UserMessage,
} from './message.ts';

export const SCHEMA_VERSION = 1;

/** How much was done in a session: prompts that were answered, and lines that edits brought and took. */
export type Worked = { readonly turns: number; readonly added: number; readonly removed: number };

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
  /** A message of the application's own kind. */
  | { readonly type: 'custom'; readonly message: CustomMessage }
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
  | { readonly type: 'title'; readonly title: string; readonly by: 'person' | 'model' | 'hook' | 'first-words' }
  | { readonly type: 'queue'; readonly item: QueuedMessage; readonly state: string }
  | {
      readonly type: 'permission';
      readonly callId: string;
      readonly tool: string;
      readonly verdict: string;
      readonly trace: JsonValue;
    }
  | { readonly type: 'checkpoint'; readonly checkpoint: CheckpointEntry }
  /** A long text the request begins with, once per content: later records name it by its hash. */
  | { readonly type: 'prompt-text'; readonly hash: string; readonly text: string }
  | { readonly type: 'child'; readonly phase: 'started' | 'ended'; readonly pgid: number; readonly detail: JsonObject }
  | { readonly type: 'system'; readonly subtype: string; readonly data: JsonObject };

export type SessionRecord = RecordHead & RecordBody;

/** Whose a file is and who may do what with it. */
export type FileAccess = {
  readonly mode: number;
  /** `uid:gid`; older sessions do not say, nor what attributes there were. */
  readonly owner?: string;
  /** Access lists, capabilities and the like by their names, in base64; left out where there are none. */
  readonly attributes?: Readonly<Record<string, string>>;
};

/** What stood under a path before something of ours touched it. */
export type FileBefore =
  | { readonly kind: 'absent' }
  | ({ readonly kind: 'file'; readonly hash: string } & FileAccess)
  | { readonly kind: 'link'; readonly target: string }
  | ({ readonly kind: 'folder' } & FileAccess)
  /** A named pipe. */
  | ({ readonly kind: 'pipe' } & FileAccess)
  /** It was there and could not be kept: too large, unreadable or of no kind that has bytes. */
  | { readonly kind: 'not-kept'; readonly why: string };

/** What stood somewhere until files went back, so that going back can itself be taken back, and what came in its place. */
export type Replaced = { readonly path: string; readonly before: FileBefore; readonly after?: FileBefore };

/** The ledger of rewinding. `order` is the moment a change began. */
export type CheckpointEntry =
  | {
      readonly step: 'prompt';
      readonly id: string;
      readonly messageId: string;
      readonly prompt: string;
      readonly at: string;
      readonly order: number;
    }
  | {
      readonly step: 'change';
      readonly id: string;
      readonly order: number;
      readonly path: string;
      readonly before: FileBefore;
      /** What it left there, where that is known: what differs from it later is somebody else's. */
      readonly after?: FileBefore;
      /** The moment it was over, when it lasted: what was changed in between is part of it. */
      readonly until?: number;
    }
  /** A shell command began; `manifest` is everything that stood in `root`. Without its end, the session died in it. */
  | {
      readonly step: 'command';
      readonly id: string;
      readonly order: number;
      readonly root: string;
      readonly manifest: string;
      readonly notKept: readonly string[];
    }
  | { readonly step: 'command-end'; readonly order: number }
  /** Files are about to go back to how they were before this prompt. Without `undone`, a crash came in between. */
  | {
      readonly step: 'undoing';
      readonly id: string;
      readonly order: number;
      readonly replaced: readonly Replaced[];
    }
  /** They went back; the changes of this prompt and later ones are undone. */
  | {
      readonly step: 'undone';
      readonly id: string;
      readonly order: number;
      /** Only in older sessions; now it stands in `undoing`. */
      readonly replaced?: readonly Replaced[];
    }
  /** That going back was taken back. */
  | { readonly step: 'redone'; readonly undone: number; readonly order: number }
  /** The conversation went back before this prompt: it and later ones are no places to go back to any more. */
  | { readonly step: 'left'; readonly id: string; readonly order: number };

/** Something that happened in an earlier run: when, and what the session had cost by then. */
export type PastEvent = { readonly event: AgentEvent; readonly atMs: number; readonly costUsd: number };

/** What the last turns of a conversation were, as events: whoever shows them shows what was seen when they happened. */
export type Past = {
  /** Those before this run. */
  readonly opening: readonly PastEvent[];
  /** So many up to now. */
  latest(turns: number): Promise<readonly PastEvent[]>;
  /** What a call is about, in the words of its tool; empty where that is not there any more. */
  titleOf(tool: string, input: JsonValue): string;
};
