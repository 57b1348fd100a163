import type { Message } from '../contracts/message.ts';
import type { ModelInfo, ModelLink, ModelPort } from '../contracts/model.ts';
import {
  type ContextPort,
  DEFAULT_LOOP_GUARD,
  NO_EXCLUDED_CONTENT,
  type QueryConfig,
  type QueryDeps,
} from '../contracts/query.ts';
import type { Tool } from '../contracts/tool.ts';
import { toRequestMessages } from './request/build-model-request.ts';

/** Input of `queryDeps`: the model port and the model names are required, everything else has a default. */
export type QueryDepsInput = Partial<Omit<QueryDeps, 'config' | 'model' | 'tools' | 'system'>> & {
  readonly model: ModelPort;
  readonly config: Partial<Omit<QueryConfig, 'chain'>> & {
    /** The model and its fallbacks: names, or names with their own retry settings. */
    readonly chain: readonly (string | ModelLink)[];
  };
  readonly tools?: readonly Tool[];
  readonly system?: string;
};

const DEFAULT_CONFIG: Omit<QueryConfig, 'chain'> = {
  effort: 'off',
  thinkingBudgetTokens: undefined,
  maxTurns: undefined,
  maxBudgetUsd: undefined,
  tokenBudget: undefined,
  toolExecution: 'streaming',
  parallelCalls: 10,
  autoCompact: true,
  partialMessages: false,
  skipFirstPoll: false,
  excluded: NO_EXCLUDED_CONTENT,
  betas: [],
  failedCompactions: 0,
  loopGuard: DEFAULT_LOOP_GUARD,
};

/** Creates the dependencies of a query. Missing parts get safe defaults; calls that are not read-only are denied. */
export function completeQueryDeps(input: QueryDepsInput): QueryDeps {
  const { config, model, tools = [], system = '', ...rest } = input;
  const chain = config.chain.map((link) => (typeof link === 'string' ? { model: link } : link));
  return {
    config: { ...DEFAULT_CONFIG, ...config, chain },
    model,
    modelInfo: createFallbackModelInfo,
    system: () => (system === '' ? [] : [{ name: 'base', text: system }]),
    tools: () => tools,
    toolSpecs: (offered) => offered.map((tool) => tool.spec),
    cwd: () => '/',
    toRequestMessages,
    transformRequest: (request) => request,
    gate: async (request) =>
      request.isReadOnly
        ? { behavior: 'allow', input: request.input }
        : { behavior: 'deny', message: `${request.tool} is not allowed here: only reading is.`, interrupt: false },
    beforeCall: async () => ({}),
    afterCall: async () => ({}),
    onStop: async () => ({ kind: 'pass' }),
    ask: async () => undefined,
    capResult: async (_call, outcome, maxChars) =>
      typeof outcome.content === 'string' && outcome.content.length > maxChars
        ? { ...outcome, content: `${outcome.content.slice(0, maxChars)}\n… cut at ${maxChars} characters` }
        : outcome,
    context: passthroughContext,
    queues: { takeSteering: () => [], takeFollowUps: () => [], hasSteering: () => false },
    attachments: async () => [],
    costUsd: () => 0,
    newId: () => crypto.randomUUID(),
    now: Date.now,
    ...rest,
  };
}

/** A context port that always sends the whole conversation and cannot compact it. */
export const passthroughContext: ContextPort = {
  prepare: async (messages: readonly Message[]) => ({ messages, view: messages, tokens: 0, freedTokens: 0 }),
  compact: async () => ({ ok: false, why: 'no summarizer is configured' }),
  drain: async () => false,
  limits: () => ({ compactAt: Number.POSITIVE_INFINITY, blockAt: Number.POSITIVE_INFINITY }),
  calibrate: () => undefined,
};

/** Returns cautious assumptions about an unknown model. */
export function createFallbackModelInfo(id: string): ModelInfo {
  return {
    id,
    label: id,
    contextWindow: 32_000,
    defaultOutputTokens: 4_096,
    maxOutputTokens: 4_096,
    thinking: 'none',
    effort: false,
    efforts: [],
    thinkingOff: 'silence',
    vision: false,
    promptCache: false,
    webSearch: false,
  };
}
