import { joinTextBlocks, type Message, type Usage, type UserMessage } from '../contracts/message.ts';
import type {
  CacheBreakpoint,
  ModelEvent,
  ModelInfo,
  ModelOutcome,
  ModelPort,
  ModelRequest,
  RequestMessage,
  SystemPart,
  ToolSpec,
} from '../contracts/model.ts';
import {
  type ExcludedContent,
  NO_EXCLUDED_CONTENT,
  type QueryConfig,
  type QueryDeps,
  type Summarize,
  type SummaryRequest,
} from '../contracts/query.ts';
import { OVERLOADS_BEFORE_FALLBACK } from '../engine/phases/stream-model.ts';
import { canAnotherModelAnswer } from '../engine/recoveries/fallback.ts';
import { stripRejectedContent } from '../engine/recoveries/rejected-content.ts';
import { buildModelRequest, toRequestMessages } from '../engine/request/build-model-request.ts';

/** The dependencies of a summary: the models, and the parts of the request besides the messages. */
export type SummarizerDeps = {
  /** Current model, and its fallbacks. */
  readonly chain: () => readonly [string, ...string[]];
  readonly getModelInfo: (model: string) => ModelInfo;
  readonly port: ModelPort;
  readonly system: () => readonly SystemPart[];
  readonly listSpecs: () => readonly ToolSpec[];
  /** Thinking as in the conversation; a different value would invalidate its prompt cache. */
  readonly thinking: () => Pick<QueryConfig, 'effort' | 'thinkingBudgetTokens'>;
  readonly onUsage: (model: string, usage: Usage) => void;
  /** Called for each retry, so that the screen can show it. */
  readonly onRetry?: (event: RetryEvent, model: string) => void;
  readonly onFallback?: (to: string, cause: string) => void;
  readonly maxRetries?: number;
  /** Converts messages for the request; absent: as the engine does. */
  readonly toRequestMessages?: QueryDeps['toRequestMessages'];
};

type RetryEvent = Extract<ModelEvent, { type: 'retry' | 'request_sent' }>;

const SUMMARY_TOKENS = 8_000;
/** Thinking counts as output, and a truncated summary is useless. */
const THINKING_TOKENS = 24_000;
const MIN_OUTPUT_TOKENS = 2_000;
/** Margin for differences between token counts. */
const MARGIN_TOKENS = 3_000;
/** The last message of every summary request; its text is filled in. */
const SUMMARY_PROMPT: UserMessage = { role: 'user', id: 'summary-order', origin: 'nudge', blocks: [] };

/** Creates a summarizer. It sends the current model the same bytes as before, so that the prompt cache is used. */
export function createSummarizer(parts: SummarizerDeps): Summarize {
  return async (messages, order, signal) => {
    const { model, outcome } = await askChain(selectChain(order, parts), messages, order, parts, signal);
    if (!outcome.ok) return { ok: false, why: outcome.failure.message };
    parts.onUsage(model, outcome.usage);
    if (outcome.stopReason !== 'end_turn' && outcome.stopReason !== 'stop_sequence') {
      return { ok: false, why: `the answer ended with ${outcome.stopReason}` };
    }
    const text = joinTextBlocks(outcome.message.blocks, '');
    return text.trim() === '' ? { ok: false, why: 'the answer is empty' } : { ok: true, text };
  };
}

type Chain = readonly [string, ...string[]];

/** Returns the models to ask. Models that were skipped in this query are not asked again. */
function selectChain({ model }: SummaryRequest, parts: SummarizerDeps): Chain {
  const [first, ...others] = parts.chain();
  if (model === undefined || model === first) return [first, ...others];
  return [model, ...others.slice(others.indexOf(model) + 1)];
}

