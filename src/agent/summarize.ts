import type { Message, Usage, UserMessage } from '../contracts/message.ts';
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
  NOTHING_STRIPPED,
  type QueryConfig,
  type QueryDeps,
  type Stripped,
  type Summarize,
  type SummaryOrder,
} from '../contracts/query.ts';
import { OVERLOADS_BEFORE_FALLBACK } from '../engine/model-pump.ts';
import { buildRequest, toRequestMessages } from '../engine/request.ts';
import { mayAnotherAnswer } from '../engine/transitions/fallback.ts';
import { heal } from '../engine/transitions/heal.ts';

/** What a summary is asked with: the model and its likes, and what is sent besides the messages. */
export type SummarizeParts = {
  /** The model in use, and those that go on when it cannot be had. */
  readonly chain: () => readonly [string, ...string[]];
  readonly infoOf: (model: string) => ModelInfo;
  readonly port: ModelPort;
  readonly system: () => readonly SystemPart[];
  readonly specs: () => readonly ToolSpec[];
  /** As in the conversation: another measure of thinking would throw its cache away. */
  readonly thinking: () => Pick<QueryConfig, 'effort' | 'thinkingBudgetTokens'>;
  readonly onUsage: (model: string, usage: Usage) => void;
  /** Called for each new try, so that nobody looks at a screen that seems to stand still. */
  readonly onTry?: (tried: Tried, model: string) => void;
  readonly onSwitch?: (to: string, cause: string) => void;
  readonly maxRetries?: number;
  /** What the model sees of messages; left out, what it always sees. */
  readonly toRequestMessages?: QueryDeps['toRequestMessages'];
};

type Tried = Extract<ModelEvent, { type: 'retry' | 'request_sent' }>;

const SUMMARY_TOKENS = 8_000;
/** Thinking counts as output, and a summary that is cut is none. */
const THINKING_TOKENS = 24_000;
const LEAST_TOKENS = 2_000;
/** Tokens are counted a little differently everywhere. */
const SPARE_TOKENS = 3_000;
/** The last message of every order; its words differ. */
const SUMMARY_ORDER: UserMessage = { role: 'user', id: 'summary-order', origin: 'nudge', blocks: [] };

/** The summary is written by the model in use over the same bytes it has already seen, so that its cache serves. */
export function makeSummarize(parts: SummarizeParts): Summarize {
  return async (messages, order, signal) => {
    const { model, outcome } = await askChain(chainFor(order, parts), messages, order, parts, signal);
    if (!outcome.ok) return { ok: false, why: outcome.failure.message };
    parts.onUsage(model, outcome.usage);
    if (outcome.stopReason !== 'end_turn' && outcome.stopReason !== 'stop_sequence') {
      return { ok: false, why: `the answer ended with ${outcome.stopReason}` };
    }
    const text = outcome.message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
    return text.trim() === '' ? { ok: false, why: 'the answer was empty' } : { ok: true, text };
  };
}

type Links = readonly [string, ...string[]];

/** What has been passed over in this query is not asked again. */
function chainFor({ model }: SummaryOrder, parts: SummarizeParts): Links {
  const [first, ...others] = parts.chain();
  if (model === undefined || model === first) return [first, ...others];
  return [model, ...others.slice(others.indexOf(model) + 1)];
}

/** A model that stays away is followed by the next of the chain, as it is for replies. */
async function askChain(
  [model, next, ...others]: Links,
  messages: readonly Message[],
  order: SummaryOrder,
  parts: SummarizeParts,
  signal: AbortSignal,
): Promise<{ readonly model: string; readonly outcome: ModelOutcome }> {
  const overloadLimit = next === undefined ? Number.POSITIVE_INFINITY : OVERLOADS_BEFORE_FALLBACK;
  const outcome = await ask(requestOf(model, messages, order, parts), overloadLimit, parts, signal);
  if (outcome.ok || next === undefined || signal.aborted || !mayAnotherAnswer(outcome.failure)) {
    return { model, outcome };
  }
  parts.onSwitch?.(next, outcome.failure.message);
  return askChain([next, ...others], messages, order, parts, signal);
}

/** What the provider refuses to take back is left out, as it is in the conversation. */
async function ask(
  request: (stripped: Stripped) => ModelRequest,
  overloadLimit: number,
  { port, onTry, maxRetries }: SummarizeParts,
  signal: AbortSignal,
): Promise<ModelOutcome> {
  let stripped = NOTHING_STRIPPED;
  for (let round = 0; ; round += 1) {
    const tries = { restartable: () => true, overloadLimit, ...(maxRetries === undefined ? {} : { maxRetries }) };
    const asked = request(stripped);
    const stream = port.stream(asked, tries, signal);
    let step = await stream.next();
    for (; step.done !== true; step = await stream.next()) {
      const { value } = step;
      if (value.type === 'retry' || (value.type === 'request_sent' && value.attempt > 1)) onTry?.(value, asked.model);
    }
    const outcome = step.value;
    const healed = outcome.ok
      ? undefined
      : heal(outcome.failure, { stripped, view: [SUMMARY_ORDER], request: asked, round });
    if (healed === undefined) return outcome;
    stripped = healed.stripped;
  }
}

function requestOf(
  model: string,
  messages: readonly Message[],
  { instructions, sentTokens }: SummaryOrder,
  parts: SummarizeParts,
): (stripped: Stripped) => ModelRequest {
  const order: Message = { ...SUMMARY_ORDER, blocks: [{ type: 'text', text: instructions }] };
  const thinking = parts.thinking();
  const wanted = thinking.effort === 'off' ? SUMMARY_TOKENS : SUMMARY_TOKENS + THINKING_TOKENS;
  const { maxOutputTokens, contextWindow } = parts.infoOf(model);
  // Some providers refuse what might not fit, so a full window leaves the answer what it has left.
  const left = Math.max(LEAST_TOKENS, contextWindow - sentTokens - SPARE_TOKENS);
  const maxOutputTokensOverride = Math.min(wanted, maxOutputTokens, left);
  return (stripped) => {
    const request = buildRequest(
      [...messages, order],
      { modelIndex: 0, maxOutputTokensOverride, stripped },
      {
        config: { chain: [{ model }], betas: [], ...thinking },
        modelInfo: parts.infoOf,
        system: parts.system,
        tools: () => [],
        toolSpecs: parts.specs,
        toRequestMessages: parts.toRequestMessages ?? toRequestMessages,
      },
    );
    return { ...request, breakpoints: [{ at: 'tools' }, { at: 'system' }, ...beforeOrder(request.messages)] };
  };
}

/** The order was merged into the last message; what stands before it is cached already. */
function beforeOrder(messages: readonly RequestMessage[]): readonly CacheBreakpoint[] {
  const message = messages.length - 1;
  const block = (messages[message]?.blocks.length ?? 0) - 2;
  return block < 0 ? [] : [{ at: 'message', message, block }];
}
