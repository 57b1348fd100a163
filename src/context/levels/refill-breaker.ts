import type { BoundaryMessage, Message } from '../../contracts/message.ts';

const MAX_REFILLS = 3;
/** Fewer replies than this between two compactions and the room was gone before anything came of it. */
const PROGRESS_REPLIES = 2;

/** Stops compacting when the room it makes is gone at once, again and again. */
export function refillBreaker(): {
  /** Why another automatic compaction would be in vain, if it would. */
  objection(trigger: BoundaryMessage['trigger'], messages: readonly Message[]): string | undefined;
  compacted(messages: readonly Message[]): void;
} {
  let refills = 0;
  let knownReplies: ReadonlySet<string> | undefined;
  return {
    objection: (trigger, messages) => {
      if (trigger !== 'auto' || knownReplies === undefined) return undefined;
      const known = knownReplies;
      const fresh = repliesIn(messages).filter((id) => !known.has(id)).length;
      refills = fresh < PROGRESS_REPLIES ? refills + 1 : 0;
      if (refills < MAX_REFILLS) return undefined;
      return `the context filled up again right after being compacted, ${MAX_REFILLS} times in a row; start fresh with /clear, or ask for smaller pieces`;
    },
    compacted: (messages) => {
      knownReplies = new Set(repliesIn(messages));
    },
  };
}

function repliesIn(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => (message.role === 'assistant' ? [message.id] : []));
}
