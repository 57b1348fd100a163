/** `@ouro-cli/agent`: the most used names of all entries. */

export { getModelInfo as modelInfo } from '../model/built-in-models.ts';
export * from './agent.ts';
export { createAgentHooks as agentHooks } from './agent-hooks.ts';
export { createAnthropicPort, createDemoPort, createOpenAiPort, withRetry } from './model.ts';
export {
  createRulesGate as rulesGate,
  type GateRules,
  openGate,
  readOnlyGate,
  type ToolGate,
} from './permission-gates.ts';
export { openSession, readMessages, type SessionLocation, type StoredSession } from './session.ts';
export { builtInTools, type ToolOptions } from './tools.ts';
