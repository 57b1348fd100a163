import { textWidth } from '../../lib/text/text-width.ts';
import { type LogicalLine, terminalLine, toned } from '../text/line.ts';
import { liveRows, type Row, rowText } from '../text/render-lines.ts';
import { type FirstRunTopic, footLines, headLines, pageLines, topicLines, trustLines } from './first-run-lines.ts';
import type { FirstRunState } from './first-run-state.ts';

/** The first screen as the rows that each part takes. */
export type FirstRunPlan = {
  readonly head: readonly Row[];
  readonly trust: TrustPlan | undefined;
  /** What else is asked, or what has opened in its place. */
  readonly parts: readonly PartPlan[];
  readonly foot: readonly Row[];
};

export type TrustPlan = {
  readonly why: readonly Row[];
  readonly brings: readonly Row[];
  /** Where one is in what the folder brings, when it is not all here. */
  readonly place: readonly Row[];
  readonly choices: readonly Row[];
  /** The rows of what it brings that are here, of how many. */
  readonly window: { readonly top: number; readonly end: number; readonly of: number };
};

export type PartPlan = {
  readonly topic: FirstRunTopic | 'page';
  readonly rows: readonly Row[];
  readonly sight: 'whole' | 'cut';
};

/** So much of what a folder brings is here at once, before anything else is asked. */
const LEAST_BRINGS = 4;

/**
 * Gives out the rows. Where there are too few, what is asked later waits until what is asked first was answered;
 * its choices and the way out go last.
 */
export function planFirstRun(state: FirstRunState): FirstRunPlan {
  const isChoosing = state.page.kind === 'choices';
  const asked = isChoosing ? trustLines(state) : undefined;
  const trust = asked && {
    why: inRows(state, asked.why),
    brings: inRows(state, asked.brings),
    choices: inRows(state, asked.choices),
  };
  const open = (isChoosing ? topicLines(state) : [{ topic: 'page', lines: pageLines(state) } as const]).map(
    ({ topic, lines }) => ({ topic, rows: inRows(state, lines), sight: 'whole' as const }),
  );
  const all = Math.max(1, state.size.rows - 1);
  const foot = lastOf(inRows(state, footLines(state)), all);
  const room = all - foot.length;
  const first = trust === undefined ? (open[0]?.rows.length ?? 0) : leastOf(trust);
  const whole = inRows(state, headLines(state));
  const head = whole.length + first <= room ? whole : [];
  const left = room - head.length;
  const parts = trust === undefined ? fitting(open, left, 'cut') : fitting(open, left - first, 'none');
  const others = parts.reduce((sum, { rows }) => sum + rows.length, 0);
  return { head, trust: trust && fitTrust(state, trust, left - others), parts, foot };
}

/** All rows of a plan, from the top. */
export function shownRows({ head, trust, parts, foot }: FirstRunPlan): readonly Row[] {
  const asked = trust === undefined ? [] : [...trust.why, ...trust.brings, ...trust.place, ...trust.choices];
  return [...head, ...asked, ...parts.flatMap(({ rows }) => rows), ...foot];
}

/** The caret is where one writes, else at the end. */
export function caretOf(state: FirstRunState, plan: FirstRunPlan): { readonly x: number; readonly y: number } {
  const rows = shownRows(plan);
  const isWriting = state.page.kind === 'key' || state.page.kind === 'address';
  const below = isWriting ? inRows(state, pageLines(state).slice(-1)).length + plan.foot.length : 0;
  const y = Math.max(0, rows.length - 1 - below);
  return { x: textWidth(rowText(rows[y] ?? [])), y };
}

/** How much is here of something that is asked: nobody agrees to what was not here as a whole. */
export function sightOf(state: FirstRunState, topic: FirstRunTopic): 'whole' | 'cut' | 'none' {
  const { trust, parts } = planFirstRun(state);
  if (topic !== 'trust') return parts.find((part) => part.topic === topic)?.sight ?? 'none';
  if (trust === undefined) return 'none';
  return withSeen(state).seen >= trust.window.of ? 'whole' : 'cut';
}

/** The same screen with what is in sight now counted as seen. */
export function withSeen(state: FirstRunState): FirstRunState {
  const window = planFirstRun(state).trust?.window;
  if (window === undefined) return state;
  const seen = window.top <= state.seen ? Math.max(state.seen, window.end) : state.seen;
  return { ...state, top: window.top, seen };
}

/** Goes on, or back, in what the folder brings, by as much as is seen at once. */
export function scrolled(state: FirstRunState, by: 'row' | 'page', way: 1 | -1): FirstRunState {
  const shown = planFirstRun(state).trust?.brings.length ?? 0;
  const step = by === 'row' ? 1 : Math.max(1, shown - 1);
  return { ...state, top: state.top + way * step, note: '' };
}

type TrustRows = Pick<TrustPlan, 'why' | 'brings' | 'choices'>;

function leastOf({ why, brings, choices }: TrustRows): number {
  return why.length + Math.min(brings.length, LEAST_BRINGS + 2) + choices.length;
}

function fitTrust(state: FirstRunState, trust: TrustRows, room: number): TrustPlan {
  const { brings } = trust;
  const of = brings.length;
  const placed = (window: TrustPlan['window']) => inRows(state, [terminalLine(toned('warn', placeWords(window)))]);
  const choices = lastOf(trust.choices, room);
  const why = trust.why.length + choices.length + 2 <= room ? trust.why : [];
  const free = Math.max(0, room - why.length - choices.length);
  const shown = of <= free ? of : Math.max(0, free - placed({ top: of - 2, end: of - 1, of }).length);
  const top = Math.max(0, Math.min(state.top, of - shown));
  const window = { top, end: top + shown, of };
  const place = shown === of ? [] : placed(window).slice(0, free);
  return { why, brings: brings.slice(top, top + shown), place, choices, window };
}

function placeWords({ top, end, of }: TrustPlan['window']): string {
  if (top === end) return `  ${of} rows have no room here: a yes needs a higher window`;
  const place = `  rows ${top + 1} to ${end} of ${of}`;
  return end < of ? `${place}: down or space goes on, a yes counts when all was in sight` : `${place}, up goes back`;
}

/** The parts from the first to the last that has room; one that has none is cut at its top, or left out. */
function fitting(open: readonly PartPlan[], room: number, tooHigh: 'cut' | 'none'): readonly PartPlan[] {
  const [part, ...others] = open;
  if (part === undefined) return [];
  const left = room - part.rows.length;
  if (left >= 0) return [part, ...fitting(others, left, 'none')];
  return tooHigh === 'cut' ? [{ ...part, rows: lastOf(part.rows, room), sight: 'cut' }] : [];
}

function lastOf(rows: readonly Row[], room: number): readonly Row[] {
  return rows.slice(Math.max(0, rows.length - Math.max(0, room)));
}

/** Nothing that is agreed to is cut: what is longer than a row takes several. The last two columns stay free. */
function inRows({ size: { columns } }: FirstRunState, lines: readonly LogicalLine[]): readonly Row[] {
  if (columns === Number.POSITIVE_INFINITY) return lines.map(({ spans }) => spans);
  return liveRows(lines, Math.max(1, columns - 2));
}
