import { recacheWarning } from '../../context/report/cache-watch.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { ModelInfo } from '../../contracts/model.ts';
import type { UsageMeter } from '../../model/usage-meter.ts';

/** Below this the cache is not worth a word. */
const WORTH_A_WORD_TOKENS = 2_000;

export type RecacheParts = {
  readonly meter: Pick<UsageMeter, 'contextTokens'>;
  readonly infoOf: (model: string) => ModelInfo;
  readonly tell: (event: AgentEvent) => Promise<void>;
};

/** Says what a change will cost, while it can still be taken back for nothing: the next request sends all of it anew. */
export function warnOfRecache(action: string, model: string, { meter, infoOf, tell }: RecacheParts): void {
  const tokens = meter.contextTokens();
  const info = infoOf(model);
  if (tokens < WORTH_A_WORD_TOKENS || !info.promptCache) return;
  void tell({ type: 'notice', level: 'info', topic: 'cache', text: recacheWarning(action, tokens, info.price) });
}
