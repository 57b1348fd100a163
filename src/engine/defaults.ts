import type { Message } from '../contracts/message.ts';
import type { ModelInfo, ModelLink, ModelPort } from '../contracts/model.ts';
import { type ContextPort, NOTHING_STRIPPED, type QueryConfig, type QueryDeps } from '../contracts/query.ts';
import type { Tool } from '../contracts/tool.ts';
import { toRequestMessages } from './request.ts';

/** What nobody can guess: who answers, under which name. Everything else has a default. */
export type QueryDepsInput = Partial<Omit<QueryDeps, 'config' | 'model' | 'tools' | 'system'>> & {
  readonly model: ModelPort;
  readonly config: Partial<Omit<QueryConfig, 'chain'>> & {
    /** The model, then its fallbacks: a name, or a name with its own patience. */
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
  stripped: NOTHING_STRIPPED,
  betas: [],
  failedCompactions: 0,
};

/** Dependencies in which every missing part does the simplest safe thing: calls that are not read-only are refused. */
export function queryDeps(given: QueryDepsInput): QueryDeps {
  const { config, model, tools = [], system = '', ...rest } = given;
  const chain = config.chain.map((link) => (typeof link === 'string' ? { model: link } : link));
  return {
    config: { ...DEFAULT_CONFIG, ...config, chain },
    model,
    modelInfo: cautiousModel,
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
    context: wholeConversation,
    queues: { takeSteering: () => [], takeFollowUps: () => [], hasSteering: () => false },
    attachments: async () => [],
    costUsd: () => 0,
    newId: () => crypto.randomUUID(),
    now: Date.now,
    ...rest,
  };
}

/** Sends everything, always; has no way to make room. */
export const wholeConversation: ContextPort = {
  prepare: async (messages: readonly Message[]) => ({ messages, view: messages, tokens: 0, freedTokens: 0 }),
  compact: async () => ({ ok: false, why: 'no summariser was given' }),
  drain: async () => false,
  limits: () => ({ compactAt: Number.POSITIVE_INFINITY, blockAt: Number.POSITIVE_INFINITY }),
  calibrate: () => undefined,
};

/** What is assumed of a model nobody knows. */
export function cautiousModel(id: string): ModelInfo {
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
