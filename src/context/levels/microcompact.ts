import { isJsonObject } from '../../contracts/json.ts';
import type { ToolResultBlock, ToolUseBlock } from '../../contracts/message.ts';
import { describeCall, fileOf, resultsIn } from '../calls.ts';
import { textTokens } from '../tokens.ts';
import { type Facts, isPinned, type Proposal } from './levels.ts';

const WORTHWHILE_TOKENS = 60;

/** Level c: of repeated reads of a file and repeated searches only the newest stays, in the tail too. */
export function microcompact(facts: Facts): readonly Proposal[] {
  const newest = new Map<string, number>();
  const proposals: Proposal[] = [];
  for (const { view } of facts.entries.toReversed()) {
    if (view === undefined || isPinned(view)) continue;
    for (const result of resultsIn(view).toReversed()) {
      const call = facts.callOf(result.tool_use_id);
      if (call === undefined || result.is_error === true || facts.isFinal(result.tool_use_id)) continue;
      const subject = facts.toolNamed(call.name)?.result === 'repeatable' ? subjectOf(call) : undefined;
      if (subject === undefined) continue;
      const tokens = facts.estimate.blockTokens(result);
      const newer = newest.get(subject);
      if (newer !== undefined && mayGo(tokens, newer)) proposals.push(superseded(result, call, tokens));
      else newest.set(subject, Math.max(tokens, newer ?? 0));
    }
  }
  return proposals;
}

/** A newer result that only says "unchanged", or shows less, does not replace what it refers to. */
function mayGo(tokens: number, newerTokens: number): boolean {
  return tokens >= WORTHWHILE_TOKENS && newerTokens * 2 >= tokens;
}

function superseded(result: ToolResultBlock, call: ToolUseBlock, tokens: number): Proposal {
  const text = `[${describeCall(call)}: left out, the same was looked at again later.]`;
  return {
    decision: { level: 'microcompact', callId: result.tool_use_id, text },
    freed: Math.max(0, tokens - textTokens(text)),
  };
}

/** Two calls with the same subject answer the same question. */
function subjectOf(call: ToolUseBlock): string {
  const file = fileOf(call);
  return `${call.name} ${file === undefined ? JSON.stringify(call.input) : `${file} ${rangeOf(call)}`}`;
}

function rangeOf({ input }: ToolUseBlock): string {
  if (!isJsonObject(input)) return '';
  return JSON.stringify([input.offset ?? 1, input.limit ?? null, input.pages ?? null]);
}
