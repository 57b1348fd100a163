import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../contracts/json.ts';
import type { BeforeCall } from '../contracts/query.ts';
import { truncateEnd } from '../lib/text/truncate.ts';

/** So much of an input is told again. */
const MOST_TOLD = 4000;

/** The result of a call says what was done, not that it was not what had been asked for: that is told beside it. */
export function tellingChange(before: BeforeCall, asked: JsonObject, allowed: JsonObject): BeforeCall {
  if (asked === allowed || isDeepStrictEqual(asked, allowed)) return before;
  const input = truncateEnd(JSON.stringify(allowed), MOST_TOLD);
  const told = `The user changed this call before allowing it. It ran with this input in place of yours: ${input}`;
  return { ...before, context: before.context === undefined ? told : `${before.context}\n\n${told}` };
}
