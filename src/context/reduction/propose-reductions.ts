import { isJsonObject } from '../../contracts/json.ts';
import type { Message, ToolResultBlock, ToolUseBlock } from '../../contracts/message.ts';
import type { ToolTraitsLookup } from '../../contracts/permission.ts';
import type { ContextDecision } from '../reduction-log.ts';
import { estimateTextTokens, sumNumbers, type TokenEstimator } from '../token-estimate.ts';
import {
  describeToolCall,
  describeToolResultSize,
  getToolCallFilePath,
  listToolCalls,
  listToolResults,
} from '../tool-calls.ts';

/** A message of the conversation and the version that is sent; `view` is `undefined` when nothing is sent. */
export type ReducibleMessage = { readonly source: Message; readonly view: Message | undefined };

/** The input from which a level proposes what to drop. */
export type ReductionInput = {
  readonly entries: readonly ReducibleMessage[];
  /** Index of the first recent entry; entries from here on are kept whole. */
  readonly tailStart: number;
  readonly findCall: (callId: string) => ToolUseBlock | undefined;
  readonly isFinal: (callId: string) => boolean;
  /** Returns the path of a full result stored on disk, if any. */
  readonly storedAt: (callId: string) => string | undefined;
  readonly estimate: TokenEstimator;
  readonly toolNamed: ToolTraitsLookup;
};

/** A possible decision and the raw tokens it would free. */
export type ReductionProposal = { readonly decision: ContextDecision; readonly freed: number };

/** Returns the index where the protected tail starts: the last `tokens`, and always the last message. */
export function findProtectedTailStart(
  entries: readonly ReducibleMessage[],
  tokens: number,
  estimate: TokenEstimator,
): number {
  let remaining = tokens;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const view = entries[index]?.view;
    remaining -= view === undefined ? 0 : estimate.messageTokens(view);
    if (remaining < 0) return Math.min(index + 1, entries.length - 1);
  }
  return 0;
}

/** Returns whether a message is pinned, so that it stays in the context. */
export function isPinnedMessage(message: Message): boolean {
  return message.role === 'user' && message.pinned === true;
}

const BULKY_TOKENS = 400;

/** Level b: proposes to replace bulky results before the tail by one line that says how to get them back. */
export function proposeSnips(input: ReductionInput): readonly ReductionProposal[] {
  return input.entries.slice(0, input.tailStart).flatMap(({ view }): ReductionProposal[] => {
    if (view === undefined || isPinnedMessage(view)) return [];
    return listToolResults(view).flatMap((result): ReductionProposal[] => {
      const tokens = input.estimate.blockTokens(result);
      const call = input.findCall(result.tool_use_id);
      if (tokens < BULKY_TOKENS || input.isFinal(result.tool_use_id)) return [];
      const resultKind = call === undefined ? undefined : input.toolNamed(call.name)?.result;
      if (resultKind === 'once') return [];
      const title = call === undefined ? 'A result' : describeToolCall(call);
      const recovery = describeRecovery(resultKind, input.storedAt(result.tool_use_id));
      const text = `[${title}: ${describeToolResultSize(result)}, left out to save room. ${recovery}]`;
      return [
        {
          decision: { level: 'snip', callId: result.tool_use_id, text },
          freed: Math.max(0, tokens - estimateTextTokens(text)),
        },
      ];
    });
  });
}

function describeRecovery(resultKind: 'repeatable' | undefined, path: string | undefined): string {
  if (path !== undefined) return `It is kept in ${path}.`;
  if (resultKind === 'repeatable') return 'Call it again if you need it.';
  return 'The call has taken effect; repeat it only if that does no harm.';
}

const MIN_TOKENS = 60;

/** Level c: of repeated reads and searches, proposes to keep only the newest result, even in the tail. */
export function proposeMicrocompactions(input: ReductionInput): readonly ReductionProposal[] {
  const newest = new Map<string, number>();
  const proposals: ReductionProposal[] = [];
  for (const { view } of input.entries.toReversed()) {
    if (view === undefined || isPinnedMessage(view)) continue;
    for (const result of listToolResults(view).toReversed()) {
      const call = input.findCall(result.tool_use_id);
      if (call === undefined || result.is_error === true || input.isFinal(result.tool_use_id)) continue;
      const subject = input.toolNamed(call.name)?.result === 'repeatable' ? getSubject(call) : undefined;
      if (subject === undefined) continue;
      const tokens = input.estimate.blockTokens(result);
      const newer = newest.get(subject);
      if (newer !== undefined && isReplaceable(tokens, newer)) proposals.push(createProposal(result, call, tokens));
      else newest.set(subject, Math.max(tokens, newer ?? 0));
    }
  }
  return proposals;
}

