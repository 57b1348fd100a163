import type { AgentEvent } from '../../contracts/event.ts';
import { statusAfter } from '../../contracts/status-after.ts';
import { type Activity, IDLE_ACTIVITY } from './view-state.ts';

const COUNT_MS = 1000;

/** What the program is doing after an event, and since when. */
export function activityAfter(activity: Activity, event: AgentEvent, nowMs: number): Activity {
  if (event.type === 'agent_start') {
    return { ...begun(nowMs), hook: activity.hook, status: 'preparing' };
  }
  if (event.type === 'message_update') {
    const outputChars = activity.outputChars + event.delta.length;
    const isDue = nowMs - activity.counted.atMs >= COUNT_MS;
    const counted = isDue ? { chars: outputChars, atMs: nowMs } : activity.counted;
    return { ...activity, outputChars, counted, lastByteAtMs: nowMs };
  }
  if (event.type === 'agent_end') return activity;
  if (event.type === 'hook') return { ...activity, hook: hookAfter(activity, event, nowMs) };
  const writingTool = event.type === 'block_start' ? event.name : activity.writingTool;
  const status = statusAfter(activity.status, event);
  if (status === activity.status && writingTool === activity.writingTool) return activity;
  if (status === 'idle') return IDLE_ACTIVITY;
  // What is done between two runs has a beginning of its own.
  if (activity.status === 'idle') return { ...begun(nowMs), hook: activity.hook, status, writingTool };
  const sinceMs = status === activity.status ? activity.sinceMs : nowMs;
  return { ...activity, status, writingTool, sinceMs, lastByteAtMs: nowMs };
}

function begun(nowMs: number): Activity {
  return { ...IDLE_ACTIVITY, sinceMs: nowMs, turnStartedAtMs: nowMs, lastByteAtMs: nowMs };
}

/** Nobody waits for these. */
const ONLY_HEARING = ['Notification', 'StopFailure', 'PostCompact', 'SessionEnd'];

function hookAfter(
  { hook, status }: Activity,
  event: Extract<AgentEvent, { type: 'hook' }>,
  nowMs: number,
): Activity['hook'] {
  const id = String(event.detail.hook_id);
  if (event.phase !== 'started') return hook?.id === id ? undefined : hook;
  // At rest nobody waits, but the first prompt will wait for those of the start.
  const isAwaited = status !== 'idle' || event.event === 'SessionStart';
  if (!isAwaited || ONLY_HEARING.includes(event.event)) return hook;
  const { status_message: said } = event.detail;
  return { id, words: typeof said === 'string' ? said : `${event.event} hook`, sinceMs: nowMs };
}
