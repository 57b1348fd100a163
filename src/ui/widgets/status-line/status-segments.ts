import { formatCount, formatDuration, formatMoney } from '../../../lib/text/format.ts';
import { sanitize } from '../../../lib/text/sanitize.ts';
import type { LiveActivity, StatusLineFacts, ViewState } from '../../app-state/view-state.ts';
import { colored, createStyledLine, measureSpans, plain, type StyledSpan, truncateLine } from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';
import type { Glyphs } from '../../theme/glyphs.ts';
import { formatDiffStat } from '../diff/diff-lines.ts';
import { describeRunFailure } from '../history/failure-lines.ts';

const NARROW = 60;
const ROOMY_ROWS = 16;
const WARN_PERCENT = 80;
const GAUGE_CELLS = 8;

type Segment = { readonly name: string; readonly spans: readonly StyledSpan[] };

/** The part of the view state that the status line shows. */
export type StatusView = Pick<
  ViewState,
  'facts' | 'hint' | 'activity' | 'retry' | 'recovery' | 'vim' | 'editor' | 'dialog'
>;

/** Columns before the first segment and between segments. */
export const STATUS_SEGMENT_GAP = { first: 2, other: 3 } as const;

/** Returns the lines of a status line script that are shown below the status line; none on low terminals. */
export function getStatusScriptLines({ facts }: StatusView, { rows }: RenderContext): readonly string[] {
  return rows < ROOMY_ROWS ? [] : (facts.scriptOutput ?? '').split('\n').slice(1);
}

/** Creates the segments that fit: hint, activity, model, context, cost and others. Narrow terminals show few. */
export function createStatusSegments(view: StatusView, context: RenderContext, width: number): readonly Segment[] {
  const { facts, hint } = view;
  const vim = getVimLabel(view);
  const { text: activityText, keys } = describeActivity(view, context);
  // Keys are shown completely or not at all.
  const fit = keys.filter(
    (_, index) => STATUS_SEGMENT_GAP.first + measureSpans([activityText, keys.slice(0, index + 1)].flat(2)) <= width,
  );
  const activity = [activityText, fit].flat(2);
  const hasHint = hint !== undefined && hint.untilMs > context.nowMs;
  // While a question is open all facts are shown, with the waiting time last.
  const isWaiting = view.activity.status === 'waiting_for_answer' && activity.length > 0;
  const segments: readonly Segment[] = [
    ...(hasHint ? [createSegment('hint', colored('warn', hint.text))] : []),
    ...(activity.length === 0 ? [] : [createSegment('activity', ...activity)]),
    ...(vim === undefined ? [] : [createSegment('vim', plain(vim))]),
    ...createFactSegments(facts, context, activity.length === 0 || isWaiting ? 'at rest' : 'busy'),
  ];
  const fitted = fitSegments(segments, width);
  const isActivity = ({ name }: Segment) => name === 'activity';
  return isWaiting ? [...fitted.filter((segment) => !isActivity(segment)), ...fitted.filter(isActivity)] : fitted;
}

function createFactSegments(
  facts: StatusLineFacts,
  { width, glyphs }: RenderContext,
  state: 'at rest' | 'busy',
): readonly Segment[] {
  if (facts.scriptOutput !== undefined)
    return [createSegment('script', ...parseStatusScriptLine(facts.scriptOutput.split('\n', 1)[0] ?? ''))];
  const percent = Math.round((100 * facts.contextTokens) / Math.max(1, facts.contextWindow));
  const contextSpan =
    percent >= WARN_PERCENT ? colored('warn', `${percent}% full, /compact`) : colored('dim', `${percent}%`);
  if (width < NARROW) return [createSegment('context', contextSpan)];
  const isBusy = state === 'busy';
  const createDimSegment = (name: string, text: string) => createSegment(name, colored('dim', text));
  return [
    createDimSegment('model', sanitize(facts.model, 'line')),
    createSegment('context', ...(isBusy ? [] : createGauge(percent, glyphs)), contextSpan),
    // The demo model costs nothing.
    ...(facts.isDemo ? [] : [createDimSegment('cost', formatShortCost(facts))]),
    ...(facts.branch === undefined || isBusy
      ? []
      : [
          createSegment(
            'branch',
            colored('dim', `${glyphs.branch} ${sanitize(facts.branch, 'line')}`),
            ...createDiffStat(facts, glyphs),
          ),
        ]),
    ...(facts.sandbox === undefined
      ? []
      : [createDimSegment('sandbox', facts.sandbox === 'unasked' ? 'commands sandboxed' : 'sandbox')]),
    ...(facts.shellFolder === undefined
      ? []
      : [createDimSegment('shell', `in ${sanitize(facts.shellFolder, 'line')}`)]),
    ...(facts.backgroundTasks === 0 ? [] : [createDimSegment('background', `${facts.backgroundTasks} background`)]),
  ];
}

