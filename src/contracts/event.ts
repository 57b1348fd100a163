import type { Display } from './display.ts';
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
import type { ModelFailure } from './model.ts';
import type { PermissionAnswer, PermissionRequest } from './permission.ts';
import type { ContinueReason, Terminal } from './terminal.ts';
import type { ToolProgress, UserAnswer, UserQuestion } from './tool.ts';

/** Something that happened: plain data, printable, storable, replayable. Every start has its end. */
export type AgentEvent =
  | { readonly type: 'agent_start' }
  | { readonly type: 'agent_end'; readonly terminal: Terminal; readonly durationMs: number }
  | { readonly type: 'turn_start'; readonly turn: number; readonly model: string }
  | {
      readonly type: 'turn_end';
      readonly turn: number;
      readonly model: string;
      readonly messageId?: string;
      readonly stopReason?: StopReason;
      readonly usage?: Usage;
      readonly failure?: ModelFailure;
      readonly durationMs: number;
      readonly firstTokenMs?: number;
    }
  | { readonly type: 'request_sent'; readonly attempt: number; readonly model: string }
  | {
      readonly type: 'message_start';
      readonly messageId: string;
      readonly role: 'assistant';
      readonly model: string;
      readonly usage: Usage;
    }
  /** Words of a person, results and messages of an application's own are whole at once: their end follows. */
  | { readonly type: 'message_start'; readonly messageId: string; readonly role: 'user' | 'custom' }
  | {
      readonly type: 'message_update';
      readonly messageId: string;
      readonly index: number;
      readonly kind: 'text' | 'thinking' | 'input';
      readonly delta: string;
    }
  | {
      readonly type: 'block_start';
      readonly messageId: string;
      readonly index: number;
      readonly kind: AssistantBlock['type'];
      readonly name?: string;
    }
  /** A block is complete: on disk before the next request. */
  | {
      readonly type: 'block_end';
      readonly messageId: string;
      readonly index: number;
      readonly model: string;
      readonly block: AssistantBlock;
    }
  /** A whole message joined the conversation. For assistants its blocks were told one by one before. */
  | { readonly type: 'message_end'; readonly message: Message }
  | { readonly type: 'stream_event'; readonly event: JsonObject; readonly firstTokenMs?: number }
  | {
      readonly type: 'tool_start';
      readonly callId: string;
      readonly tool: string;
      readonly title: string;
      readonly input: JsonValue;
      readonly messageId: string;
    }
  | { readonly type: 'tool_update'; readonly callId: string; readonly progress: ToolProgress }
  | {
      readonly type: 'tool_end';
      readonly callId: string;
      readonly tool: string;
      readonly result: ToolResultBlock;
      readonly status: 'done' | 'failed' | 'denied' | 'interrupted' | 'discarded';
      readonly display?: Display;
      readonly structured?: JsonValue;
      readonly durationMs: number;
    }
  | { readonly type: 'calls_summary'; readonly text: string }
  | { readonly type: 'permission_request'; readonly request: PermissionRequest }
  | {
      readonly type: 'permission_answer';
      readonly requestId: string;
      readonly answer: PermissionAnswer;
      readonly by: 'person' | 'host' | 'abort';
    }
  | {
      readonly type: 'permission_decision';
      readonly callId: string;
      readonly tool: string;
      readonly input: JsonObject;
      readonly verdict: 'allow' | 'deny';
      readonly trace: JsonValue;
    }
  | { readonly type: 'question'; readonly id: string; readonly callId: string; readonly question: UserQuestion }
  | { readonly type: 'question_answer'; readonly id: string; readonly answer: UserAnswer | undefined }
  | {
      readonly type: 'queue';
      readonly item: QueuedMessage;
      readonly state: 'queued' | 'delivered' | 'completed' | 'removed';
    }
  | {
      readonly type: 'retry';
      readonly attempt: number;
      readonly limit: number;
      readonly delayMs: number;
      readonly failure: ModelFailure;
    }
  | {
      readonly type: 'recovery_start';
      readonly recovery: ContinueReason | 'auto_compact' | 'healed';
      readonly cause: string;
    }
  | {
      readonly type: 'recovery_end';
      readonly recovery: ContinueReason | 'auto_compact' | 'healed';
      readonly outcome: 'recovered' | 'released';
      readonly detail?: string;
      /** Healed of pictures: they are left out up to and with this message. */
      readonly until?: string;
      /** Healed of single parts: the marks of what is left out. */
      readonly refused?: readonly string[];
    }
  /** What was shown of this message is void: not sent, not resumed, not shown again. */
  | { readonly type: 'tombstone'; readonly messageId: string; readonly why: string }
  | {
      readonly type: 'compacted';
      readonly boundary: BoundaryMessage;
      readonly messages: readonly Message[];
      readonly postTokens: number;
    }
  | { readonly type: 'transition'; readonly reason: ContinueReason; readonly turn: number }
  | {
      readonly type: 'notice';
      readonly level: 'info' | 'warn' | 'error';
      readonly text: string;
      readonly topic?: string;
    }
  /** What a person was sent to an address for by an MCP server is done there. */
  | { readonly type: 'elicitation_complete'; readonly server: string; readonly id: string }
  | { readonly type: 'status'; readonly status: AgentStatus }
  | { readonly type: 'mode'; readonly mode: string }
  | {
      readonly type: 'hook';
      readonly phase: 'started' | 'progress' | 'response';
      readonly event: string;
      readonly name: string;
      readonly detail: JsonObject;
    }
  /** Work that goes on while no call waits for it. Ends once, in one of the last three states. */
  | {
      readonly type: 'background';
      readonly id: string;
      readonly callId: string;
      readonly kind: 'shell' | 'agent';
      readonly title: string;
      /** `printed`: a line somebody waits for; it goes on. */
      readonly state: 'started' | 'printed' | 'completed' | 'failed' | 'stopped';
      /** How it ended or what it printed, in a sentence. */
      readonly words?: string;
      /** Where the whole output is, if it was too much to keep. */
      readonly outputPath?: string;
    }
  /** A sub-agent's own event, under the call that started it. */
  | {
      readonly type: 'subagent';
      readonly callId: string;
      readonly agentId: string;
      readonly agentType: string;
      readonly event: AgentEvent;
    };

/** What the agent is doing, in a word. */
export type AgentStatus =
  | 'idle'
  | 'preparing'
  | 'requesting'
  | 'thinking'
  | 'writing'
  | 'running_tools'
  | 'waiting_for_answer'
  | 'compacting'
  | 'stopping';

/** A message waiting to be heard, with the lane it waits in. */
export type QueuedMessage = { readonly id: string; readonly lane: 'next' | 'after'; readonly message: UserMessage };
