import type { Agent, AgentListener } from '../contracts/agent.ts';
import type { AgentEvent, QueuedMessage } from '../contracts/event.ts';
import type { PromptVerdict } from '../contracts/hook.ts';
import type { Message, UserOrigin } from '../contracts/message.ts';
import type { Effort } from '../contracts/model.ts';
import type { PermissionAnswer, PermissionMode, PermissionRequest } from '../contracts/permission.ts';
import type { QueryDeps, QueuePort } from '../contracts/query.ts';
import type { Terminal } from '../contracts/terminal-reason.ts';
import type { UserAnswer, UserQuestion } from '../contracts/tool.ts';

/** The part of the agent that its dependencies use. */
export type AgentPort = {
  readonly askPermission: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
  readonly ask: (callId: string, question: UserQuestion, signal: AbortSignal) => Promise<UserAnswer | undefined>;
  readonly queues: QueuePort;
  readonly answerPermission: Agent['answerPermission'];
  readonly emit: (event: AgentEvent) => Promise<void>;
  /** Returns the conversation as it is now. */
  readonly messages: () => readonly Message[];
  readonly onWait: (skip: () => void) => void;
};

/** The dependencies of an agent. */
export type AgentDeps = {
  readonly sessionId: string;
  readonly messages: readonly Message[];
  /** Messages that were queued when the session ended. */
  readonly queued?: readonly QueuedMessage[];
  /** Listeners in order, the transcript first. */
  readonly listeners: readonly AgentListener[];
  readonly deps: (port: AgentPort) => QueryDeps;
  /** Receives the port once, for emitting events outside of a query. */
  readonly attach?: (port: AgentPort) => void;
  /** The prompt hook: called with every prompt first; it can add context or refuse the prompt. */
  readonly onPrompt?: (prompt: string, signal: AbortSignal, origin: UserOrigin) => Promise<PromptVerdict>;
  /** Called first in each run, which waits for it. */
  readonly beforeRun?: () => Promise<void>;
  /** Called at the end of each run, before `agent_end`; the returned messages join the conversation. */
  readonly afterRun?: (terminal: Terminal) => Promise<readonly Message[]>;
  /** Describes an internal error for the user. */
  readonly describeFault?: (message: string) => string;
  readonly describe: () => {
    readonly model: string;
    readonly effort: Effort;
    readonly mode: PermissionMode;
    readonly cwd: string;
  };
  readonly onListenerError?: (thrown: unknown, event: AgentEvent) => void;
  readonly newId: () => string;
  readonly now: () => number;
};
