import type { LevelRun } from '../../context/reduction/reduction-pipeline.ts';
import {
  createPromptCacheMonitor,
  formatCacheDivergenceNotice,
  formatResendCost,
  renderCacheReport,
} from '../../context/report/prompt-cache-monitor.ts';
import {
  addEventToTimeline,
  addTimelineNote,
  buildTurnTimeline,
  describeReductionLevelRun,
  renderTurnTimeline,
  type TurnTimelineRow,
} from '../../context/report/turn-timeline.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Message, Usage } from '../../contracts/message.ts';
import type { ModelRequest } from '../../contracts/model.ts';
import { computeCostUsd } from '../../model/pricing.ts';
import type { Core } from '../core.ts';

/** Minimum context size for a warning about the prompt cache. */
const MIN_WARNING_TOKENS = 2_000;

/** The log of the turns of the main conversation: prompt cache use and timeline. */
export type TurnLog = {
  onEvent(event: AgentEvent): void;
  /** Records a request before it is sent, and returns it unchanged. */
  recordRequest(request: ModelRequest): ModelRequest;
  /** Records that a context level excluded content. */
  recordLevel(run: LevelRun): void;
  /** Announces an intended change of the cached prefix. */
  expectChange(cause: string): void;
  /** Describes what the next request costs if everything has to be sent again; `undefined` if that is little. */
  describeResend(model: string): string | undefined;
  renderCache(): string;
  renderTimeline(): string;
};

export function createTurnLog(
  { bus, meter, model: { infoOf } }: Pick<Core, 'bus' | 'meter' | 'model'>,
  earlier: readonly Message[],
): TurnLog {
  const watch = createPromptCacheMonitor();
  const computeCost = (model: string, usage: Usage) => computeCostUsd(usage, infoOf(model).price);
  let rows: readonly TurnTimelineRow[] = buildTurnTimeline(earlier, computeCost);
  const notify = (text: string) => void bus.emit({ type: 'notice', level: 'info', topic: 'cache', text });
  return {
    onEvent(event) {
      rows = addEventToTimeline(rows, event, computeCost);
      if (event.type === 'turn_end' && event.usage !== undefined) watch.recordUsage(event.usage);
      const cause = findDivergenceCause(event);
      if (cause !== undefined) watch.announceChange(cause);
    },
    recordRequest(request) {
      const divergence = watch.recordRequest(request);
      if (divergence !== undefined && !divergence.expected) notify(formatCacheDivergenceNotice(divergence));
      return request;
    },
    recordLevel(run) {
      if (run.level === 'budget') return;
      const description = describeReductionLevelRun(run);
      watch.announceChange(description);
      rows = addTimelineNote(rows, description);
    },
    expectChange: watch.announceChange,
    describeResend(model) {
      const tokens = meter.getContextTokens();
      const { promptCache, price } = infoOf(model);
      return tokens >= MIN_WARNING_TOKENS && promptCache ? formatResendCost(tokens, price) : undefined;
    },
    renderCache: () => renderCacheReport(watch.listRows()),
    renderTimeline: () => renderTurnTimeline(rows),
  };
}

/** Returns the cause if the request after this event does not repeat the one before it. */
function findDivergenceCause(event: AgentEvent): string | undefined {
  if (event.type === 'compacted') return 'The conversation was compacted.';
  if (event.type === 'tombstone') return 'A message was withdrawn.';
  if (event.type !== 'recovery_end' || event.outcome !== 'recovered') return undefined;
  if (event.recovery === 'fallback_retry') return 'A fallback model took over.';
  return event.recovery === 'healed' ? 'Content that the provider refused is excluded.' : undefined;
}
