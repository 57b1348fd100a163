import type { AgentListener } from '../contracts/agent.ts';
import type { AgentEvent, QueuedMessage } from '../contracts/event.ts';
import type { PromptVerdict } from '../contracts/hook.ts';
import type { Message, UserOrigin } from '../contracts/message.ts';
import type { Effort } from '../contracts/model.ts';
import type { PermissionAnswer, PermissionMode, PermissionRequest } from '../contracts/permission.ts';
import type { QueryDeps, QueuePort } from '../contracts/query.ts';
import type { UserAnswer, UserQuestion } from '../contracts/tool.ts';

/** What the agent lends to the parts that make its dependencies. */
export type AgentPort = {
  readonly askPermission: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
  readonly ask: (callId: string, question: UserQuestion, signal: AbortSignal) => Promise<UserAnswer | undefined>;
  readonly queues: QueuePort;
  readonly tell: (event: AgentEvent) => Promise<void>;
  readonly onWait: (skip: () => void) => void;
};

/** Everything an agent is made of. Swap a part and it is another product. */
export type AgentParts = {
  readonly sessionId: string;
  readonly messages: readonly Message[];
  /** What was waiting when the session was left. */
  readonly queued?: readonly QueuedMessage[];
  /** In order, the transcript first. */
  readonly listeners: readonly AgentListener[];
  /** A fresh snapshot for each query. */
  readonly deps: (port: AgentPort) => QueryDeps;
  /** Handed the port once, for parts that speak outside of a query. */
  readonly attach?: (port: AgentPort) => void;
  /** The prompt hook: sees every prompt first, and may add context or refuse it with words. */
  readonly onPrompt?: (words: string, signal: AbortSignal, origin: UserOrigin) => Promise<PromptVerdict>;
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
