import type { Message } from '../../contracts/message.ts';
import type { CacheBreakpoint, ModelRequest, RequestMessage } from '../../contracts/model.ts';
import type { QueryConfig, QueryDeps, QueryState } from '../../contracts/query.ts';
import { memoizeByObject } from '../../lib/memoize.ts';
import { getCurrentModelId } from '../query-state.ts';
import { removeRejectedTools, replaceRejectedRequestParts, stripUnsupportedBlocks } from './rejected-parts.ts';
import { repairMessages, toWellFormedJson } from './repair-messages.ts';

/** Builds the model request from any history; invalid messages are repaired, never rejected. */
export function buildModelRequest(
  view: readonly Message[],
  state: Pick<QueryState, 'modelIndex' | 'maxOutputTokensOverride' | 'excluded'>,
  deps: Pick<QueryDeps, 'modelInfo' | 'system' | 'tools' | 'toolSpecs' | 'toRequestMessages'> & {
    readonly config: Pick<QueryConfig, 'chain' | 'effort' | 'thinkingBudgetTokens' | 'betas'>;
  },
): ModelRequest {
  const model = getCurrentModelId(state, deps);
  const info = deps.modelInfo(model);
  const { excluded } = state;
  const messages = replaceRejectedRequestParts(
    repairMessages(deps.toRequestMessages(stripUnsupportedBlocks(view, model, excluded))),
    excluded,
    repairMessages,
  );
  const { thinkingBudgetTokens, betas } = deps.config;
  return {
    model,
    maxOutputTokens: state.maxOutputTokensOverride ?? info.defaultOutputTokens,
    system: toWellFormedJson(deps.system().filter((part) => part.text.trim() !== '')),
    tools: removeRejectedTools(toWellFormedJson(deps.toolSpecs(deps.tools())), excluded),
    messages,
    breakpoints: selectBreakpoints(messages),
    effort: deps.config.effort,
    ...(thinkingBudgetTokens === undefined ? {} : { thinkingBudgetTokens }),
    ...(betas.length === 0 ? {} : { betas }),
  };
}

/** Converts messages from the last compaction boundary on, without ouro's own message kinds. */
export function toRequestMessages(messages: readonly Message[]): readonly RequestMessage[] {
  const boundaryIndex = messages.findLastIndex((message) => message.role === 'boundary');
  return messages.slice(boundaryIndex + 1).flatMap((message): RequestMessage[] => {
    if (message.role === 'boundary' || message.role === 'custom') return [];
    const isPaused = message.role === 'assistant' && message.stopReason === 'pause_turn' && message === messages.at(-1);
    return [isPaused ? { role: 'assistant', blocks: message.blocks, isPaused } : convertMessage(message)];
  });
}

/** Converts a message, always to the same object, so that what is known about it holds for later requests. */
const convertMessage = memoizeByObject(
  (message: Extract<Message, { role: 'user' | 'assistant' }>): RequestMessage =>
    message.role === 'user' ? { role: 'user', blocks: message.blocks } : { role: 'assistant', blocks: message.blocks },
);

/** Returns the cache breakpoints: after the tools, after the system prompt, and after the last two user messages. */
function selectBreakpoints(messages: readonly RequestMessage[]): readonly CacheBreakpoint[] {
  const userIndexes = messages.flatMap((message, index) => (message.role === 'user' ? [index] : [])).slice(-2);
  const moving = userIndexes.flatMap((index): CacheBreakpoint[] => {
    const block = (messages[index]?.blocks.length ?? 0) - 1;
    return block < 0 ? [] : [{ at: 'message', message: index, block }];
  });
  return [{ at: 'tools' }, { at: 'system' }, ...moving];
}