/** Asks the models of the chain in order, as for replies: the next one when the first is unavailable. */
async function askChain(
  [model, next, ...others]: Chain,
  messages: readonly Message[],
  order: SummaryRequest,
  parts: SummarizerDeps,
  signal: AbortSignal,
): Promise<{ readonly model: string; readonly outcome: ModelOutcome }> {
  const overloadLimit = next === undefined ? Number.POSITIVE_INFINITY : OVERLOADS_BEFORE_FALLBACK;
  const outcome = await ask(createRequestBuilder(model, messages, order, parts), overloadLimit, parts, signal);
  if (outcome.ok || next === undefined || signal.aborted || !canAnotherModelAnswer(outcome.failure)) {
    return { model, outcome };
  }
  parts.onFallback?.(next, outcome.failure.message);
  return askChain([next, ...others], messages, order, parts, signal);
}

/** Asks one model. Content that the provider refuses is excluded and the request repeated, as in the conversation. */
async function ask(
  createRequest: (stripped: ExcludedContent) => ModelRequest,
  overloadLimit: number,
  { port, onRetry, maxRetries }: SummarizerDeps,
  signal: AbortSignal,
): Promise<ModelOutcome> {
  let stripped = NO_EXCLUDED_CONTENT;
  for (let round = 0; ; round += 1) {
    const options = { restartable: () => true, overloadLimit, ...(maxRetries === undefined ? {} : { maxRetries }) };
    const request = createRequest(stripped);
    const stream = port.stream(request, options, signal);
    let step = await stream.next();
    for (; step.done !== true; step = await stream.next()) {
      const { value } = step;
      if (value.type === 'retry' || (value.type === 'request_sent' && value.attempt > 1))
        onRetry?.(value, request.model);
    }
    const outcome = step.value;
    const healed = outcome.ok
      ? undefined
      : stripRejectedContent(outcome.failure, { stripped, view: [SUMMARY_PROMPT], request, round });
    if (healed === undefined) return outcome;
    stripped = healed.stripped;
  }
}

function createRequestBuilder(
  model: string,
  messages: readonly Message[],
  { instructions, sentTokens }: SummaryRequest,
  parts: SummarizerDeps,
): (stripped: ExcludedContent) => ModelRequest {
  const prompt: Message = { ...SUMMARY_PROMPT, blocks: [{ type: 'text', text: instructions }] };
  const thinking = parts.thinking();
  const wanted = thinking.effort === 'off' ? SUMMARY_TOKENS : SUMMARY_TOKENS + THINKING_TOKENS;
  const { maxOutputTokens, contextWindow } = parts.getModelInfo(model);
  // Some providers refuse requests whose output might not fit, so the output limit is what the window has left.
  const left = Math.max(MIN_OUTPUT_TOKENS, contextWindow - sentTokens - MARGIN_TOKENS);
  const maxOutputTokensOverride = Math.min(wanted, maxOutputTokens, left);
  return (excluded) => {
    const request = buildModelRequest(
      [...messages, prompt],
      { modelIndex: 0, maxOutputTokensOverride, excluded },
      {
        config: { chain: [{ model }], betas: [], ...thinking },
        modelInfo: parts.getModelInfo,
        system: parts.system,
        tools: () => [],
        toolSpecs: parts.listSpecs,
        toRequestMessages: parts.toRequestMessages ?? toRequestMessages,
      },
    );
    return {
      ...request,
      breakpoints: [{ at: 'tools' }, { at: 'system' }, ...listConversationBreakpoints(request.messages)],
    };
  };
}

/** Returns breakpoints after the last two user messages, where requests of the conversation have them. */
function listConversationBreakpoints(messages: readonly RequestMessage[]): readonly CacheBreakpoint[] {
  const breakpoints = messages.flatMap(({ role, blocks }, message): readonly CacheBreakpoint[] => {
    const block = blocks.length - (message === messages.length - 1 ? 2 : 1);
    return role !== 'user' || block < 0 ? [] : [{ at: 'message', message, block }];
  });
  return breakpoints.slice(-2);
}