/** A newer result that is much shorter, such as "unchanged", does not replace the older one. */
function isReplaceable(tokens: number, newerTokens: number): boolean {
  return tokens >= MIN_TOKENS && newerTokens * 2 >= tokens;
}

function createProposal(result: ToolResultBlock, call: ToolUseBlock, tokens: number): ReductionProposal {
  const text = `[${describeToolCall(call)}: left out, the same was looked at again later.]`;
  return {
    decision: { level: 'microcompact', callId: result.tool_use_id, text },
    freed: Math.max(0, tokens - estimateTextTokens(text)),
  };
}

/** Returns a key that is equal for calls with the same result: tool, file and range, or the whole input. */
function getSubject(call: ToolUseBlock): string {
  const file = getToolCallFilePath(call);
  return `${call.name} ${file === undefined ? JSON.stringify(call.input) : `${file} ${getRange(call)}`}`;
}

function getRange({ input }: ToolUseBlock): string {
  if (!isJsonObject(input)) return '';
  return JSON.stringify([input.offset ?? 1, input.limit ?? null, input.pages ?? null]);
}

const MIN_CALLS = 3;
const MAX_NAMED_CALLS = 12;

type CallStep = { readonly messages: readonly Message[]; readonly calls: readonly ToolUseBlock[] };

/** Level d: proposes to replace each run of read-only calls by one line. */
export function proposeCollapses(input: ReductionInput): readonly ReductionProposal[] {
  return findRuns(input).flatMap((run): ReductionProposal[] => {
    const calls = run.flatMap((step) => step.calls);
    if (calls.length < MIN_CALLS) return [];
    const messages = run.flatMap((step) => step.messages);
    const text = renderCollapsedLine(
      calls,
      new Map(messages.flatMap(listToolResults).map((result) => [result.tool_use_id, result])),
    );
    const freed = sumNumbers(messages.map(input.estimate.messageTokens)) - estimateTextTokens(text);
    const messageIds = messages.map((message) => message.id);
    if (freed <= 0) return [];
    return [{ decision: { level: 'collapse', messageIds, callIds: calls.map((call) => call.id), text }, freed }];
  });
}

/** Finds runs of replies without text whose calls are all repeatable, each with its results. */
function findRuns(input: ReductionInput): readonly (readonly CallStep[])[] {
  const found: CallStep[][] = [];
  let run: CallStep[] = [];
  for (let index = 0; index < input.tailStart; index += 1) {
    const step = getStep(input, index);
    if (step === undefined) {
      found.push(run);
      run = [];
    } else {
      run.push(step);
      index += 1;
    }
  }
  return [...found, run];
}

function getStep(input: ReductionInput, index: number): CallStep | undefined {
  const reply = getView(input.entries, index);
  const results = getView(input.entries, index + 1);
  if (reply?.role !== 'assistant' || results?.role !== 'user' || index + 1 >= input.tailStart) return undefined;
  const calls = listToolCalls(reply);
  const hasNoText = reply.blocks.every((block) => block.type !== 'text' || block.text.trim() === '');
  const hasServerBlock = reply.blocks.some((block) => block.type === 'server');
  if (calls.length === 0 || !hasNoText || hasServerBlock || isPinnedMessage(results)) return undefined;
  const ids = new Set(listToolResults(results).map((result) => result.tool_use_id));
  const isRepeatable = ({ name }: ToolUseBlock) => input.toolNamed(name)?.result === 'repeatable';
  const canCollapse = calls.every((call) => isRepeatable(call) && ids.has(call.id) && !input.isFinal(call.id));
  return canCollapse ? { messages: [reply, results], calls } : undefined;
}

function getView(entries: readonly ReducibleMessage[], index: number): Message | undefined {
  return entries[index]?.view;
}

function renderCollapsedLine(calls: readonly ToolUseBlock[], results: ReadonlyMap<string, ToolResultBlock>): string {
  const named = calls.slice(0, MAX_NAMED_CALLS).map((call) => {
    const result = results.get(call.id);
    return result === undefined ? describeToolCall(call) : `${describeToolCall(call)} (${describeOutcome(result)})`;
  });
  const more = calls.length > MAX_NAMED_CALLS ? `; and ${calls.length - MAX_NAMED_CALLS} more` : '';
  return `<reminder>To save room, ${calls.length} earlier calls are folded: ${named.join('; ')}${more}. Repeat one if you need its result.</reminder>`;
}

function describeOutcome(result: ToolResultBlock): string {
  return result.is_error === true ? 'failed' : describeToolResultSize(result) || 'empty';
}
