import type { AgentEvent } from '../../contracts/event.ts';
import type { Message, Usage } from '../../contracts/message.ts';
import type { ModelFailure } from '../../contracts/model.ts';
import type { ContinueReason } from '../../contracts/terminal.ts';
import { formatCount, formatDuration, formatMoney, formatTokens } from '../../lib/text/format.ts';
import type { LevelRun } from '../levels/pipeline.ts';

/** One turn as `/timeline` shows it. */
export type TimelineRow = {
  readonly turn: number;
  readonly model: string;
  /** Why there was another turn after it; absent for the last one of a query. */
  readonly transition?: ContinueReason;
  readonly usage?: Usage;
  readonly costUsd?: number;
  readonly durationMs?: number;
  readonly firstTokenMs?: number;
  readonly retries: number;
  readonly calls: number;
  readonly failure?: string;
  /** What happened to the context before or after it, in words. */
  readonly notes: readonly string[];
};

const MAX_ROWS = 1_000;

/** The turns of earlier runs, as far as the conversation still holds them. */
export function timelineOf(
  messages: readonly Message[],
  costOf: (model: string, usage: Usage) => number | undefined,
): readonly TimelineRow[] {
  const replies = messages.filter((message) => message.role === 'assistant').slice(-MAX_ROWS);
  return replies.map(({ model, usage, blocks }, at) => {
    const calls = blocks.filter(({ type }) => type === 'tool_use').length;
    const costUsd = usage === undefined ? undefined : costOf(model, usage);
    return {
      turn: at + 1,
      model,
      retries: 0,
      calls,
      notes: at + 1 === replies.length ? ['the session was left and resumed after this'] : [],
      ...(usage === undefined ? {} : { usage }),
      ...(costUsd === undefined ? {} : { costUsd }),
      ...(calls > 0 ? { transition: 'next_turn' as const } : {}),
    };
  });
}

/** The next state of the timeline; everything it needs is in the events. */
export function addToTimeline(
  rows: readonly TimelineRow[],
  event: AgentEvent,
  costOf: (model: string, usage: Usage) => number | undefined,
): readonly TimelineRow[] {
  switch (event.type) {
    case 'turn_start': {
      // Each query counts its turns from one; here they are those of the conversation.
      const turn = (rows.at(-1)?.turn ?? 0) + 1;
      return [...rows.slice(1 - MAX_ROWS), { turn, model: event.model, retries: 0, calls: 0, notes: [] }];
    }
    case 'turn_end': {
      const costUsd = event.usage === undefined ? undefined : costOf(event.model, event.usage);
      return changeLast(rows, () => ({
        durationMs: event.durationMs,
        ...(event.usage === undefined ? {} : { usage: event.usage }),
        ...(costUsd === undefined ? {} : { costUsd }),
        ...(event.firstTokenMs === undefined ? {} : { firstTokenMs: event.firstTokenMs }),
        ...(event.failure === undefined ? {} : { failure: inWords(event.failure) }),
      }));
    }
    case 'retry':
      return changeLast(rows, (row) => ({ retries: row.retries + 1 }));
    case 'tool_end':
      return changeLast(rows, (row) => ({ calls: row.calls + 1 }));
    case 'transition':
      return changeLast(rows, () => ({ transition: event.reason }));
    case 'compacted':
      return changeLast(rows, (row) => ({
        notes: [
          ...row.notes,
          `compacted: ${formatTokens(event.boundary.preTokens)} → ${formatTokens(event.postTokens)} tokens`,
        ],
      }));
    default:
      return rows;
  }
}

/** Adds a remark to the newest turn: a level that made room, a cache that was lost. */
export function noteInTimeline(rows: readonly TimelineRow[], note: string): readonly TimelineRow[] {
  return changeLast(rows, (row) => ({ notes: [...row.notes, note] }));
}

/** `/timeline` in Markdown. */
export function renderTimeline(rows: readonly TimelineRow[], shown = 30): string {
  if (rows.length === 0) return 'Nothing has happened yet.';
  const lines = rows.slice(-shown).map((row) => {
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
        .filter((word) => word !== undefined)
        .join('; ')
        .replaceAll('|', '\\|'),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const head = '| turn | then | in | out | cached | cost | time | calls | retries | notes |';
  return [head, '|---|---|---|---|---|---|---|---|---|---|', ...lines].join('\n');
}

/** A table has no room for the whole message, which was told when it happened. */
function inWords({ kind, status }: ModelFailure): string {
  return `${kind.replaceAll('_', ' ')}${status === undefined ? '' : ` (${status})`}`;
}

function changeLast(
  rows: readonly TimelineRow[],
  change: (row: TimelineRow) => Partial<TimelineRow>,
): readonly TimelineRow[] {
  const last = rows.at(-1);
  return last === undefined ? rows : [...rows.slice(0, -1), { ...last, ...change(last) }];
}

/** What a level did, for `/timeline`, and as the cause of a cache that had to be written anew. */
export function levelWords({ level, blocks, freedTokens }: LevelRun): string {
  const freed = `${formatTokens(freedTokens)} tokens freed`;
  switch (level) {
    case 'provider':
      return `${formatCount(blocks, 'old result')} left out by the provider, ${freed}`;
    case 'budget':
      return 'a result over its limit became a preview';
    case 'snip':
      return `${formatCount(blocks, 'old result')} left out, ${freed}`;
    case 'microcompact':
      return `${formatCount(blocks, 'repeated result')} left out, ${freed}`;
    case 'collapse':
      return `${formatCount(blocks, 'run')} of searches folded, ${freed}`;
    case 'compact':
      return `the conversation was compacted, ${freed}`;
  }
}
