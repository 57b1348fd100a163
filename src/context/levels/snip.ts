import { describeCall, describeSize, resultsIn } from '../calls.ts';
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
      const worth = call === undefined ? undefined : facts.toolNamed(call.name)?.result;
      if (worth === 'once') return [];
      const title = call === undefined ? 'A result' : describeCall(call);
      const way = howToGetBack(worth, facts.storedAt(result.tool_use_id));
      const text = `[${title}: ${describeSize(result)}, left out to save room. ${way}]`;
      return [
        {
          decision: { level: 'snip', callId: result.tool_use_id, text },
          freed: Math.max(0, tokens - textTokens(text)),
        },
      ];
    });
  });
}

function howToGetBack(worth: 'repeatable' | undefined, path: string | undefined): string {
  if (path !== undefined) return `It is kept in ${path}.`;
  if (worth === 'repeatable') return 'Call it again if you need it.';
  return 'The call has taken effect; repeat it only if that does no harm.';
}
