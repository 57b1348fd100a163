import { formatCount, formatDuration } from '../../lib/text/format.ts';
import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { causeOf } from '../history/failure-lines.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, terminalLine, toned } from '../text/line.ts';
import type { Activity, ViewState } from '../view/view-state.ts';

const QUIET_MS = 15_000;
const CONNECTING_SHOWN_AFTER_MS = 300;
const HOOK_SHOWN_AFTER_MS = 300;
const RETRY_SILENT_MS = 2000;
const CHARS_PER_TOKEN = 4;

/** What the program is doing, in a word, with the key that stops it. Nothing when nothing is being done. */
export function activityLines(view: ViewState, drawing: Drawing): readonly LogicalLine[] {
  const { glyphs, nowMs } = drawing;
  const { activity, retry } = view;
  if (activity.status === 'idle') return [];
  if (retry !== undefined && nowMs - retry.startedAtMs >= (retry.attempt <= 1 ? RETRY_SILENT_MS : 0)) {
    const leftMs = Math.max(0, Math.ceil((retry.dueAtMs - nowMs) / 1000)) * 1000;
    const when = leftMs === 0 ? 'now' : `in ${formatDuration(leftMs)}`;
    const words = `${causeOf(retry.failure)}${glyphs.separator}try ${retry.attempt + 1} of ${retry.limit + 1} ${when}`;
    return [
      terminalLine(
        toned('warn', `${glyphs.retry} ${words}`),
        toned('dim', `   ${['r now', 'esc stop', 'm other model'].join(glyphs.separator)}`),
      ),
    ];
  }
  if (view.recovery !== undefined) {
    return [line(drawing, `${sanitizeScreen(view.recovery.cause)}  ${seconds(nowMs - view.recovery.sinceMs)}`, '')];
  }
  const { hook } = activity;
  if (
    hook !== undefined &&
    !['idle', 'stopping'].includes(activity.status) &&
    nowMs - hook.sinceMs >= HOOK_SHOWN_AFTER_MS
  ) {
    return [line(drawing, `${sanitizeScreen(hook.words).replaceAll('\n', ' ')}  ${seconds(nowMs - hook.sinceMs)}`, '')];
  }
  const words = doing(activity, drawing);
  if (words === undefined) return [];
  const quiet = nowMs - activity.lastByteAtMs;
  const isSilent = quiet >= QUIET_MS && ['requesting', 'thinking', 'writing'].includes(activity.status);
  const note = isSilent ? `${glyphs.separator}no data for ${seconds(quiet)}` : '';
  return [line(drawing, words, note)];
}

function line({ spinner, glyphs }: Drawing, words: string, note: string): LogicalLine {
  return terminalLine(toned('accent', spinner), plain(` ${words}`), toned('dim', `${note}${glyphs.separator}esc stop`));
}

function doing(activity: Activity, { nowMs, glyphs }: Drawing): string | undefined {
  const since = nowMs - activity.sinceMs;
  const turn = seconds(nowMs - activity.turnStartedAtMs);
  switch (activity.status) {
    case 'preparing':
      return since < CONNECTING_SHOWN_AFTER_MS ? undefined : `preparing  ${turn}`;
    case 'requesting':
      if (since < CONNECTING_SHOWN_AFTER_MS) return undefined;
      return `waiting for the first token  ${turn}`;
    case 'thinking':
      return `thinking ${seconds(since)}`;
    case 'writing': {
      if (activity.writingTool !== undefined) return `writing a call of ${activity.writingTool}  ${turn}`;
      const tokens = Math.ceil(activity.counted.chars / CHARS_PER_TOKEN);
      return `writing  ${turn}${glyphs.separator}${formatCount(tokens, 'token')}`;
    }
    case 'running_tools':
      return `running  ${turn}`;
    case 'waiting_for_answer':
      return `waiting for you  ${turn}`;
    case 'compacting':
      return `making room  ${turn}`;
    case 'stopping':
      return 'stopping…';
    default:
      return undefined;
  }
}

function seconds(ms: number): string {
  return ms < 1000 ? '0s' : formatDuration(Math.floor(ms / 1000) * 1000);
}
