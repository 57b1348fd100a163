import { z } from 'zod';
import type { Decision } from './decisions.ts';

const decision = z.discriminatedUnion('level', [
  z.object({ level: z.enum(['budget', 'snip', 'microcompact']), callId: z.string(), text: z.string() }),
  z.object({
    level: z.literal('collapse'),
    messageIds: z.array(z.string()),
    callIds: z.array(z.string()),
    text: z.string(),
  }),
]);

/** Decisions as a session file kept them; what is no decision is left out. */
export function readDecisions(records: readonly unknown[]): readonly Decision[] {
  return records.flatMap((record) => decision.safeParse(record).data ?? []);
}
