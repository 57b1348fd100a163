import type { AgentEvent } from '../../contracts/event.ts';

/** Says when what has happened is drawn. */
export type FrameTimer = {
  schedule(event: AgentEvent): void;
  /** It has been drawn, or need not be any more. */
  cancel(): void;
};

/** Ten frames a second are smooth enough to read by; each costs more than the few words it adds. */
const FLUSH_MS = 100;
/** A stop is seen at once; mostly the end is there before, and one frame tells both. */
const STATUS_MS = 20;

/** Somebody has to answer, or has answered. */
const ASKING: ReadonlySet<string> = new Set(['permission_request', 'permission_answer', 'question', 'question_answer']);
/** Somebody waits to see these as well: they pressed a key for it. */
const AWAITED: ReadonlySet<string> = new Set(['agent_end', 'queue', 'mode']);

/** Draws what somebody waits for as soon as the events at hand have come, and everything else ten times a second. */
export function createFrameTimer(draw: () => void): FrameTimer {
  let timer: ReturnType<typeof setTimeout> | undefined;

  function schedule(event: AgentEvent): void {
    const isStatus = event.type === 'status';
    if (!isStatus && !isAwaited(event)) {
      timer ??= setTimeout(draw, FLUSH_MS);
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(draw, isStatus ? STATUS_MS : 0);
  }

  return {
    schedule,
    cancel() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

function isAwaited(event: AgentEvent): boolean {
  // What else a sub-agent does is told by its call.
  if (event.type === 'subagent')
    return event.event.type === 'subagent' ? isAwaited(event.event) : ASKING.has(event.event.type);
  if (event.type === 'message_end') return event.message.role === 'user';
  return ASKING.has(event.type) || AWAITED.has(event.type);
}
