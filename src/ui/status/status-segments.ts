import { formatMoney } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { changedCounts } from '../text/changed-counts.ts';
import type { Drawing } from '../text/drawing.ts';
import { fitLine, plain, type Span, spansWidth, terminalLine, toned } from '../text/line.ts';
import type { Glyphs } from '../theme/glyphs.ts';
import type { StatusFacts, ViewState } from '../view/view-state.ts';
import { activitySpans } from './activity-spans.ts';
import { scriptSpans } from './script-spans.ts';

const NARROW = 60;
const ROOMY_ROWS = 16;
const FULL_PERCENT = 80;
const GAUGE = 8;

/** Words that stand together on the status line. */
export type Segment = { readonly name: string; readonly spans: readonly Span[] };

/** What the status line is made from. */
export type StatusView = Pick<ViewState, 'facts' | 'hint' | 'activity' | 'retry' | 'recovery' | 'vim'>;

/** Columns before the first segment and between the others. */
export const SEGMENT_GAP = { first: 2, other: 3 } as const;

/** How many lines of a script of one's own stand below the status line, where there is room. */
export function scriptLines({ facts }: Pick<StatusView, 'facts'>, { rows }: Drawing): readonly string[] {
  return rows < ROOMY_ROWS ? [] : (facts.script ?? '').split('\n').slice(1);
}

/** What is being done, model, context, cost: the segments that fit; narrow screens keep the essential. */
export function statusSegments(view: StatusView, drawing: Drawing, width: number): readonly Segment[] {
  const { facts, hint } = view;
  const vim = vimWord(view);
  const { words, keys } = activitySpans(view, drawing);
  // A key is there as a whole or not at all.
  const fit = keys.filter((_, at) => SEGMENT_GAP.first + spansWidth([words, keys.slice(0, at + 1)].flat(2)) <= width);
  const activity = [words, fit].flat(2);
  const isHinting = hint !== undefined && hint.untilMs > drawing.nowMs;
  // Whoever decides has everything in view, and what is waited for at the end.
  const isWaiting = view.activity.status === 'waiting_for_answer' && activity.length > 0;
  const segments: readonly Segment[] = [
    ...(isHinting ? [segment('hint', toned('warn', hint.text))] : []),
    ...(activity.length === 0 ? [] : [segment('activity', ...activity)]),
    ...(vim === undefined ? [] : [segment('vim', plain(vim))]),
    ...factSegments(facts, drawing, activity.length === 0 || isWaiting ? 'at rest' : 'busy'),
  ];
  const fitted = fitting(segments, width);
  const isActivity = ({ name }: Segment) => name === 'activity';
  return isWaiting ? [...fitted.filter((one) => !isActivity(one)), ...fitted.filter(isActivity)] : fitted;
}

function factSegments(facts: StatusFacts, { width, glyphs }: Drawing, state: 'at rest' | 'busy'): readonly Segment[] {
  if (facts.script !== undefined) return [segment('script', ...scriptSpans(facts.script.split('\n', 1)[0] ?? ''))];
  const percent = Math.round((100 * facts.contextTokens) / Math.max(1, facts.contextWindow));
  const words = percent >= FULL_PERCENT ? toned('warn', `${percent}% full, /compact`) : toned('dim', `${percent}%`);
  if (width < NARROW) return [segment('context', words)];
  const isBusy = state === 'busy';
  const dim = (name: string, text: string) => segment(name, toned('dim', text));
  return [
    dim('model', sanitize(facts.model, 'line')),
    segment('context', ...(isBusy ? [] : gauge(percent, glyphs)), words),
    // The demo says so by its model.
    ...(facts.isDemo ? [] : [dim('cost', formatMoney(facts.costUsd))]),
    ...(facts.branch === undefined || isBusy
      ? []
      : [
          segment(
            'branch',
            toned('dim', `${glyphs.branch} ${sanitize(facts.branch, 'line')}`),
            ...changedLines(facts, glyphs),
          ),
        ]),
    ...(facts.shellAt === undefined ? [] : [dim('shell', `in ${sanitize(facts.shellAt, 'line')}`)]),
    ...(facts.background === 0 ? [] : [dim('background', `${facts.background} background`)]),
  ];
}

/** What edits of this session brought and took. */
function changedLines({ changed }: StatusFacts, glyphs: Glyphs): readonly Span[] {
  return changed.added + changed.removed === 0 ? [] : [plain(' '), ...changedCounts(changed, glyphs)];
}

function gauge(percent: number, glyphs: Glyphs): readonly Span[] {
  const full = Math.max(1, Math.min(GAUGE, Math.ceil((percent * GAUGE) / 100)));
  return [toned('brand', glyphs.gauge.full.repeat(full)), toned('dim', `${glyphs.gauge.empty.repeat(GAUGE - full)} `)];
}

function segment(name: string, ...spans: readonly Span[]): Segment {
  return { name, spans };
}

/** Vim's mode, as long as keys are not text. */
function vimWord({ vim, activity }: StatusView): string | undefined {
  if (vim === undefined || vim.mode === 'insert') return undefined;
  const word = vim.mode === 'normal' ? 'NORMAL' : 'VISUAL';
  return activity.status === 'idle' || vim.mode !== 'normal' ? word : `${word}, esc stop`;
}

/** The segments that fit beside one another; the first is cut rather than left out. */
function fitting(segments: readonly Segment[], width: number): readonly Segment[] {
  let left = width;
  return segments.flatMap(({ name, spans }, at) => {
    const room = left - (at === 0 ? SEGMENT_GAP.first : SEGMENT_GAP.other);
    if (spansWidth(spans) > room && at > 0) return [];
    const shown = spansWidth(spans) > room ? fitLine(terminalLine(...spans), room + 2).spans : spans;
    left = room - spansWidth(shown);
    return [segment(name, ...shown)];
  });
}
