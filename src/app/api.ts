/** What programs import from `ouro`: the loop, the agent around it, and the words they share. */
export { createAgent } from '../agent/agent.ts';
export type { AgentParts, AgentPort } from '../agent/parts.ts';
export type { Agent, AgentListener, AgentState, Prompt } from '../contracts/agent.ts';
export type { AgentEvent } from '../contracts/event.ts';
export type { AssistantBlock, Message, UserBlock } from '../contracts/message.ts';
export type { ModelEvent, ModelOutcome, ModelPort, ModelRequest } from '../contracts/model.ts';
export type { Query, QueryDeps } from '../contracts/query.ts';
export type { ContinueReason, Terminal, TerminalReason } from '../contracts/terminal.ts';
export { type Tool, ToolFailure, type ToolOutcome } from '../contracts/tool.ts';
export { type QueryDepsInput, queryDeps } from '../engine/defaults.ts';
export { query } from '../engine/query.ts';
export { createAnthropicPort } from '../model/anthropic.ts';
export { withRetry } from '../model/retry.ts';
export { buildTool } from '../tools/build-tool.ts';
