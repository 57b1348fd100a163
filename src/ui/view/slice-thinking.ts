import type { AgentEvent } from '../../contracts/event.ts';
import { printCalls } from './slice-answer.ts';
import { printing, type ViewState } from './view-state.ts';

const TAIL_CHARS = 1_000;
/** Less is not worth a line. */
const WORTH_A_LINE_MS = 1_000;

/** Shows what is thought while it is, and for how long it was when it is over; the transcript has the whole. */
export function thinkingAfter(view: ViewState, event: AgentEvent, nowMs: number): ViewState {
  switch (event.type) {
    case 'block_start':
      return isThought(event.kind) ? { ...view, thinking: { sinceMs: nowMs, tail: '' } } : view;
    case 'message_update': {
      if (event.kind !== 'thinking') return view;
      const { sinceMs, tail } = view.thinking ?? { sinceMs: nowMs, tail: '' };
      return { ...view, thinking: { sinceMs, tail: (tail + event.delta).slice(-TAIL_CHARS) } };
    }
    case 'block_end':
      return isThought(event.block.type) ? thought(view, nowMs) : view;
    case 'turn_end':
    case 'agent_end':
    case 'tombstone':
      return view.thinking === undefined ? view : { ...view, thinking: undefined };
    default:
      return view;
  }
}

function thought({ thinking, ...view }: ViewState, nowMs: number): ViewState {
  const over: ViewState = { ...view, thinking: undefined };
  if (thinking === undefined || nowMs - thinking.sinceMs < WORTH_A_LINE_MS) return over;
  return printing(printCalls(over), { kind: 'thought', ms: nowMs - thinking.sinceMs });
}

function isThought(kind: string): boolean {
  return kind === 'thinking' || kind === 'redacted_thinking';
}
