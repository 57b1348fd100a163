import type { Usage } from '../../contracts/message.ts';
import type { ModelPrice, ModelRequest } from '../../contracts/model.ts';
import { formatCount, formatMoney, formatTokens } from '../../lib/text/format.ts';
import { sum, textTokens } from '../tokens.ts';
import { firstDifference, type Place } from './request-diff.ts';

/** Where a request stopped repeating the one before it, and why. */
export type Divergence = {
  readonly place: Place;
  readonly cause: string;
  /** Somebody announced it: a level made room, the user rewound. */
  readonly expected: boolean;
  /** Tokens that were cached and are sent anew. */
  readonly tokens: number;
};

/** One request as `/cache` shows it. */
export type CacheRow = {
  readonly request: number;
  readonly model: string;
  readonly usage?: Usage;
  /** Share of the prompt that came out of the cache. */
  readonly hitRatio?: number;
  readonly divergence?: Divergence;
};

export type CacheWatch = {
  /** Says what is about to be changed on purpose; it explains the next divergence. */
  expect(cause: string): void;
  /** Compares a request with the one before it. */
  sent(request: ModelRequest): Divergence | undefined;
  /** What the API counted for the last request. */
  answered(usage: Usage): void;
  rows(): readonly CacheRow[];
  /** After a deliberate new start nothing is cached, so nothing can diverge. */
  reset(): void;
};

const MAX_ROWS = 200;

/** Watches that each request begins with the bytes of the one before it, for only those are cached. */
export function createCacheWatch(): CacheWatch {
  let previous: ModelRequest | undefined;
  // Each model has a cache of its own, which waits while another one answers.
  const last = new Map<string, ModelRequest>();
  let announced: string[] = [];
  let rows: readonly CacheRow[] = [];
  let count = 0;
  return {
    expect: (cause) => {
      if (!announced.includes(cause)) announced.push(cause);
    },
    sent: (request) => {
      const before = last.get(request.model) ?? previous;
      const divergence = before === undefined ? undefined : diverge(before, request, announced);
      previous = request;
      last.set(request.model, request);
      announced = [];
      count += 1;
      const row = { request: count, model: request.model, ...(divergence === undefined ? {} : { divergence }) };
      rows = [...rows.slice(1 - MAX_ROWS), row];
      return divergence;
    },
    answered: (usage) => {
      const newest = rows.at(-1);
      if (newest === undefined) return;
      const all = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
      const hitRatio = all === 0 ? 0 : usage.cacheReadTokens / all;
      rows = [...rows.slice(0, -1), { ...newest, usage, hitRatio }];
    },
    rows: () => rows,
    reset: () => {
      previous = undefined;
      last.clear();
      announced = [];
    },
  };
}

/** What to tell the person when a request diverged without anybody having said so. */
export function divergenceNotice({ place, cause, tokens }: Divergence): string {
  return `The request no longer begins like the one before it (${place.name}: ${cause}); this re-caches ${formatTokens(tokens)} tokens.`;
}

/** What an action costs that throws the cache away, before it is taken: `Switching the model sends 120k tokens anew, about $0.75.` */
export function resendWarning(action: string, tokens: number, price: ModelPrice | undefined): string {
  const costs = price === undefined ? '' : `, about ${formatMoney((tokens * rateOf(price, tokens)) / 1_000_000)}`;
  return `${action} sends ${formatTokens(tokens)} ${tokens === 1 ? 'token' : 'tokens'} anew${costs}.`;
}

/** `/cache` in Markdown. */
export function renderCache(rows: readonly CacheRow[], shown = 20): string {
  if (rows.length === 0) return 'Nothing has been sent yet.';
  const lines = rows.slice(-shown).map((row) => {
    const usage = row.usage;
    const counts =
      usage === undefined
        ? '– | – | – | –'
        : `${Math.round(100 * (row.hitRatio ?? 0))}% | ${[usage.cacheReadTokens, usage.cacheWriteTokens, usage.inputTokens].map(formatTokens).join(' | ')}`;
    const why = row.divergence === undefined ? '' : `${row.divergence.place.name}: ${row.divergence.cause}`;
    return `| ${row.request} | ${counts} | ${why.replaceAll('|', '\\|')} |`;
  });
  const breaks = rows.filter((row) => row.divergence !== undefined).length;
  return [
    '| # | hit | read | written | uncached | first difference |',
    '|---|---|---|---|---|---|',
    ...lines,
    '',
    `${formatCount(rows.length, 'request')}, ${breaks === 0 ? 'each beginning with the bytes of the one before' : `${breaks} with another beginning`}.`,
  ].join('\n');
}

function rateOf(price: ModelPrice, tokens: number): number {
  return price.long !== undefined && tokens > price.long.aboveTokens ? price.long.cacheWrite : price.cacheWrite;
}

function diverge(before: ModelRequest, after: ModelRequest, announced: readonly string[]): Divergence | undefined {
  const found = firstDifference(before, after);
  if (found === undefined) return undefined;
  const { part } = found.place;
  return {
    place: found.place,
    cause: part === 'message' && announced.length > 0 ? announced.join(', ') : found.cause,
    // The person chose the model, or was told of it; what tools do to the cache is worth a word all the same.
    expected: announced.length > 0 && (part === 'message' || part === 'model'),
    tokens: sum(found.lost.map((text) => textTokens(text))),
  };
}
