import type { CallDenial } from './denial.ts';
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
import type { ContinueReason, Terminal } from './terminal-reason.ts';
import type { ToolProgress, UserAnswer, UserQuestion } from './tool.ts';

/**
 * The cause of a failed call. `precondition`: it could not succeed as things stand. `tool`: the tool said what prevented
 * it. `reported`: the tool ran, and its outcome is an error, such as a command that exits with 1. `fault`: a bug.
 */
export type FailureCause = 'unknown_tool' | 'invalid_input' | 'precondition' | 'tool' | 'reported' | 'fault';

/** An event of a conversation, as plain data for display, storage and replay. Every start event has an end event. */
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
  /** User messages, results and custom messages are complete at once: `message_end` follows immediately. */
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
  /** A block is complete. It is on disk before the next request. */
  | {
      readonly type: 'block_end';
      readonly messageId: string;
      readonly index: number;
      readonly model: string;
      readonly block: AssistantBlock;
    }
  /** A whole message joined the conversation. The blocks of an assistant message were emitted one by one before. */
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
      /** Set for a denied call. */
      readonly denial?: CallDenial;
      /** Set for a failed call. */
      readonly cause?: FailureCause;
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
      /** After an image was refused: images up to and including this message are excluded from requests. */
      readonly until?: string;
      /** After single parts were refused: the marks of the excluded parts. */
      readonly refused?: readonly string[];
    }
  /** The message is void: it is no longer sent, shown or restored by a resume. */
  | { readonly type: 'tombstone'; readonly messageId: string; readonly why: string }
  | {
      readonly type: 'compacted';
      readonly boundary: BoundaryMessage;
      readonly messages: readonly Message[];
      readonly postTokens: number;
    }
  /** A request was billed: its usage and, if the price of the model is known, its cost. */
  | { readonly type: 'spending'; readonly request: SpentRequest; readonly total: Spending }
  | { readonly type: 'transition'; readonly reason: ContinueReason; readonly turn: number }
  | {
      readonly type: 'notice';
      readonly level: 'info' | 'warn' | 'error';
      readonly text: string;
      readonly topic?: string;
    }
  /** The user has finished what an MCP server asked for on a web page. */
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
  /** Background work, which no call waits for. It ends once, in one of the last three states. */
  | {
      readonly type: 'background';
      readonly id: string;
      readonly callId: string;
      readonly kind: 'shell' | 'agent';
      readonly title: string;
      /** `printed`: the command printed an awaited line and is still running. */
      readonly state: 'started' | 'printed' | 'completed' | 'failed' | 'stopped';
      /** A sentence that says how it ended or what it printed. */
      readonly words?: string;
      /** Path of the full output, if it was too long to keep in memory. */
      readonly outputPath?: string;
    }
  /** An event of a sub-agent, under the call that started it. */
  | {
      readonly type: 'subagent';
      readonly callId: string;
      readonly agentId: string;
      readonly agentType: string;
      readonly event: AgentEvent;
    };

/** One paid request; `usd` is absent if the price of the model is unknown. */
export type SpentRequest = { readonly model: string; readonly usage: Usage; readonly usd?: number };

/** The tokens and dollars that an agent has spent, summaries and failed attempts included. */
export type Spending = {
  readonly usd: number;
  readonly usage: Usage;
  /** True if a model without a known price was used; `usd` does not include it. */
  readonly isIncomplete: boolean;
};

/** The current activity of the agent. */
export type AgentStatus =
  | 'idle'
  | 'preparing'
  | 'requesting'
  | 'thinking'
  | 'writing'
  | 'running_tools'
  | 'waiting_for_answer'
  | 'compacting'
  | 'restoring'
  | 'stopping';

/** A message that waits for delivery, with the queue it waits in. */
export type QueuedMessage = { readonly id: string; readonly lane: 'next' | 'after'; readonly message: UserMessage };

/** Computes the agent status after an event. */
export function reduceAgentStatus(status: AgentStatus, event: AgentEvent): AgentStatus {
  if (event.type === 'agent_end') return 'idle';
  if (event.type === 'agent_start') return 'preparing';
  if (event.type === 'status' && event.status === 'idle') return 'idle';
  if (status === 'stopping') return 'stopping';
  switch (event.type) {
    case 'status':
      // An abort just before the end of the run is emitted after `agent_end`.
      return event.status === 'stopping' && status === 'idle' ? 'idle' : event.status;
    case 'turn_start':
    case 'request_sent':
    case 'retry':
      return 'requesting';
    case 'block_start':
      return event.kind === 'thinking' ? 'thinking' : 'writing';
    case 'tool_start':
      // Shell commands of the user belong to no reply and do not change the status.
      return event.messageId === '' ? status : 'running_tools';
    // A background sub-agent can ask while the agent is idle; the answer does not start a turn.
    case 'permission_request':
    case 'question':
      return status === 'idle' ? 'idle' : 'waiting_for_answer';
    case 'permission_answer':
    case 'question_answer':
      return status === 'idle' ? 'idle' : 'running_tools';
    default:
      return status;
  }
}
