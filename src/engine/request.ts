import type { Message } from '../contracts/message.ts';
import type { CacheBreakpoint, ModelRequest, RequestMessage } from '../contracts/model.ts';
import type { QueryConfig, QueryDeps, QueryState } from '../contracts/query.ts';
import { modelOf } from './model-of.ts';
import { alternate } from './repair/alternate.ts';
import { cleanReplies } from './repair/clean-replies.ts';
import { leaveOut } from './repair/leave-out.ts';
import { pairResults } from './repair/pair-results.ts';
import { withoutRefused, withoutRefusedTools } from './repair/refused.ts';
import { wellFormed } from './repair/well-formed.ts';

/** The one place that builds a request. Whatever the history looks like, what comes out is valid: repair, never throw. */
export function buildRequest(
  view: readonly Message[],
  state: Pick<QueryState, 'modelIndex' | 'maxOutputTokensOverride' | 'stripped'>,
  deps: Pick<QueryDeps, 'modelInfo' | 'system' | 'tools' | 'toolSpecs' | 'toRequestMessages'> & {
    readonly config: Pick<QueryConfig, 'chain' | 'effort' | 'thinkingBudgetTokens' | 'betas'>;
  },
): ModelRequest {
  const model = modelOf(state, deps);
  const info = deps.modelInfo(model);
  const { stripped } = state;
  const messages = withoutRefused(repair(deps.toRequestMessages(leaveOut(view, model, stripped))), stripped, repair);
  const { thinkingBudgetTokens, betas } = deps.config;
  return {
    model,
    maxOutputTokens: state.maxOutputTokensOverride ?? info.defaultOutputTokens,
    system: wellFormed(deps.system().filter((part) => part.text.trim() !== '')),
    tools: withoutRefusedTools(wellFormed(deps.toolSpecs(deps.tools())), stripped),
    messages,
    breakpoints: breakpointsOf(messages),
    effort: deps.config.effort,
    ...(thinkingBudgetTokens === undefined ? {} : { thinkingBudgetTokens }),
    ...(betas.length === 0 ? {} : { betas }),
  };
}

/**
 * The twelve invariants, as steps that each leave a valid list valid.
 * @internal Exported for tests.
 */
export function repair(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  return wellFormed(alternate(pairResults(cleanReplies(messages))));
}

/** Drops our own message kinds; what a compaction left behind begins at its boundary. */
export function toRequestMessages(messages: readonly Message[]): readonly RequestMessage[] {
  const from = messages.findLastIndex((message) => message.role === 'boundary');
  return messages.slice(from + 1).flatMap((message): RequestMessage[] => {
    if (message.role === 'boundary' || message.role === 'custom') return [];
    if (message.role === 'user') return [{ role: 'user', blocks: message.blocks }];
    const isPaused = message.stopReason === 'pause_turn' && message === messages.at(-1);
    return [{ role: 'assistant', blocks: message.blocks, ...(isPaused ? { isPaused } : {}) }];
  });
}

/** End of tools, end of system, and two that move along the messages: the newest end and the one before it. */
function breakpointsOf(messages: readonly RequestMessage[]): readonly CacheBreakpoint[] {
  const users = messages.flatMap((message, index) => (message.role === 'user' ? [index] : [])).slice(-2);
  const moving = users.flatMap((index): CacheBreakpoint[] => {
    const block = (messages[index]?.blocks.length ?? 0) - 1;
    return block < 0 ? [] : [{ at: 'message', message: index, block }];
  });
  return [{ at: 'tools' }, { at: 'system' }, ...moving];
}
