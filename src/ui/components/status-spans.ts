import { formatMoney } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import type { Drawing } from '../text/drawing.ts';
import { fitLine, type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';
import type { Style } from '../theme/theme.ts';
import type { ViewState } from '../view/view-state.ts';
import { activitySpans } from './activity-line.ts';

const NARROW = 60;
const ROOMY_ROWS = 16;
const FULL_PERCENT = 80;
const GAUGE = 8;

type Chip = { readonly word: string; readonly style: Style };

/** The permission modes as they are shown; a mode without a row here shows its own name. */
const CHIPS: Readonly<Record<string, Chip>> = {
  default: { word: 'ask', style: { token: 'accent' } },
  acceptEdits: { word: 'edits', style: { token: 'warn' } },
  plan: { word: 'plan', style: { token: 'code' } },
  dontAsk: { word: "don't ask", style: { token: 'accent' } },
  bypassPermissions: { word: 'all!', style: { token: 'error' } },
};

/** What a script of one's own says below the status line, where there is room. */
export function scriptLines({ facts }: ViewState, { rows }: Drawing): readonly LogicalLine[] {
  const [, ...more] = rows < ROOMY_ROWS ? [] : (facts.script ?? '').split('\n');
  return more.map((line) => ({ ...terminalLine(toned('dim', sanitize(line, 'line'))), indent: 2 }));
}

/** One line about where we are: mode, what is being done, model, context, cost; narrow screens keep the essential. */
export function statusSpans(view: ViewState, drawing: Drawing): readonly Span[] {
  const { facts, hint } = view;
  const { nowMs, width } = drawing;
  const chip = CHIPS[facts.mode] ?? { word: sanitize(facts.mode, 'line'), style: { token: 'accent' } };
  const mode: Span = { text: ` ${chip.word} `, style: { ...chip.style, bold: true, inverse: true } };
  const vim = vimWord(view);
  const activity = activitySpans(view, drawing);
  const isHinting = hint !== undefined && hint.untilMs > nowMs;
  const segments: readonly (readonly Span[])[] = [
    ...(isHinting ? [[toned('warn', hint.text)]] : []),
    ...(activity.length === 0 ? [] : [activity]),
    ...(vim === undefined ? [] : [[plain(vim)]]),
    ...factSegments(view, drawing, activity.length === 0 ? 'at rest' : 'busy'),
  ];
  return withinRow([plain(' '), mode], segments, width - 2);
}

function factSegments(
  { facts }: ViewState,
  { width, glyphs }: Drawing,
  state: 'at rest' | 'busy',
): readonly (readonly Span[])[] {
  if (facts.script !== undefined) return [[toned('dim', sanitize(facts.script.split('\n', 1)[0] ?? '', 'line'))]];
  const percent = Math.round((100 * facts.contextTokens) / Math.max(1, facts.contextWindow));
  const words = percent >= FULL_PERCENT ? toned('warn', `${percent}% full, /compact`) : toned('dim', `${percent}%`);
  if (width < NARROW) return [[words]];
  const full = Math.min(GAUGE, Math.ceil((percent * GAUGE) / 100));
  const { gauge } = glyphs;
  const context = [
    toned('brand', gauge.full.repeat(full)),
    toned('dim', `${gauge.empty.repeat(GAUGE - full)} `),
    words,
  ];
  const isBusy = state === 'busy';
  return [
    [toned('dim', sanitize(facts.model, 'line'))],
    isBusy ? [words] : context,
    [toned('dim', facts.isDemo ? 'demo' : formatMoney(facts.costUsd))],
    ...(facts.branch === undefined || isBusy
      ? []
      : [[toned('dim', `${glyphs.branch} ${sanitize(facts.branch, 'line')}`)]]),
    ...(facts.shellAt === undefined ? [] : [[toned('dim', `in ${sanitize(facts.shellAt, 'line')}`)]]),
    ...(facts.background === 0 ? [] : [[toned('dim', `${facts.background} background`)]]),
  ];
}

/** Vim's mode, as long as keys are not text. */
function vimWord({ vim, activity }: ViewState): string | undefined {
  if (vim === undefined || vim.mode === 'insert') return undefined;
  const word = vim.mode === 'normal' ? 'NORMAL' : 'VISUAL';
  return activity.status === 'idle' || vim.mode !== 'normal' ? word : `${word}, esc stop`;
}

/** The segments that fit beside one another; the first is cut rather than left out. */
function withinRow(head: readonly Span[], segments: readonly (readonly Span[])[], width: number): readonly Span[] {
  let left = width - widthOf(head);
  const row = [...head];
  for (const [at, segment] of segments.entries()) {
    const gap = at === 0 ? '  ' : '   ';
    const room = left - gap.length;
    if (widthOf(segment) > room && at > 0) continue;
    const shown = widthOf(segment) > room ? fitLine(terminalLine(...segment), room + 2).spans : segment;
    row.push(plain(gap), ...shown);
    left = room - widthOf(shown);
  }
  return row;
}

function widthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { text }) => sum + textWidth(text), 0);
}
