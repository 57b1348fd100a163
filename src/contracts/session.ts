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

/** The work done in a session: answered prompts, and lines added and removed by edits. */
export type SessionWorkTotals = { readonly turns: number; readonly added: number; readonly removed: number };

/** The fields of every record. Records are ordered by position in the file, never by time. */
export type SessionRecordHead = {
  readonly v: number;
  readonly uuid: string;
  readonly parentUuid: string | null;
  readonly sessionId: string;
  readonly timestamp: string;
  readonly cwd: string;
  readonly gitBranch?: string;
  readonly version: string;
};

/** The content of a record. Unknown types are kept in the file and ignored. */
export type SessionRecordBody =
  /** A user message. Its tool results were recorded when they completed, so only their ids are here. */
  | { readonly type: 'user'; readonly message: UserMessage; readonly results?: readonly string[] }
  /** A message of an application's own kind. */
  | { readonly type: 'custom'; readonly message: CustomMessage }
  /** One completed block of a reply. */
  | {
      readonly type: 'assistant';
      readonly messageId: string;
      readonly model: string;
      readonly index: number;
      readonly block: AssistantBlock;
    }
  /** A reply joined the conversation with these blocks, numbered in the order in which they were recorded. */
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
  /** A long text at the start of requests, stored once; later records refer to its hash. */
  | { readonly type: 'prompt-text'; readonly hash: string; readonly text: string }
  | { readonly type: 'child'; readonly phase: 'started' | 'ended'; readonly pgid: number; readonly detail: JsonObject }
  | { readonly type: 'system'; readonly subtype: string; readonly data: JsonObject };

/** A record of a session file. */
export type SessionRecord = SessionRecordHead & SessionRecordBody;

/** The owner, the mode and the attributes of a file. */
export type FileAccessMetadata = {
  readonly mode: number;
  /** `uid:gid`; absent in older sessions, as are the attributes. */
  readonly owner?: string;
  /** Extended attributes (ACLs, capabilities) by name, in base64; absent if there are none. */
  readonly attributes?: Readonly<Record<string, string>>;
};

/** The state of a path before ouro changed it. */
export type CheckpointPathState =
  | { readonly kind: 'absent' }
  | ({ readonly kind: 'file'; readonly hash: string } & FileAccessMetadata)
  | { readonly kind: 'link'; readonly target: string }
  | ({ readonly kind: 'folder' } & FileAccessMetadata)
  /** A named pipe. */
  | ({ readonly kind: 'pipe' } & FileAccessMetadata)
  /** It existed but could not be saved: too large, unreadable or not a regular file. */
  | { readonly kind: 'not-kept'; readonly why: string };

/** A path that a rewind replaced: its state before, for a redo, and its state after. */
export type RewoundPath = {
  readonly path: string;
  readonly before: CheckpointPathState;
  readonly after?: CheckpointPathState;
};

/** An entry of the checkpoint log. `order` is the sequence number of the moment when a change began. */
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
      readonly before: CheckpointPathState;
      /** State after the change, if known; a later difference was made by another program. */
      readonly after?: CheckpointPathState;
      /** Order at the end of a change that took time; changes in between belong to it. */
      readonly until?: number;
    }
  /** A shell command began; `manifest` lists all files in `root`. Without `command-end`, the session died during it. */
  | {
      readonly step: 'command';
      readonly id: string;
      readonly order: number;
      readonly root: string;
      readonly manifest: string;
      readonly notKept: readonly string[];
    }
  | { readonly step: 'command-end'; readonly order: number }
  /**
   * Files are about to be restored to their state before this prompt. Without `undone`, the process crashed meanwhile.
   */
  | {
      readonly step: 'undoing';
      readonly id: string;
      readonly order: number;
      readonly replaced: readonly RewoundPath[];
    }
  /** The files were restored; the changes of this prompt and later ones are undone. */
  | {
      readonly step: 'undone';
      readonly id: string;
      readonly order: number;
      /** The restored paths, if others were not restored, by choice or after a failure. Their changes can be undone. */
      readonly paths?: readonly string[];
      /** Only in older sessions; now it is part of `undoing`. */
      readonly replaced?: readonly RewoundPath[];
    }
  /** The undo with this order was reverted. */
  | { readonly step: 'redone'; readonly undone: number; readonly order: number }
  /** The conversation was rewound to before this prompt; it and later prompts are no longer checkpoints. */
  | { readonly step: 'left'; readonly id: string; readonly order: number };

/** An event of an earlier run, with its time and the cost of the session at that time. */
export type PastRunEvent = { readonly event: AgentEvent; readonly atMs: number; readonly costUsd: number };

/** The last turns of a conversation as events, so that a frontend can show them as they happened. */
export type PastTurns = {
  /** Turns before this run. */
  readonly earlier: readonly PastRunEvent[];
  /** Returns the latest turns up to now. */
  loadLatest(turns: number): Promise<readonly PastRunEvent[]>;
  /** Returns the title of a call; empty if its tool no longer exists. */
  getTitle(tool: string, input: JsonValue): string;
};
