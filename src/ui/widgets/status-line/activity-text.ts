import { formatCount, formatDuration } from '../../../lib/text/format.ts';
import { sanitize } from '../../../lib/text/sanitize.ts';
import type { LiveActivity, ViewState } from '../../app-state/view-state.ts';
import { colored, plain, type StyledSpan } from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';
import { describeRunFailure } from '../history/failure-lines.ts';

const NO_DATA_SHOWN_AFTER_MS = 15_000;
const CONNECTING_SHOWN_AFTER_MS = 300;
const HOOK_SHOWN_AFTER_MS = 300;
const RETRY_SHOWN_AFTER_MS = 2000;
const CHARS_PER_TOKEN = 4;

/** A short description of the activity and its keys, most important first. */
type ActivityText = { readonly text: readonly StyledSpan[]; readonly keys: readonly (readonly StyledSpan[])[] };

const IDLE: ActivityText = { text: [], keys: [] };

/** Describes the current activity; empty when idle. */
export function describeActivity(
  view: Pick<ViewState, 'activity' | 'retry' | 'recovery'>,
  context: RenderContext,
): ActivityText {
  const { glyphs, nowMs } = context;
  const { activity, retry } = view;
  if (activity.status === 'idle') return IDLE;
  if (retry !== undefined && nowMs - retry.startedAtMs >= (retry.attempt <= 1 ? RETRY_SHOWN_AFTER_MS : 0)) {
    const remainingMs = Math.max(0, Math.ceil((retry.dueAtMs - nowMs) / 1000)) * 1000;
    const when = remainingMs === 0 ? 'now' : `in ${formatDuration(remainingMs)}`;
    const text = `${describeRunFailure(retry.failure)}${glyphs.separator}try ${retry.attempt + 1} of ${retry.limit + 1} ${when}`;
    const keys = [
      ['r', 'now'],
      ['esc', 'stop'],
      ['m', 'other model'],
    ] as const;
    return { text: [colored('warn', `${glyphs.retry} ${text}`)], keys: createKeySpans(keys, context) };
  }
  if (view.recovery !== undefined) {
    return createActivity(
      context,
      `${sanitize(view.recovery.cause, 'line')}  ${formatSeconds(nowMs - view.recovery.sinceMs)}`,
      '',
    );
  }
  const { hook } = activity;
  if (hook !== undefined && activity.status !== 'stopping' && nowMs - hook.sinceMs >= HOOK_SHOWN_AFTER_MS) {
    return createActivity(context, `${sanitize(hook.label, 'line')}  ${formatSeconds(nowMs - hook.sinceMs)}`, '');
  }
  if (activity.status === 'waiting_for_answer') {
    return {
      text: [colored('warn', `${glyphs.waiting} waiting for you ${formatSeconds(nowMs - activity.sinceMs)}`)],
      keys: [],
    };
  }
  const text = describeStatus(activity, context);
  if (text === undefined) return IDLE;
  const silentMs = nowMs - activity.lastByteAtMs;
  const isSilent =
    silentMs >= NO_DATA_SHOWN_AFTER_MS && ['requesting', 'thinking', 'writing'].includes(activity.status);
  return createActivity(context, text, isSilent ? `${glyphs.separator}no data for ${formatSeconds(silentMs)}` : '');
}

function createActivity(context: RenderContext, text: string, note: string): ActivityText {
  const spans = [colored('brand', context.spinner), plain(` ${text}`), colored('dim', note)];
  return { text: spans, keys: createKeySpans([['esc', 'stop']], context) };
}

/** Formats keys with their effects. */
function createKeySpans(keys: readonly (readonly [string, string])[], { glyphs }: RenderContext): ActivityText['keys'] {
  return keys.map(([key, effect], index) => [
    colored('dim', index === 0 ? '  ' : glyphs.separator),
    colored('accent', key),
    colored('dim', ` ${effect}`),
  ]);
}

function describeStatus(activity: LiveActivity, { nowMs, glyphs }: RenderContext): string | undefined {
  const sinceMs = nowMs - activity.sinceMs;
  const turnTime = formatSeconds(nowMs - activity.turnStartedAtMs);
  switch (activity.status) {
    case 'preparing':
      return sinceMs < CONNECTING_SHOWN_AFTER_MS ? undefined : `preparing ${turnTime}`;
    case 'requesting':
      if (sinceMs < CONNECTING_SHOWN_AFTER_MS) return undefined;
      return `waiting for the first token ${turnTime}`;
    case 'thinking':
      return `thinking ${formatSeconds(sinceMs)}`;
    case 'writing': {
      if (activity.writingTool !== undefined)
        return `writing a call to ${sanitize(activity.writingTool, 'line')} ${turnTime}`;
      const tokens = Math.ceil(activity.shownOutput.chars / CHARS_PER_TOKEN);
      return `writing ${turnTime}${glyphs.separator}${formatCount(tokens, 'token')}`;
    }
    case 'running_tools':
      return `running ${turnTime}`;
    case 'compacting':
      return `compacting ${turnTime}`;
    case 'stopping':
      return 'stopping…';
    default:
      return undefined;
  }
}

function formatSeconds(ms: number): string {
  return ms < 1000 ? '0s' : formatDuration(Math.floor(ms / 1000) * 1000);
}
