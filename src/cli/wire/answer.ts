import type { AgentEvent } from '../../contracts/event.ts';
import type { UserOrigin } from '../../contracts/message.ts';

/** The answer of a run while it is written. */
export type Answer = {
  /** The last reply, with the replies it goes on from: what the output limit cut is one answer in pieces. */
  readonly text: string;
  readonly pieces: string;
  readonly current: string;
};

export const NO_ANSWER: Answer = { text: '', pieces: '', current: '' };

/** Words count once their reply has joined the conversation. */
export function nextAnswer(answer: Answer, event: AgentEvent): Answer {
  switch (event.type) {
    case 'message_start':
      return event.role === 'assistant' ? { ...answer, current: '' } : answer;
    case 'tombstone':
      return { ...answer, current: '' };
    case 'block_end':
      return event.block.type === 'text' ? { ...answer, current: answer.current + event.block.text } : answer;
    case 'message_end': {
      const { message } = event;
      if (message.role === 'user') return GOES_WITH.has(message.origin) ? answer : { ...answer, pieces: '' };
      const whole = answer.pieces + answer.current;
      return message.role === 'assistant' ? { text: whole, pieces: whole, current: '' } : answer;
    }
    default:
      return answer;
  }
}

/** Words of ours about the very answer: that it was cut, and is to go on. */
const GOES_WITH: ReadonlySet<UserOrigin> = new Set(['resume', 'interrupt']);
