import type { Message, ToolResultBlock, ToolUseBlock } from '../../contracts/message.ts';
import { resultsIn, resultText } from '../calls.ts';
import { createDecisions, type ResultDecision } from '../decisions.ts';
import { sum, type TokenEstimate } from '../tokens.ts';
import { preview } from './result-budget.ts';

export type ShrinkParts = {
  readonly estimate: TokenEstimate;
  readonly callOf: (callId: string) => ToolUseBlock | undefined;
  readonly storedAt: (callId: string) => string | undefined;
  readonly store: (callId: string, text: string) => Promise<string | undefined>;
};

export type Shrunk = { readonly messages: readonly Message[]; readonly decisions: readonly ResultDecision[] };

const SMALLEST_PREVIEW_CHARS = 300;

/** How large a result may be: in tokens, and in characters of pictures and documents. */
export type ShrinkLimits = { readonly tokens: number; readonly mediaChars: number };

/** Every result over its limits becomes a preview of at most half that size; everything else stays as it is. */
export async function shrinkResults(
  messages: readonly Message[],
  limits: ShrinkLimits,
  parts: ShrinkParts,
): Promise<Shrunk> {
  const taken = createDecisions();
  const decisions: ResultDecision[] = [];
  for (const result of messages.flatMap(resultsIn)) {
    const fits = parts.estimate.blockTokens(result) <= limits.tokens && mediaChars(result) <= limits.mediaChars;
    if (fits) continue;
    const decision = await shrunk(result, limits.tokens, parts);
    taken.record(decision);
    decisions.push(decision);
  }
  if (decisions.length === 0) return { messages, decisions };
  return { messages: messages.flatMap((message) => taken.viewOf(message) ?? []), decisions };
}

async function shrunk(result: ToolResultBlock, limitTokens: number, parts: ShrinkParts): Promise<ResultDecision> {
  const text = resultText(result);
  // Ideographs are a token each, so half the tokens is taken as that many characters, which is never too much.
  const chars = Math.max(SMALLEST_PREVIEW_CHARS, Math.min(4_000, Math.floor(limitTokens / 2)));
  const head = Math.floor(chars * 0.75);
  // What is on disk already is the whole; what is here may be its preview.
  const path =
    parts.storedAt(result.tool_use_id) ?? (text === '' ? undefined : await parts.store(result.tool_use_id, text));
  const words = preview(result, parts.callOf(result.tool_use_id), path, { head, tail: chars - head });
  return { level: 'snip', callId: result.tool_use_id, text: words };
}

function mediaChars({ content }: ToolResultBlock): number {
  if (typeof content === 'string') return 0;
  return sum(content.map((part) => (part.type === 'text' ? 0 : part.source.data.length)));
}
