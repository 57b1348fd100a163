import type { Conversation } from '../../contracts/face/conversation.ts';
import type { JsonObject } from '../../contracts/json.ts';

/** What could be said next, told to a host behind the result of a turn. */
export type NextPrompts = {
  /** A turn has ended well; from the second on something is offered. */
  offer(): void;
  /** Something was said: what was being thought of is not wanted any more. */
  drop(): void;
  /** Resolves when nothing is being thought of. */
  idle(): Promise<void>;
};

export function createNextPrompts(
  { suggestNext }: Pick<Conversation, 'suggestNext'>,
  write: (line: JsonObject) => void,
): NextPrompts {
  let turns = 0;
  let offered = 0;
  let thinking: Promise<void> = Promise.resolve();

  async function think(turn: number): Promise<void> {
    const suggestion = await suggestNext?.().catch(() => undefined);
    if (suggestion !== undefined && turn === offered) write({ type: 'prompt_suggestion', suggestion });
  }

  return {
    offer() {
      turns += 1;
      if (turns === 1) return;
      offered += 1;
      thinking = think(offered);
    },
    drop() {
      offered += 1;
    },
    idle: () => thinking,
  };
}
