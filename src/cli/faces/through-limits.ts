import type { Conversation } from '../../contracts/face/conversation.ts';
import { limitOf, type Terminal } from '../../contracts/terminal.ts';

/** The end of a run, or where a usage limit ended it, of the one that goes on when the limit is reset; and so on. */
export async function throughLimits(
  ended: Promise<Terminal>,
  { waitForLimit, agent }: Conversation,
): Promise<Terminal> {
  let terminal = await ended;
  await agent.waitForIdle();
  while (limitOf(terminal) !== undefined) {
    const next = await waitForLimit?.();
    if (next === undefined) return terminal;
    terminal = next;
    await agent.waitForIdle();
  }
  return terminal;
}
