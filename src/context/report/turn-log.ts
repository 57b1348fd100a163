import type { AgentEvent } from '../../contracts/event.ts';
import type { Message, Usage } from '../../contracts/message.ts';
import type { ModelFailure, ModelInfo, ModelRequest } from '../../contracts/model.ts';
import type { SessionCore } from '../../contracts/session-core.ts';
import type { ContinueReason } from '../../contracts/terminal-reason.ts';
import { omitUndefined } from '../../lib/json.ts';
import { formatCount, formatDuration, formatMoney, formatTokens } from '../../lib/text/format.ts';
import { computeCostUsd } from '../../model/pricing.ts';
import type { UsageMeter } from '../../model/usage-meter.ts';
import type { LevelRun } from '../reduction/reduction-pipeline.ts';
import {
  createPromptCacheMonitor,
  formatCacheDivergenceNotice,
  formatResendCost,
  renderCacheReport,
} from './prompt-cache-monitor.ts';

/** Minimum context size for a warning about the prompt cache. */
const MIN_WARNING_TOKENS = 2_000;

/** The log of the turns of the main conversation: prompt cache use and timeline. */
export type TurnLog = ReturnType<typeof createTurnLog>;

type TurnLogCore = Pick<SessionCore, 'bus'> & {
  readonly meter: UsageMeter;
  readonly model: { readonly infoOf: (model: string) => ModelInfo };
};

