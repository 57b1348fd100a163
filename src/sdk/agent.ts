/** `@ouro-cli/agent/agent`: the agent, the loop and their types. It needs no Node APIs. */

export type { RunEnd } from '../agent/agent-run-records.ts';
export { type Budget, createBudget, type RequestCost, type Reservation } from '../agent/budget.ts';
export type { ContextFill, ContextLevel } from '../context/context-levels.ts';
export type {
  AgentListener,
  InputMessage,
  Prompt,
  QueueMode,
  RunningCall,
} from '../contracts/agent.ts';
export type { Display } from '../contracts/display.ts';
export type { AgentEvent, AgentStatus, QueuedMessage, Spending, SpentRequest } from '../contracts/event.ts';
export type { Feature, LoopHooks, ReminderMoment } from '../contracts/feature.ts';
export type { PromptVerdict } from '../contracts/hook.ts';
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
  BeforeCall,
  CompactionResult,
  ContextPort,
  ModelSelection,
  QueryConfig,
  QueryDeps,
  QueuePort,
} from '../contracts/query.ts';
export type { ContinueReason, Terminal, TerminalReason } from '../contracts/terminal-reason.ts';
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
export { completeQueryDeps as queryDeps, type QueryDepsInput } from '../engine/default-deps.ts';
export { type Query, query } from '../engine/query.ts';
export { toRequestMessages } from '../engine/request/build-model-request.ts';
export type { ModelChoice, ModelLimits, PriceInput } from '../model/model-chain.ts';
export { FAULTS, type Fault, type FaultPlan, withFaults } from '../model/with-faults.ts';
export {
  type AgentTool,
  buildApplicationTool as buildTool,
  type JsonToolDefinition,
  type PlainTool,
  type StandardToolDefinition,
  type ToolDefinition,
  type ToolParts,
} from '../tools/definition/application-tool.ts';
export type { ToolResult } from '../tools/definition/tool-result.ts';
export type { SdkAgent as Agent, SubscribeOptions } from './agent/agent-commands.ts';
export type { AgentCapsule } from './agent/capsule.ts';
export {
  type AgentCheck,
  type AgentReport,
  type CheckedOptions,
  type CheckOptions,
  checkAgent,
} from './agent/check-agent.ts';
export { createAgent, type ResumeOptions, resumeAgent, THINKING_LEVELS } from './agent/create-agent.ts';
export type {
  AfterToolCallResult,
  AgentChange,
  AgentOptions,
  AgentSnapshot,
  BeforeToolCallResult,
  LogLevel,
  ResponseFacts,
  RunOptions,
} from './agent/options.ts';
export type { ApiMessage, PromptInput } from './agent/parse-app-messages.ts';
export { type ConnectOptions, connectAgent, type RemoteAgent } from './remote/connect-agent.ts';
export {
  type AgentServer,
  type NodeRequest,
  type NodeResponse,
  type ServeOptions,
  serveAgent,
} from './remote/serve-agent.ts';
