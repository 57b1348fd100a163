import type { Effort } from '../contracts/model.ts';

/** Room for thinking asks for thinking: without a word on effort, the budget says how much. */
export function thinkingEffort(effort: Effort, thinkingTokens: number | undefined): Effort {
  if (effort !== 'off' || thinkingTokens === undefined || thinkingTokens === 0) return effort;
  if (thinkingTokens < 8_000) return 'low';
  return thinkingTokens < 16_000 ? 'medium' : 'high';
}
