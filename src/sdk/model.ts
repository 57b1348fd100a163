/** `@ouro-cli/agent/model`: model ports, model properties and retries. */
export type {
  ModelEvent,
  ModelInfo,
  ModelOutcome,
  ModelPort,
  ModelRequest,
  StreamOptions,
} from '../contracts/model.ts';
export { getModelInfo as modelInfo, listModels, resolveModel } from '../model/built-in-models.ts';
export { type AnthropicSettings, createAnthropicPort } from '../model/providers/anthropic/anthropic-port.ts';
export type { MessagesSettings } from '../model/providers/anthropic/messages-request.ts';
export { createDemoPort, type DemoSettings } from '../model/providers/demo/demo-port.ts';
export { createOpenAiPort } from '../model/providers/openai-chat/openai-chat-port.ts';
export { createReplayPort, type Exchange, withRecord } from '../model/record-replay.ts';
export { createNamedModels, type ModelDirectory as NamedModels } from '../model/registry/model-router.ts';
export { type RetryPolicy, withRetry } from '../model/retry.ts';
