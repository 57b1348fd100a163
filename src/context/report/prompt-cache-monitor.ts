import type { Usage } from '../../contracts/message.ts';
import type { ModelPrice, ModelRequest, RequestMessage, SystemPart, ToolSpec } from '../../contracts/model.ts';
import { formatCount, formatMoney, formatTokens } from '../../lib/text/format.ts';
import { truncateEnd } from '../../lib/text/text-width.ts';
import { estimateTextTokens, sumNumbers } from '../token-estimate.ts';

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

const MAX_ROWS = 200;

/** Creates a monitor that checks that each request starts with the bytes of the previous one; only those are cached. */
export function createPromptCacheMonitor() {
  let previous: ModelRequest | undefined;
  // Each model has its own cache, which stays valid while another model answers.
  const lastByModel = new Map<string, ModelRequest>();
  let announcedCauses: string[] = [];
  let rows: readonly CacheReportRow[] = [];
  let count = 0;
  return {
    /** Announces an intended change, which explains the next divergence. */
    announceChange: (cause: string) => {
      if (!announcedCauses.includes(cause)) announcedCauses.push(cause);
    },
    /** Compares a request with the previous one. */
    recordRequest: (request: ModelRequest): CacheDivergence | undefined => {
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
    /** Adds the API's counts for the last request. */
    recordUsage: (usage: Usage) => {
      const newest = rows.at(-1);
      if (newest === undefined) return;
      const all = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
      const hitRatio = all === 0 ? 0 : usage.cacheReadTokens / all;
      rows = [...rows.slice(0, -1), { ...newest, usage, hitRatio }];
    },
    listRows: (): readonly CacheReportRow[] => rows,
    /** Forgets all requests after a deliberate restart, so that the next one cannot diverge. */
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

/** A part of a request. Providers cache the parts in this order. */
type RequestPartLocation = {
  readonly part: 'model' | 'tools' | 'system' | 'message';
  readonly name: string;
};

/** The first difference between two requests. */
type RequestDifference = {
  readonly location: RequestPartLocation;
  readonly cause: string;
  /** Texts of the earlier request from this part on. */
  readonly lost: readonly string[];
};

/**
 * Finds the first part where a request does not repeat the previous one; added messages at the end do not count.
 * @internal Exported for tests.
 */
export function findRequestDifference(before: ModelRequest, after: ModelRequest): RequestDifference | undefined {
  const messages = () => before.messages.map(serialize);
  const system = () => before.system.map((part) => part.text);
  const everything = () => [...before.tools.map(serialize), ...system(), ...messages()];
  if (before.model !== after.model) {
    const cause = `the model changed from ${before.model} to ${after.model}`;
    return { location: { part: 'model', name: 'model' }, cause, lost: everything() };
  }
  const tools = describeToolChange(before.tools, after.tools);
  if (tools !== undefined) return { location: { part: 'tools', name: 'tools' }, cause: tools, lost: everything() };
  const part = findSystemChange(before.system, after.system);
  if (part !== undefined) {
    const location: RequestPartLocation = { part: 'system', name: `system prompt, ${part.name}` };
    return { location, cause: part.cause, lost: [...system().slice(part.index), ...messages()] };
  }
  const thinking = describeThinkingChange(before, after);
  if (thinking !== undefined) {
    return { location: { part: 'message', name: 'thinking' }, cause: thinking, lost: messages() };
  }
  return findMessageChange(before.messages, after.messages);
}

/** A change of effort or thinking budget invalidates the cached messages. */
function describeThinkingChange(before: ModelRequest, after: ModelRequest): string | undefined {
  if (before.effort !== after.effort) return `the effort changed from ${before.effort} to ${after.effort}`;
  return before.thinkingBudgetTokens === after.thinkingBudgetTokens ? undefined : 'the thinking budget changed';
}

function describeToolChange(before: readonly ToolSpec[], after: readonly ToolSpec[]): string | undefined {
  if (before.length === after.length && before.every((tool, index) => isSame(tool, after[index]))) return undefined;
  const names = (tools: readonly ToolSpec[]) => tools.map((tool) => tool.name);
  const added = names(after).filter((name) => !names(before).includes(name));
  const removed = names(before).filter((name) => !names(after).includes(name));
  const changed = before.filter((tool) => after.some((other) => other.name === tool.name && !isSame(tool, other)));
  const changes = [
    ...(added.length === 0 ? [] : [`added ${added.join(', ')}`]),
    ...(removed.length === 0 ? [] : [`removed ${removed.join(', ')}`]),
    ...(changed.length === 0 ? [] : [`changed ${names(changed).join(', ')}`]),
  ];
  return changes.length === 0 ? 'the order changed' : changes.join('; ');
}

function findSystemChange(
  before: readonly SystemPart[],
  after: readonly SystemPart[],
): { readonly name: string; readonly cause: string; readonly index: number } | undefined {
  const length = Math.max(before.length, after.length);
  for (let index = 0; index < length; index += 1) {
    const previous = before[index];
    const next = after[index];
    if (previous?.text === next?.text) continue;
    const name = next?.name ?? previous?.name ?? '';
    const cause = previous === undefined ? 'it was added' : next === undefined ? 'it was removed' : 'its text changed';
    return { name, cause, index };
  }
  return undefined;
}

function findMessageChange(
  before: readonly RequestMessage[],
  after: readonly RequestMessage[],
): RequestDifference | undefined {
  for (const [index, previous] of before.entries()) {
    const next = after[index];
    if (next === previous) continue;
    const isLast = index === before.length - 1;
    const cause = next === undefined ? 'it is no longer sent' : describeMessageChange(previous, next, isLast);
    if (cause === undefined) continue;
    return {
      location: { part: 'message', name: `message ${index + 1}` },
      cause,
      lost: before.slice(index).map(serialize),
    };
  }
  return undefined;
}

/** Compares two messages; only the last one may have grown. */
function describeMessageChange(previous: RequestMessage, next: RequestMessage, isLast: boolean): string | undefined {
  if (previous.role !== next.role) return `its role changed from ${previous.role} to ${next.role}`;
  for (const [index, block] of previous.blocks.entries()) {
    const now = next.blocks[index];
    if (now === undefined) return `its ${getBlockName(block.type)} is no longer sent`;
    if (!isSame(block, now)) return `its ${getBlockName(block.type)} changed`;
  }
  return !isLast && next.blocks.length > previous.blocks.length ? 'something was added to it' : undefined;
}

function getBlockName(type: string): string {
  return type.replaceAll('_', ' ');
}

/** Compares by identity first: most blocks are the same objects, and only the others are serialised. */
function isSame(one: object | undefined, other: object | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && serialize(one) === serialize(other));
}

function serialize(value: object): string {
  return JSON.stringify(value);
}
