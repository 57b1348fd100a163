import type { Worked } from '../../contracts/session.ts';
import { formatCount } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { changedCounts } from '../text/changed-counts.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, proseLine, type Span, spansWidth, terminalLine, toned } from '../text/line.ts';
import type { Glyphs } from '../theme/glyphs.ts';
import type { Banner, HistoryItem } from '../view/history-item.ts';

const NARROW = 60;
/** A title that is cut says at least this much. */
const TITLE_COLUMNS = 24;

/** What a start shows: a sign of its own, and beside it what this is and where we are. */
export function bannerLines(
  { version, model, window, folder, branch, effects }: Banner,
  { glyphs, width }: Drawing,
): readonly LogicalLine[] {
  const signs = signsBeside(glyphs, width);
  const sign = (at: number) => toned('brand', signs[at] === undefined ? '' : ` ${signs[at]}  `);
  const words = (text: string) => sanitize(text, 'line');
  const here = branch === undefined ? '' : `  ${glyphs.branch} ${words(branch)}`;
  const where = terminalLine(sign(1), plain(words(folder)), toned('dim', here));
  const inEffect = toned('dim', words(effects.join(glyphs.separator)));
  const isWide = spansWidth(where.spans) + textWidth(inEffect.text) + 4 <= width;
  return [
    terminalLine(
      sign(0),
      { text: 'ouro', style: { bold: true } },
      toned('dim', ` ${words(version)}     `),
      plain(words(model)),
      toned('dim', `${glyphs.separator}${words(window)} window`),
    ),
    ...(isWide
      ? [{ ...where, spans: [...where.spans, plain('   '), inEffect] }]
      : [where, { ...proseLine(inEffect), indent: textWidth(sign(1).text) }]),
  ];
}

type LastSession = Extract<HistoryItem, { kind: 'last_session' }>;

/** Below the words of the banner: what was worked on last, how much of it, and how to go on. */
export function lastSessionLine({ when, title, worked }: LastSession, { glyphs, width }: Drawing): LogicalLine {
  const [sign = ''] = signsBeside(glyphs, width);
  const indent = sign === '' ? 0 : textWidth(sign) + 3;
  const ago = toned('dim', `${when}  `);
  const gap = width < NARROW ? '  ' : '      ';
  const how = [toned('accent', `${gap}ouro -c`)];
  const [turns = [], lines = []] = worked === undefined ? [] : workSpans(worked, glyphs);
  const behind = [
    [...turns, ...lines, ...how, toned('dim', ' goes on there')],
    [...turns, ...lines, ...how],
    [...turns, ...how],
  ];
  const room = width - 2 - indent - spansWidth([ago]);
  const least = Math.min(TITLE_COLUMNS, textWidth(title));
  const rest = behind.find((spans) => room - spansWidth(spans) >= least) ?? how;
  const words = truncateEnd(sanitize(title, 'line'), Math.max(8, room - spansWidth(rest)));
  return { ...terminalLine(ago, plain(words), ...rest), indent };
}

function workSpans({ turns, added, removed }: Worked, glyphs: Glyphs): readonly (readonly Span[])[] {
  const between = toned('dim', glyphs.separator);
  const lines = added + removed === 0 ? [] : [between, ...changedCounts({ added, removed }, glyphs)];
  return [[between, toned('dim', formatCount(turns, 'turn'))], lines];
}

function signsBeside(glyphs: Glyphs, width: number): Glyphs['sign'] {
  return width < NARROW ? [] : glyphs.sign;
}
