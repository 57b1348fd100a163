/** `ouro`: everything at once. */
export * from './agent.ts';
export { agentHooks } from './agent-hooks.ts';
export { builtInTools, type ToolPlace } from './built-in-tools.ts';
export { createAnthropicPort, createDemoPort, createOpenAiPort, modelInfo, withRetry } from './model.ts';
export { openSession, type SessionPlace, type StoredSession } from './session-file.ts';
export { type GateRules, openGate, readOnlyGate, rulesGate, type ToolGate } from './tool-gate.ts';
