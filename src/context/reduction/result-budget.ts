import type { Message, ToolResultBlock, ToolUseBlock } from '../../contracts/message.ts';
import { formatBytes } from '../../lib/text/format.ts';
import type { ResultReduction } from '../reduction-log.ts';
import { describeToolCall, describeToolResultSize, getToolResultText, listToolResults } from '../tool-calls.ts';

const PREVIEW: ResultPreviewSize = { head: 3_000, tail: 1_000 };
/** Limit for all results of one message together. */
const MESSAGE_CHARS = 240_000;

/** The number of characters a preview shows of the start and the end. */
export type ResultPreviewSize = { readonly head: number; readonly tail: number };

/** The dependencies of the result budget. */
export type ResultBudgetDeps = {
  readonly findCall: (callId: string) => ToolUseBlock | undefined;
  /** Returns true for results decided already, in this run or an earlier one. */
  readonly isDecided: (callId: string) => boolean;
  readonly limitChars: (tool: string) => number;
  /** Stores the full text on disk and returns its path; `undefined` when that failed. */
  readonly store: (callId: string, text: string) => Promise<string | undefined>;
};

/** Level a: replaces results over their tool's limit, and the largest ones of an oversized message, by a preview. */
export async function applyResultBudget(message: Message, deps: ResultBudgetDeps): Promise<readonly ResultReduction[]> {
  const results = listToolResults(message).map((result) => ({ result, chars: getToolResultText(result).length }));
  let total = results.reduce((chars, item) => chars + item.chars, 0);
  const decisions: ResultReduction[] = [];
  for (const { result, chars } of results.toSorted((one, other) => other.chars - one.chars)) {
    const call = deps.findCall(result.tool_use_id);
    const isOver = chars > deps.limitChars(call?.name ?? '') || total > MESSAGE_CHARS;
    if (deps.isDecided(result.tool_use_id)) {
      total -= chars;
      continue;
    }
    if (!isOver || chars <= 2 * (PREVIEW.head + PREVIEW.tail)) continue;
    total -= chars;
    const path = await deps.store(result.tool_use_id, getToolResultText(result));
    decisions.push({ level: 'budget', callId: result.tool_use_id, text: renderResultPreview(result, call, path) });
  }
  return decisions;
}

/** Renders the start and end of a result, and the path of its full text. */
export function renderResultPreview(
  result: ToolResultBlock,
  call: ToolUseBlock | undefined,
  path: string | undefined,
  chars: ResultPreviewSize = PREVIEW,
): string {
  const text = getToolResultText(result);
  const omitted = formatBytes(Math.max(0, text.length - chars.head - chars.tail));
  const recovery =
    path === undefined
      ? 'It was not kept; ask for less at a time if you need it.'
      : `The whole text is in ${path}; read or search the part you need.`;
  const title = call === undefined ? 'The result' : describeToolCall(call);
  if (text === '')
    return `[${title}: ${describeToolResultSize(result)}, left out: too large. Look at a smaller copy if you need it.]`;
  return [
    `[${title}: ${describeToolResultSize(result)}, too long to show whole. ${recovery}]`,
    text.slice(0, chars.head).toWellFormed(),
    `[… ${omitted} left out …]`,
    text.slice(-chars.tail).toWellFormed(),
  ].join('\n');
}