/** Formats the lines added and removed by edits of this session. */
function createDiffStat({ changedLines }: StatusLineFacts, glyphs: Glyphs): readonly StyledSpan[] {
  return changedLines.added + changedLines.removed === 0 ? [] : [plain(' '), ...formatDiffStat(changedLines, glyphs)];
}

function createGauge(percent: number, glyphs: Glyphs): readonly StyledSpan[] {
  const fullCells = Math.min(GAUGE_CELLS, Math.ceil((percent * GAUGE_CELLS) / 100));
  return [
    colored('brand', glyphs.gauge.full.repeat(fullCells)),
    colored('dim', `${glyphs.gauge.empty.repeat(GAUGE_CELLS - fullCells)} `),
  ];
}

function createSegment(name: string, ...spans: readonly StyledSpan[]): Segment {
  return { name, spans };
}

/** Returns the label of the Vim mode; none in insert mode. */
function getVimLabel({ vim, activity }: StatusView): string | undefined {
  if (vim === undefined || vim.mode === 'insert') return undefined;
  const label = vim.mode === 'normal' ? 'NORMAL' : 'VISUAL';
  return activity.status === 'idle' || vim.mode !== 'normal' ? label : `${label}, esc stop`;
}

/** Selects the segments that fit beside each other. The first segment is truncated instead of dropped. */
function fitSegments(segments: readonly Segment[], width: number): readonly Segment[] {
  let freeColumns = width;
  return segments.flatMap(({ name, spans }, index) => {
    const room = freeColumns - (index === 0 ? STATUS_SEGMENT_GAP.first : STATUS_SEGMENT_GAP.other);
    if (measureSpans(spans) > room && index > 0) return [];
    const shown = measureSpans(spans) > room ? truncateLine(createStyledLine(...spans), room + 2).spans : spans;
    freeColumns = room - measureSpans(shown);
    return [createSegment(name, ...shown)];
  });
}

const SGR_SEQUENCE = /\u001b\[([\d;:]*)m/;

/** Parses a line of a status line script. SGR colors are kept, all other escape sequences are removed. */
export function parseStatusScriptLine(line: string): readonly StyledSpan[] {
  // The parts alternate: text, SGR parameters, text, SGR parameters, …
  const parts = line.split(SGR_SEQUENCE);
  let colors: readonly string[] = [];
  return parts.flatMap((part, index) => {
    if (index % 2 === 1) {
      // An empty parameter means 0, which resets all attributes.
      const codes = part.split(';').map((code) => (code === '' ? '0' : code));
      colors = codes[0] === '0' ? codes.slice(1) : [...colors, ...codes];
      return [];
    }
    const text = sanitize(sanitize(part, 'output').replaceAll('\u00a0', ' '), 'line');
    if (text === '') return [];
    return [colors.length === 0 ? colored('dim', text) : { text, style: { sgrCodes: colors.join(';') } }];
  });
}

function formatShortCost({ costUsd, hasUnknownPrice }: StatusLineFacts): string {
  if (hasUnknownPrice === undefined) return formatMoney(costUsd);
  return costUsd > 0 ? `${formatMoney(costUsd)}+` : 'price unknown';
}

const NO_DATA_SHOWN_AFTER_MS = 15_000;
const CONNECTING_SHOWN_AFTER_MS = 300;
const HOOK_SHOWN_AFTER_MS = 300;
/** The first retry is not shown if it comes sooner. */
const MIN_SHOWN_DELAY_MS = 2000;
const CHARS_PER_TOKEN = 4;

/** A short description of the activity and its keys, most important first. */
type ActivityText = { readonly text: readonly StyledSpan[]; readonly keys: readonly (readonly StyledSpan[])[] };

const IDLE: ActivityText = { text: [], keys: [] };

/** Describes the current activity; empty when idle. @internal Exported for tests. */
export function describeActivity(
  view: Pick<ViewState, 'activity' | 'retry' | 'recovery'>,
  context: RenderContext,
): ActivityText {
  const { glyphs, nowMs } = context;
  const { activity, retry } = view;
  if (activity.status === 'idle') return IDLE;
  if (retry !== undefined && (retry.attempt > 1 || retry.delayMs >= MIN_SHOWN_DELAY_MS)) {
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
    case 'restoring':
      return `restoring files ${turnTime}`;
    case 'stopping':
      return 'stopping…';
    default:
      return undefined;
  }
}

function formatSeconds(ms: number): string {
  return ms < 1000 ? '0s' : formatDuration(Math.floor(ms / 1000) * 1000);
}
