import type { Usage } from '../../contracts/message.ts';
import type { ModelPrice, ModelRequest } from '../../contracts/model.ts';
import { formatCount, formatMoney, formatTokens } from '../../lib/text/format.ts';
import { truncateEnd } from '../../lib/text/text-width.ts';
import { estimateTextTokens, sumNumbers } from '../token-estimate.ts';
import { findRequestDifference, type RequestPartLocation } from './request-diff.ts';

/** The first point where a request differs from the previous one, and why. */
export type CacheDivergence = {
  readonly location: RequestPartLocation;
  readonly cause: string;
  /** True when it was announced, such as a reduced context or a rewind. */
  readonly expected: boolean;
  /** Cached tokens that have to be sent again. */
  readonly tokens: number;
};

/** One request as shown by `/cache`. */
export type CacheReportRow = {
  readonly request: number;
  readonly model: string;
  readonly usage?: Usage;
  /** Share of the prompt that was read from the cache. */
  readonly hitRatio?: number;
  readonly divergence?: CacheDivergence;
};

/** A monitor of the prompt cache. */
export type PromptCacheMonitor = {
  /** Announces an intended change, which explains the next divergence. */
  announceChange(cause: string): void;
  /** Compares a request with the previous one. */
  recordRequest(request: ModelRequest): CacheDivergence | undefined;
  /** Adds the API's counts for the last request. */
  recordUsage(usage: Usage): void;
  listRows(): readonly CacheReportRow[];
  /** Forgets all requests after a deliberate restart, so that the next one cannot diverge. */
  reset(): void;
};

const MAX_ROWS = 200;

/** Creates a monitor that checks that each request starts with the bytes of the previous one; only those are cached. */
export function createPromptCacheMonitor(): PromptCacheMonitor {
  let previous: ModelRequest | undefined;
  // Each model has its own cache, which stays valid while another model answers.
  const lastByModel = new Map<string, ModelRequest>();
  let announcedCauses: string[] = [];
  let rows: readonly CacheReportRow[] = [];
  let count = 0;
  return {
    announceChange: (cause) => {
      if (!announcedCauses.includes(cause)) announcedCauses.push(cause);
    },
    recordRequest: (request) => {
      const before = lastByModel.get(request.model) ?? previous;
      const divergence = before === undefined ? undefined : detectDivergence(before, request, announcedCauses);
      previous = request;
      lastByModel.set(request.model, request);
      announcedCauses = [];
      count += 1;
      const row = { request: count, model: request.model, ...(divergence === undefined ? {} : { divergence }) };
      rows = [...rows.slice(1 - MAX_ROWS), row];
      return divergence;
    },
    recordUsage: (usage) => {
      const newest = rows.at(-1);
      if (newest === undefined) return;
      const all = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
      const hitRatio = all === 0 ? 0 : usage.cacheReadTokens / all;
      rows = [...rows.slice(0, -1), { ...newest, usage, hitRatio }];
    },
    listRows: () => rows,
    reset: () => {
      previous = undefined;
      lastByModel.clear();
      announcedCauses = [];
    },
  };
}

/** Columns for the cause in a notice, so that the notice takes one row; `/cache` shows all of it. */
const CAUSE_COLUMNS = 36;

/** Formats the notice about an unannounced divergence, in one row. */
export function formatCacheDivergenceNotice({ location, cause, tokens }: CacheDivergence): string {
  const reason = truncateEnd(`${location.name}: ${cause}`, CAUSE_COLUMNS);
  return `Prompt cache: ${formatTokens(tokens)} tokens are sent again (${reason}).`;
}

/** Formats what the next turn costs after a change that drops the cache: `resends 120k tokens (about $0.75)`. */
export function formatResendCost(tokens: number, price: ModelPrice | undefined): string {
  const costs =
    price === undefined ? '' : ` (about ${formatMoney((tokens * getCacheWritePrice(price, tokens)) / 1_000_000)})`;
  return `resends ${formatTokens(tokens)} tokens${costs}`;
}

/** Renders `/cache` as Markdown. */
export function renderCacheReport(rows: readonly CacheReportRow[], maxRows = 20): string {
  if (rows.length === 0) return 'No request has been sent yet.';
  const lines = rows.slice(-maxRows).map((row) => {
    const usage = row.usage;
    const counts =
      usage === undefined
        ? '– | – | – | –'
        : `${Math.round(100 * (row.hitRatio ?? 0))}% | ${[usage.cacheReadTokens, usage.cacheWriteTokens, usage.inputTokens].map(formatTokens).join(' | ')}`;
    const why = row.divergence === undefined ? '' : `${row.divergence.location.name}: ${row.divergence.cause}`;
    return `| ${row.request} | ${counts} | ${why.replaceAll('|', '\\|')} |`;
  });
  const breaks = rows.filter((row) => row.divergence !== undefined).length;
  return [
    '| # | hit | read | written | uncached | first difference |',
    '|---|---|---|---|---|---|',
    ...lines,
    '',
    `${formatCount(rows.length, 'request')}, ${breaks === 0 ? 'none' : breaks} with a changed prefix.`,
  ].join('\n');
}

function getCacheWritePrice(price: ModelPrice, tokens: number): number {
  return price.long !== undefined && tokens > price.long.aboveTokens ? price.long.cacheWrite : price.cacheWrite;
}

function detectDivergence(
  before: ModelRequest,
  after: ModelRequest,
  announced: readonly string[],
): CacheDivergence | undefined {
  const difference = findRequestDifference(before, after);
  if (difference === undefined) return undefined;
  const { part } = difference.location;
  return {
    location: difference.location,
    cause: part === 'message' && announced.length > 0 ? announced.join(', ') : difference.cause,
    // A changed model was chosen by the user or announced to them; changed tools are reported in any case.
    expected: announced.length > 0 && (part === 'message' || part === 'model'),
    tokens: sumNumbers(difference.lost.map((text) => estimateTextTokens(text))),
  };
}
