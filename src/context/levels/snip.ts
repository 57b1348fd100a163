import type { ToolResultBlock, ToolUseBlock } from '../../contracts/message.ts';
import { IRREPLACEABLE_TOOLS } from '../../contracts/tool.ts';
import { describeCall, describeSize, isLooking, resultsIn } from '../calls.ts';
import { textTokens } from '../tokens.ts';
import { type Facts, isPinned, type Proposal } from './levels.ts';

const BULKY_TOKENS = 400;

/** Level b: bulky results beyond the tail become one line that names what was there and how to get it again. */
export function snip(facts: Facts): readonly Proposal[] {
  return facts.entries.slice(0, facts.tailFrom).flatMap(({ view }): Proposal[] => {
    if (view === undefined || isPinned(view)) return [];
    return resultsIn(view).flatMap((result): Proposal[] => {
      const tokens = facts.estimate.blockTokens(result);
      const call = facts.callOf(result.tool_use_id);
      if (tokens < BULKY_TOKENS || facts.isFinal(result.tool_use_id)) return [];
      if (call !== undefined && IRREPLACEABLE_TOOLS.includes(call.name)) return [];
      const text = snipLine(result, call, facts.storedAt(result.tool_use_id));
      return [
        {
          decision: { level: 'snip', callId: result.tool_use_id, text },
          freed: Math.max(0, tokens - textTokens(text)),
        },
      ];
    });
  });
}

function snipLine(result: ToolResultBlock, call: ToolUseBlock | undefined, path: string | undefined): string {
  const title = call === undefined ? 'A result' : describeCall(call);
  return `[${title}: ${describeSize(result)}, left out to save room. ${howToGetBack(call, path)}]`;
}

function howToGetBack(call: ToolUseBlock | undefined, path: string | undefined): string {
  if (path !== undefined) return `It is kept in ${path}.`;
  if (call !== undefined && isLooking(call)) return 'Call it again if you need it.';
  return 'The call has taken effect; repeat it only if that does no harm.';
}
