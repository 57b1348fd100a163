import type { LevelRun } from '../../context/levels/pipeline.ts';
import { createCacheWatch, divergenceNotice, renderCache, resendWarning } from '../../context/report/cache-watch.ts';
import {
  addToTimeline,
  levelWords,
  noteInTimeline,
  renderTimeline,
  type TimelineRow,
  timelineOf,
} from '../../context/report/timeline.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Message, Usage } from '../../contracts/message.ts';
import type { ModelRequest } from '../../contracts/model.ts';
import { costUsd } from '../../model/pricing.ts';
import type { Core } from '../core.ts';

/** Below this the cache is not worth a word. */
const WORTH_A_WORD_TOKENS = 2_000;

/** Watches the cache and keeps the timeline of the main conversation. */
export type TurnLog = {
  hear(event: AgentEvent): void;
  sent(request: ModelRequest): ModelRequest;
  level(run: LevelRun): void;
  /** Something is about to change the prefix on purpose. */
  expect(cause: string): void;
  /** Says what a change will cost, while it can still be taken back for nothing: the next request sends all of it anew. */
  warnOfResend(action: string, model: string): void;
  renderCache(): string;
  renderTimeline(): string;
};

export function createTurnLog(
  { bus, meter, model: { infoOf } }: Pick<Core, 'bus' | 'meter' | 'model'>,
  earlier: readonly Message[],
): TurnLog {
  const watch = createCacheWatch();
  const costOf = (model: string, usage: Usage) => costUsd(usage, infoOf(model).price);
  let rows: readonly TimelineRow[] = timelineOf(earlier, costOf);
  const tell = (text: string) => void bus.tell({ type: 'notice', level: 'info', topic: 'cache', text });
  return {
    hear(event) {
      rows = addToTimeline(rows, event, costOf);
      if (event.type === 'turn_end' && event.usage !== undefined) watch.answered(event.usage);
      const cause = causeOf(event);
      if (cause !== undefined) watch.expect(cause);
    },
    sent(request) {
      const divergence = watch.sent(request);
      if (divergence !== undefined && !divergence.expected) tell(divergenceNotice(divergence));
      return request;
    },
    level(run) {
      if (run.level === 'budget') return;
      const words = levelWords(run);
      watch.expect(words);
      rows = noteInTimeline(rows, words);
    },
    expect: watch.expect,
    warnOfResend(action, model) {
      const tokens = meter.contextTokens();
      const info = infoOf(model);
      if (tokens >= WORTH_A_WORD_TOKENS && info.promptCache) tell(resendWarning(action, tokens, info.price));
    },
    renderCache: () => renderCache(watch.rows()),
    renderTimeline: () => renderTimeline(rows),
  };
}

/** Why the request after this event does not repeat the one before it. */
function causeOf(event: AgentEvent): string | undefined {
  if (event.type === 'compacted') return 'The conversation was compacted.';
  if (event.type === 'tombstone') return 'Something said was taken back.';
  if (event.type !== 'recovery_end' || event.outcome !== 'recovered') return undefined;
  if (event.recovery === 'fallback_retry') return 'Another model took over.';
  return event.recovery === 'healed' ? 'What the provider refused is left out.' : undefined;
}
