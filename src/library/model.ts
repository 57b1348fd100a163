/** `ouro/model`: ways to have replies, what is known of models, and patience with both. */
export type {
  ModelEvent,
  ModelInfo,
  ModelOutcome,
  ModelPort,
  ModelRequest,
  StreamOptions,
} from '../contracts/model.ts';
export { type AnthropicSettings, createAnthropicPort } from '../model/anthropic.ts';
export { listModels, modelInfo, resolveModel } from '../model/catalog.ts';
export { createNamedModels, type NamedModels } from '../model/choose/named-models.ts';
export { createDemoPort, type DemoSettings } from '../model/demo/demo-port.ts';
export type { MessagesSettings } from '../model/messages/messages-service.ts';
export { createOpenAiPort } from '../model/openai-compatible.ts';
export { createReplayPort, type Exchange } from '../model/replay.ts';
export { type RetryPolicy, withRetry } from '../model/retry.ts';
export { withRecord } from '../model/with-record.ts';
