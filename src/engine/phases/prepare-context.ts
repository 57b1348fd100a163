import type { AgentEvent } from '../../contracts/event.ts';
import { isTypedByUser, type Message } from '../../contracts/message.ts';
import { CHARS_PER_TOKEN } from '../../contracts/model.ts';
import type { CompactionResult, ContextAdvice, QueryDeps, QueryState } from '../../contracts/query.ts';
import type { Terminal } from '../../contracts/terminal-reason.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import { appendMessages, getCurrentModelId } from '../query-state.ts';

/** The state and the view to send, or the reason to stop. */
export type ContextPreparationResult =
  | { readonly kind: 'ready'; readonly state: QueryState; readonly view: readonly Message[] }
  | { readonly kind: 'stop'; readonly terminal: Terminal };

const STOPPED: ContextPreparationResult = { kind: 'stop', terminal: { reason: 'aborted_streaming' } };

/** Adds steering messages and prepares the view to send; compacts a context that is nearly full. */
export async function* prepareContext(
  initial: QueryState,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, ContextPreparationResult> {
  if (signal.aborted) return STOPPED;
  if (deps.config.maxBudgetUsd !== undefined && deps.costUsd() >= deps.config.maxBudgetUsd) {
    return stopForBudget(deps.config.maxBudgetUsd);
  }
  // A repeated request must be byte-identical, so nothing may change in between.
  if (isRepeatedModelRequest(initial)) return { kind: 'ready', state: initial, view: initial.sent };
  const withSteering = yield* drainSteering(initial, deps, signal);
  const prepared = await resolveUndefinedOnAbort(deps.context.prepare(withSteering.messages), signal);
  if (prepared === undefined) return STOPPED;

  const { compactAt, blockAt } = deps.context.limits(getCurrentModelId(withSteering, deps));
  let state = withSteering;
  let { view, tokens } = prepared;
  if (deps.config.autoCompact && tokens >= compactAt && state.compaction.consecutiveFailures < MAX_FAILED_COMPACTIONS) {
    state = yield* compact(state, deps, signal);
    const again = await resolveUndefinedOnAbort(deps.context.prepare(state.messages), signal);
    if (signal.aborted || again === undefined) return STOPPED;
    ({ view, tokens } = again);
  }
  const canStillCompact = deps.config.autoCompact && !state.ledger.compacted;
  if (tokens >= blockAt && !canStillCompact)
    return stopForFullContext(state.messages, tokens, blockAt, getAdvice(deps));
  return { kind: 'ready', state, view };
}

async function* drainSteering(
  state: QueryState,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, QueryState> {
  if (state.transition === undefined && deps.config.skipFirstPoll) return state;
  await deps.queues.admitQueued?.(signal);
  let next = state;
  for (const item of deps.queues.takeSteering()) {
    yield { type: 'queue', item, state: 'delivered' };
    yield { type: 'message_end', message: item.message };
    next = appendMessages(next, item.message);
    // The end of a background command is not a message of the user.
    if (isTypedByUser(item.message)) next = { ...next, recentTurns: [] };
  }
  return next;
}

async function* compact(
  state: QueryState,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, QueryState> {
  yield { type: 'status', status: 'compacting' };
  yield { type: 'recovery_start', recovery: 'auto_compact', cause: 'The context is nearly full.' };
  const result = await resolveUndefinedOnAbort(
    deps.context.compact(state.messages, 'auto', signal, getCurrentModelId(state, deps)),
    signal,
  );
  if (result === undefined) {
    yield { type: 'recovery_end', recovery: 'auto_compact', outcome: 'released', detail: ABORTED_COMPACTION_DETAIL };
    return state;
  }
  if (!result.ok) return yield* reportFailedCompaction(recordFailedCompaction(state), result.why, deps);
  const boundary = result.messages.find((message) => message.role === 'boundary');
  if (boundary !== undefined) {
    yield { type: 'compacted', boundary, messages: result.messages, postTokens: result.postTokens };
  }
  const after = applyCompaction(state, result);
  if (after.compaction.consecutiveFailures > 0)
    return yield* reportFailedCompaction(after, 'it freed no context', deps);
  yield { type: 'recovery_end', recovery: 'auto_compact', outcome: 'recovered' };
  return after;
}

/** Reports a failed compaction; the last allowed failure also warns that auto-compaction stops. */
function* reportFailedCompaction(
  state: QueryState,
  reason: string,
  deps: QueryDeps,
): Generator<AgentEvent, QueryState> {
  yield { type: 'recovery_end', recovery: 'auto_compact', outcome: 'released', detail: reason };
  if (state.compaction.consecutiveFailures === MAX_FAILED_COMPACTIONS) {
    const text = `Auto-compaction failed ${MAX_FAILED_COMPACTIONS} times in a row (${reason}) and is disabled now. ${getAdvice(deps).fullContext}`;
    yield { type: 'notice', level: 'warn', topic: 'compaction', text };
  }
  return state;
}

/** Tells whether the next request repeats the failed one byte for byte. */
export function isRepeatedModelRequest({ transition }: Pick<QueryState, 'transition'>): boolean {
  const reason = transition?.reason;
  return reason === 'fallback_retry' || reason === 'max_output_tokens_escalate';
}

function stopForBudget(limitUsd: number): ContextPreparationResult {
  const message = `The budget of $${limitUsd} is used up.`;
  return { kind: 'stop', terminal: { reason: 'budget_exhausted', words: message } };
}

/** The advice for callers of the loop; a frontend names its own commands. */
const GENERAL_ADVICE: ContextAdvice = {
  fullContext: 'Compact it, or start a new one.',
  longMessage: 'Shorten it, or let a tool read the text in parts.',
};

function getAdvice({ config }: QueryDeps): ContextAdvice {
  return config.contextAdvice ?? GENERAL_ADVICE;
}

function stopForFullContext(
  messages: readonly Message[],
  tokens: number,
  blockAt: number,
  { longMessage, fullContext }: ContextAdvice,
): ContextPreparationResult {
  const messageTokens = estimatePromptTokens(messages.at(-1));
  const message =
    messageTokens > blockAt
      ? `Your last message takes about ${messageTokens} tokens, and the model accepts ${blockAt}. ${longMessage}`
      : `The conversation takes about ${tokens} tokens, and the model accepts ${blockAt}. ${fullContext}`;
  return { kind: 'stop', terminal: { reason: 'blocking_limit', words: message } };
}

/** Estimates the tokens of a prompt; good enough to tell a long message from a long conversation. */
function estimatePromptTokens(message: Message | undefined): number {
  if (message?.role !== 'user' || message.origin === 'results') return 0;
  const chars = message.blocks.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0);
  return Math.round(chars / CHARS_PER_TOKEN);
}

/** Number of failed compactions in a row after which auto-compaction stops. */
const MAX_FAILED_COMPACTIONS = 3;
/** Detail of a `recovery_end` event for a compaction that was aborted. */
export const ABORTED_COMPACTION_DETAIL = 'stopped';

/** Applies a compaction; one that freed nothing counts as failed, so that the loop cannot compact forever. */
function applyCompaction(state: QueryState, result: Extract<CompactionResult, { ok: true }>): QueryState {
  const isSmaller = result.postTokens < result.preTokens;
  const consecutiveFailures = isSmaller ? 0 : state.compaction.consecutiveFailures + 1;
  return { ...state, messages: result.messages, compaction: { consecutiveFailures, turnsSinceCompact: 0 } };
}

/** Counts a failed compaction. */
function recordFailedCompaction(state: QueryState): QueryState {
  const { consecutiveFailures, turnsSinceCompact } = state.compaction;
  return { ...state, compaction: { consecutiveFailures: consecutiveFailures + 1, turnsSinceCompact } };
}