/** Creates the log, with the turns of earlier messages. */
export function createTurnLog({ bus, meter, model: { infoOf } }: TurnLogCore, earlier: readonly Message[]) {
  const watch = createPromptCacheMonitor();
  const computeCost = (model: string, usage: Usage) => computeCostUsd(usage, infoOf(model).price);
  let rows: readonly TurnTimelineRow[] = buildTurnTimeline(earlier, computeCost);
  let clearedBefore = { results: 0, tokens: 0 };
  const notify = (text: string) => void bus.emit({ type: 'notice', level: 'info', topic: 'cache', text });

  /** Records that a context level excluded content. */
  function recordLevel(run: LevelRun): void {
    if (run.level === 'budget') return;
    const description = describeReductionLevelRun(run);
    watch.announceChange(description);
    rows = addTimelineNote(rows, description);
  }

  /** Records the results that the provider excludes by itself. */
  function recordClearing(event: AgentEvent): void {
    if (event.type === 'compacted') clearedBefore = { results: 0, tokens: 0 };
    const cleared = event.type === 'turn_end' ? event.usage?.cleared : undefined;
    if (cleared === undefined || cleared.results <= clearedBefore.results) return;
    const blocks = cleared.results - clearedBefore.results;
    recordLevel({ level: 'provider', blocks, freedTokens: cleared.tokens - clearedBefore.tokens });
    clearedBefore = cleared;
  }

  return {
    name: 'turn log',
    onEvent(event: AgentEvent) {
      recordClearing(event);
      rows = addEventToTimeline(rows, event, computeCost);
      if (event.type === 'turn_end' && event.usage !== undefined) watch.recordUsage(event.usage);
      const cause = findDivergenceCause(event);
      if (cause !== undefined) watch.announceChange(cause);
    },
    /** Records a request before it is sent, and returns it unchanged. */
    recordRequest(request: ModelRequest): ModelRequest {
      const divergence = watch.recordRequest(request);
      if (divergence !== undefined && !divergence.expected) notify(formatCacheDivergenceNotice(divergence));
      return request;
    },
    recordLevel,
    /** Announces an intended change of the cached prefix. */
    expectCacheMiss: watch.announceChange,
    /** Describes what the next request costs if everything has to be sent again; `undefined` if that is little. */
    describeResend(model: string): string | undefined {
      const tokens = meter.getContextTokens();
      const { promptCache, price } = infoOf(model);
      return tokens >= MIN_WARNING_TOKENS && promptCache ? formatResendCost(tokens, price) : undefined;
    },
    renderCache: (): string => renderCacheReport(watch.listRows()),
    renderTimeline: (): string => renderTurnTimeline(rows),
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

/** One turn as shown by `/timeline`. */
export type TurnTimelineRow = {
  readonly turn: number;
  readonly model: string;
  /** Reason of the turn that followed; absent for the last turn of a query. */
  readonly transition?: ContinueReason;
  readonly usage?: Usage;
  readonly costUsd?: number;
  readonly durationMs?: number;
  readonly firstTokenMs?: number;
  readonly retries: number;
  readonly calls: number;
  readonly failure?: string;
  /** Remarks about the context before or after the turn. */
  readonly notes: readonly string[];
};

const MAX_ROWS = 1_000;

/** Builds the timeline of earlier runs from the messages still in the conversation. */
function buildTurnTimeline(
  messages: readonly Message[],
  getCost: (model: string, usage: Usage) => number | undefined,
): readonly TurnTimelineRow[] {
  const replies = messages.filter((message) => message.role === 'assistant').slice(-MAX_ROWS);
  return replies.map(({ model, usage, blocks }, index) => {
    const calls = blocks.filter(({ type }) => type === 'tool_use').length;
    const costUsd = usage === undefined ? undefined : getCost(model, usage);
    return {
      turn: index + 1,
      model,
      retries: 0,
      calls,
      notes: index + 1 === replies.length ? ['the session was resumed after this turn'] : [],
      ...omitUndefined({ usage, costUsd }),
      ...(calls > 0 ? { transition: 'next_turn' as const } : {}),
    };
  });
}

/** Returns the timeline after an event. @internal Exported for tests. */
export function addEventToTimeline(
  rows: readonly TurnTimelineRow[],
  event: AgentEvent,
  getCost: (model: string, usage: Usage) => number | undefined,
): readonly TurnTimelineRow[] {
  switch (event.type) {
    case 'turn_start': {
      // Each query numbers its turns from one; the timeline counts those of the conversation.
      const turn = (rows.at(-1)?.turn ?? 0) + 1;
      return [...rows.slice(1 - MAX_ROWS), { turn, model: event.model, retries: 0, calls: 0, notes: [] }];
    }
    case 'turn_end': {
      const costUsd = event.usage === undefined ? undefined : getCost(event.model, event.usage);
      return updateLast(rows, () => ({
        durationMs: event.durationMs,
        ...omitUndefined({ usage: event.usage, costUsd, firstTokenMs: event.firstTokenMs }),
        ...(event.failure === undefined ? {} : { failure: describeFailure(event.failure) }),
      }));
    }
    case 'retry':
      return updateLast(rows, (row) => ({ retries: row.retries + 1 }));
    case 'tool_end':
      return updateLast(rows, (row) => ({ calls: row.calls + 1 }));
    case 'transition':
      return updateLast(rows, () => ({ transition: event.reason }));
    case 'compacted':
      return updateLast(rows, (row) => ({
        notes: [
          ...row.notes,
          `compacted: ${formatTokens(event.boundary.preTokens)} → ${formatTokens(event.postTokens)} tokens`,
        ],
      }));
    default:
      return rows;
  }
}

/** Adds a remark to the newest turn, such as a reduced context or a lost cache. @internal Exported for tests. */
export function addTimelineNote(rows: readonly TurnTimelineRow[], note: string): readonly TurnTimelineRow[] {
  return updateLast(rows, (row) => ({ notes: [...row.notes, note] }));
}

/** Renders `/timeline` as Markdown. @internal Exported for tests. */
export function renderTurnTimeline(rows: readonly TurnTimelineRow[], maxRows = 30): string {
  if (rows.length === 0) return 'There are no turns yet.';
  const lines = rows.slice(-maxRows).map((row) => {
    const { usage } = row;
    const prompt = usage === undefined ? 0 : usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
    const cells = [
      String(row.turn),
      row.transition ?? 'end',
      usage === undefined ? '–' : formatTokens(prompt),
      usage === undefined ? '–' : formatTokens(usage.outputTokens),
      usage === undefined || prompt === 0 ? '–' : `${Math.round((100 * usage.cacheReadTokens) / prompt)}%`,
      row.costUsd === undefined ? '–' : formatMoney(row.costUsd),
      row.durationMs === undefined ? '–' : formatDuration(row.durationMs),
      String(row.calls),
      String(row.retries),
      [row.failure, ...row.notes]
        .filter((note) => note !== undefined)
        .join('; ')
        .replaceAll('|', '\\|'),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const head = '| turn | then | in | out | cached | cost | time | calls | retries | notes |';
  return [head, '|---|---|---|---|---|---|---|---|---|---|', ...lines].join('\n');
}

/** Shortens a failure to its kind and status; the full message was shown when it happened. */
function describeFailure({ kind, status }: ModelFailure): string {
  return `${kind.replaceAll('_', ' ')}${status === undefined ? '' : ` (${status})`}`;
}

function updateLast(
  rows: readonly TurnTimelineRow[],
  change: (row: TurnTimelineRow) => Partial<TurnTimelineRow>,
): readonly TurnTimelineRow[] {
  const last = rows.at(-1);
  return last === undefined ? rows : [...rows.slice(0, -1), { ...last, ...change(last) }];
}

/** Describes what a level did, for `/timeline` and as the cause of a changed request prefix. @internal */
export function describeReductionLevelRun({ level, blocks, freedTokens }: LevelRun): string {
  const freed = `${formatTokens(freedTokens)} tokens freed`;
  switch (level) {
    case 'provider':
      return `${formatCount(blocks, 'old result')} dropped by the provider, ${freed}`;
    case 'budget':
      return 'a result over its limit was replaced by a preview';
    case 'snip':
      return `${formatCount(blocks, 'old result')} dropped, ${freed}`;
    case 'microcompact':
      return `${formatCount(blocks, 'repeated result')} dropped, ${freed}`;
    case 'collapse':
      return `${formatCount(blocks, 'run')} of searches collapsed, ${freed}`;
    case 'compact':
      return `the conversation was compacted, ${freed}`;
  }
}
