import { formatCount, formatDuration } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { causeOf } from '../history/failure-lines.ts';
import type { Drawing } from '../text/drawing.ts';
import { plain, type Span, toned } from '../text/line.ts';
import type { Activity, ViewState } from '../view/view-state.ts';

const QUIET_MS = 15_000;
const CONNECTING_SHOWN_AFTER_MS = 300;
const HOOK_SHOWN_AFTER_MS = 300;
const RETRY_SILENT_MS = 2000;
const CHARS_PER_TOKEN = 4;

/** What is being done, in a few words, and the keys that matter now, the first first. */
type Doing = { readonly words: readonly Span[]; readonly keys: readonly (readonly Span[])[] };

const NOTHING: Doing = { words: [], keys: [] };

/** What the program is doing. Nothing when nothing is being done. */
export function activitySpans(view: Pick<ViewState, 'activity' | 'retry' | 'recovery'>, drawing: Drawing): Doing {
  const { glyphs, nowMs } = drawing;
  const { activity, retry } = view;
  if (activity.status === 'idle') return NOTHING;
  if (retry !== undefined && nowMs - retry.startedAtMs >= (retry.attempt <= 1 ? RETRY_SILENT_MS : 0)) {
    const leftMs = Math.max(0, Math.ceil((retry.dueAtMs - nowMs) / 1000)) * 1000;
    const when = leftMs === 0 ? 'now' : `in ${formatDuration(leftMs)}`;
    const words = `${causeOf(retry.failure)}${glyphs.separator}try ${retry.attempt + 1} of ${retry.limit + 1} ${when}`;
    const keys = [
      ['r', 'now'],
      ['esc', 'stop'],
      ['m', 'other model'],
    ] as const;
    return { words: [toned('warn', `${glyphs.retry} ${words}`)], keys: keySpans(keys, drawing) };
  }
  if (view.recovery !== undefined) {
    return running(drawing, `${sanitize(view.recovery.cause, 'line')}  ${seconds(nowMs - view.recovery.sinceMs)}`, '');
  }
  const { hook } = activity;
  if (hook !== undefined && activity.status !== 'stopping' && nowMs - hook.sinceMs >= HOOK_SHOWN_AFTER_MS) {
    return running(drawing, `${sanitize(hook.words, 'line')}  ${seconds(nowMs - hook.sinceMs)}`, '');
  }
  if (activity.status === 'waiting_for_answer') {
    return { words: [toned('warn', `${glyphs.wait} waiting for you ${seconds(nowMs - activity.sinceMs)}`)], keys: [] };
  }
  const words = doing(activity, drawing);
  if (words === undefined) return NOTHING;
  const quiet = nowMs - activity.lastByteAtMs;
  const isSilent = quiet >= QUIET_MS && ['requesting', 'thinking', 'writing'].includes(activity.status);
  return running(drawing, words, isSilent ? `${glyphs.separator}no data for ${seconds(quiet)}` : '');
}

function running(drawing: Drawing, words: string, note: string): Doing {
  const spans = [toned('brand', drawing.spinner), plain(` ${words}`), toned('dim', note)];
  return { words: spans, keys: keySpans([['esc', 'stop']], drawing) };
}

/** Keys and what each does. */
function keySpans(keys: readonly (readonly [string, string])[], { glyphs }: Drawing): Doing['keys'] {
  return keys.map(([key, does], at) => [
    toned('dim', at === 0 ? '  ' : glyphs.separator),
    toned('accent', key),
    toned('dim', ` ${does}`),
  ]);
}

function doing(activity: Activity, { nowMs, glyphs }: Drawing): string | undefined {
  const since = nowMs - activity.sinceMs;
  const turn = seconds(nowMs - activity.turnStartedAtMs);
  switch (activity.status) {
    case 'preparing':
      return since < CONNECTING_SHOWN_AFTER_MS ? undefined : `preparing ${turn}`;
    case 'requesting':
      if (since < CONNECTING_SHOWN_AFTER_MS) return undefined;
      return `waiting for the first token ${turn}`;
    case 'thinking':
      return `thinking ${seconds(since)}`;
    case 'writing': {
      if (activity.writingTool !== undefined)
        return `writing a call of ${sanitize(activity.writingTool, 'line')} ${turn}`;
      const tokens = Math.ceil(activity.counted.chars / CHARS_PER_TOKEN);
      return `writing ${turn}${glyphs.separator}${formatCount(tokens, 'token')}`;
    }
    case 'running_tools':
      return `running ${turn}`;
    case 'compacting':
      return `making room ${turn}`;
    case 'stopping':
      return 'stopping…';
    default:
      return undefined;
  }
}

function seconds(ms: number): string {
  return ms < 1000 ? '0s' : formatDuration(Math.floor(ms / 1000) * 1000);
}
