/** `ouro/agent`: the agent, the loop, and the words they share. Needs nothing of Node. */
export type {
  Agent as AgentCommands,
  AgentListener,
  Joining,
  Prompt,
  QueueMode,
  RunningCall,
} from '../contracts/agent.ts';
export type { Display } from '../contracts/display.ts';
export type { AgentEvent, AgentStatus, QueuedMessage } from '../contracts/event.ts';
export type { LoopHooks, PromptVerdict } from '../contracts/hook.ts';
export type { JsonObject, JsonValue } from '../contracts/json.ts';
export type {
  AssistantBlock,
  AssistantMessage,
  BoundaryMessage,
  CustomMessage,
  CustomMessages,
  Message,
  ResultBlock,
  StopReason,
  ToolResultBlock,
  Usage,
  UserBlock,
  UserMessage,
} from '../contracts/message.ts';
export type {
  Effort,
  ModelEvent,
  ModelFailure,
  ModelInfo,
  ModelLink,
  ModelOutcome,
  ModelPort,
  ModelRequest,
  RequestMessage,
  StreamOptions,
  SystemPart,
  ToolSpec,
} from '../contracts/model.ts';
export type { PermissionAnswer, PermissionRequest } from '../contracts/permission.ts';
export type {
  AfterCall,
  Answering,
  BeforeCall,
  CompactionResult,
  ContextPort,
  Query,
  QueryConfig,
  QueryDeps,
  QueuePort,
} from '../contracts/query.ts';
export type { ContinueReason, Terminal, TerminalReason } from '../contracts/terminal.ts';
export {
  type CallContext,
  type CallRequest,
  type GateVerdict,
  type PreparedCall,
  type Tool,
  ToolFailure,
  type ToolOutcome,
  type ToolProgress,
  type UserAnswer,
  type UserQuestion,
} from '../contracts/tool.ts';
export { type QueryDepsInput, queryDeps } from '../engine/defaults.ts';
export { query } from '../engine/query.ts';
export { toRequestMessages } from '../engine/request.ts';
export { buildTool, type JsonToolDefinition, type ToolDefinition, type ToolParts } from '../tools/build-tool.ts';
export { createAgent, type LibraryAgent as Agent, THINKING_LEVELS } from './conversation/create-agent.ts';
export type {
  AgentChange,
  AgentOptions,
  AgentSnapshot,
  CallOpinion,
  LogLevel,
  ModelChoice,
  ResponseFacts,
  ResultOpinion,
} from './conversation/options.ts';
