import type { SessionWorkTotals } from '../../../contracts/session.ts';
import { formatCount } from '../../../lib/text/format.ts';
import { sanitize } from '../../../lib/text/sanitize.ts';
import { getTextWidth, truncateEnd } from '../../../lib/text/text-width.ts';
import {
  colored,
  createLine,
  createProseLine,
  type LogicalLine,
  measureSpans,
  plain,
  type StyledSpan,
} from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';
import type { Glyphs } from '../../theme/glyphs.ts';
import { formatDiffStat } from '../diff/diff-lines.ts';
import type { Banner, HistoryItem } from './history-item.ts';

const NARROW = 60;
/** Minimum width of a truncated title. */
const MIN_TITLE_COLUMNS = 24;

/** Renders the banner: the logo, and beside it version, model, folder and the extensions in effect. */
export function renderBanner(
  { version, model, window, folder, branch, configuration }: Banner,
  { glyphs, width }: RenderContext,
): readonly LogicalLine[] {
  const logo = getLogo(glyphs, width);
  const createLogoSpan = (row: number) => colored('brand', logo[row] === undefined ? '' : ` ${logo[row]}  `);
  const clean = (text: string) => sanitize(text, 'line');
  const branchText = branch === undefined ? '' : `  ${glyphs.branch} ${clean(branch)}`;
  const folderLine = createLine(createLogoSpan(1), plain(clean(folder)), colored('dim', branchText));
  const effectsSpan = colored('dim', clean(configuration.join(glyphs.separator)));
  const isWide = measureSpans(folderLine.spans) + getTextWidth(effectsSpan.text) + 4 <= width;
  return [
    createLine(
      createLogoSpan(0),
      { text: 'ouro', style: { bold: true } },
      colored('dim', ` ${clean(version)}     `),
      plain(clean(model)),
      colored('dim', `${glyphs.separator}${clean(window)} window`),
    ),
    ...(isWide
      ? [{ ...folderLine, spans: [...folderLine.spans, plain('   '), effectsSpan] }]
      : [folderLine, { ...createProseLine(effectsSpan), indent: getTextWidth(createLogoSpan(1).text) }]),
  ];
}

type LastSession = Extract<HistoryItem, { kind: 'last_session' }>;

/** Renders the last session below the banner: age, title, amount of work, and the command that continues it. */
export function renderLastSession({ when, title, worked }: LastSession, { glyphs, width }: RenderContext): LogicalLine {
  const [logoRow = ''] = getLogo(glyphs, width);
  const indent = logoRow === '' ? 0 : getTextWidth(logoRow) + 3;
  const age = colored('dim', `${when}  `);
  const gap = width < NARROW ? '  ' : '      ';
  const command = [colored('accent', `${gap}ouro -c`)];
  const [turns = [], lines = []] = worked === undefined ? [] : createWorkSpans(worked, glyphs);
  const candidates = [
    [...turns, ...lines, ...command, colored('dim', ' continues it')],
    [...turns, ...lines, ...command],
    [...turns, ...command],
  ];
  const room = width - 2 - indent - measureSpans([age]);
  const minTitle = Math.min(MIN_TITLE_COLUMNS, getTextWidth(title));
  const details = candidates.find((spans) => room - measureSpans(spans) >= minTitle) ?? command;
  const titleText = truncateEnd(sanitize(title, 'line'), Math.max(8, room - measureSpans(details)));
  return { ...createLine(age, plain(titleText), ...details), indent };
}

function createWorkSpans(
  { turns, added, removed }: SessionWorkTotals,
  glyphs: Glyphs,
): readonly (readonly StyledSpan[])[] {
  const separator = colored('dim', glyphs.separator);
  const lines = added + removed === 0 ? [] : [separator, ...formatDiffStat({ added, removed }, glyphs)];
  return [[separator, colored('dim', formatCount(turns, 'turn'))], lines];
}

function getLogo(glyphs: Glyphs, width: number): Glyphs['logo'] {
  return width < NARROW ? [] : glyphs.logo;
}
