import type { LevelRun } from '../../context/levels/pipeline.ts';
import { createCacheWatch, divergenceNotice, renderCache } from '../../context/report/cache-watch.ts';
import {
  addToTimeline,
  levelWords,
  noteInTimeline,
  renderTimeline,
  type TimelineRow,
} from '../../context/report/timeline.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { ModelRequest } from '../../contracts/model.ts';
import { costUsd } from '../../model/pricing.ts';

/** Watches the cache and keeps the timeline of the main conversation. */
export type Observer = {
  hear(event: AgentEvent): void;
  sent(request: ModelRequest): ModelRequest;
  level(run: LevelRun): void;
  /** Something is about to change the prefix on purpose. */
  expect(cause: string): void;
  renderCache(): string;
  renderTimeline(): string;
};

export function createObserver(tell: (event: AgentEvent) => void): Observer {
  const watch = createCacheWatch();
  let rows: readonly TimelineRow[] = [];
  return {
    hear(event) {
      rows = addToTimeline(rows, event, costUsd);
      if (event.type === 'turn_end' && event.usage !== undefined) watch.answered(event.usage);
      if (event.type === 'compacted') watch.expect('The conversation was compacted.');
      if (event.type === 'tombstone') watch.expect('Something said was taken back.');
      if (event.type === 'recovery_end' && event.outcome === 'recovered') {
        if (event.recovery === 'fallback_retry') watch.expect('Another model took over.');
        if (event.recovery === 'healed') watch.expect('What the provider refused is left out.');
      }
    },
    sent(request) {
      const divergence = watch.sent(request);
      if (divergence !== undefined && !divergence.expected) {
        tell({ type: 'notice', level: 'info', topic: 'cache', text: divergenceNotice(divergence) });
      }
      return request;
    },
    level(run) {
      if (run.level === 'budget') return;
      const words = levelWords(run);
      watch.expect(words);
      rows = noteInTimeline(rows, words);
    },
    expect: watch.expect,
    renderCache: () => renderCache(watch.rows()),
    renderTimeline: () => renderTimeline(rows),
  };
}
