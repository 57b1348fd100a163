import type { Message, ToolResultBlock, ToolUseBlock } from '../../contracts/message.ts';
import { formatBytes } from '../../lib/text/format.ts';
import { describeCall, describeSize, resultsIn, resultText } from '../calls.ts';
import type { ResultDecision } from '../decisions.ts';

const PREVIEW: PreviewChars = { head: 3_000, tail: 1_000 };
/** Many results that are each within their limit may still be too much together. */
const MESSAGE_CHARS = 240_000;

/** How much of a long text is shown. */
export type PreviewChars = { readonly head: number; readonly tail: number };

export type BudgetParts = {
  readonly callOf: (callId: string) => ToolUseBlock | undefined;
  /** Already judged, in this run or the one before. */
  readonly isDecided: (callId: string) => boolean;
  readonly limitChars: (tool: string) => number;
  /** Keeps the whole text on disk; answers with its path, or `undefined` when it could not. */
  readonly store: (callId: string, text: string) => Promise<string | undefined>;
};

/** Level a: results over their tool's limit, and the largest of a message that is too large, become a preview and a path. */
export async function budgetResults(message: Message, parts: BudgetParts): Promise<readonly ResultDecision[]> {
  const results = resultsIn(message).map((result) => ({ result, chars: resultText(result).length }));
  let total = results.reduce((chars, item) => chars + item.chars, 0);
  const decisions: ResultDecision[] = [];
  for (const { result, chars } of results.toSorted((one, other) => other.chars - one.chars)) {
    const call = parts.callOf(result.tool_use_id);
    const isOver = chars > parts.limitChars(call?.name ?? '') || total > MESSAGE_CHARS;
    if (parts.isDecided(result.tool_use_id)) {
      total -= chars;
      continue;
    }
    if (!isOver || chars <= 2 * (PREVIEW.head + PREVIEW.tail)) continue;
    total -= chars;
    const path = await parts.store(result.tool_use_id, resultText(result));
    decisions.push({ level: 'budget', callId: result.tool_use_id, text: preview(result, call, path) });
  }
  return decisions;
}

/** The beginning and the end of a result, and where the rest is. */
export function preview(
  result: ToolResultBlock,
  call: ToolUseBlock | undefined,
  path: string | undefined,
  chars: PreviewChars = PREVIEW,
): string {
  const text = resultText(result);
  const left = formatBytes(Math.max(0, text.length - chars.head - chars.tail));
  const where =
    path === undefined
      ? 'It was not kept; ask for less at a time if you need it.'
      : `The whole text is in ${path}; read or search the part you need.`;
  const title = call === undefined ? 'The result' : describeCall(call);
  if (text === '')
    return `[${title}: ${describeSize(result)}, left out: too large. Look at a smaller copy if you need it.]`;
  return [
    `[${title}: ${describeSize(result)}, too long to show whole. ${where}]`,
    text.slice(0, chars.head).toWellFormed(),
    `[… ${left} left out …]`,
    text.slice(-chars.tail).toWellFormed(),
  ].join('\n');
}
