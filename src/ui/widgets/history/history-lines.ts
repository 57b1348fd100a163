import type { SessionWorkTotals } from '../../../contracts/session.ts';
import { exhaustive } from '../../../lib/errors.ts';
import { type Printable, printable } from '../../../lib/printable.ts';
import { formatClock, formatCount, formatDuration, formatMoney, formatTokens } from '../../../lib/text/format.ts';
import { sanitize, sanitizeForScreen } from '../../../lib/text/sanitize.ts';
import { getTextWidth, truncateEnd } from '../../../lib/text/text-width.ts';
import {
  colored,
  createProseLine,
  createStyledLine,
  insertNoBreakSpaces,
  type LogicalLine,
  measureSpans,
  plain,
  type StyledSpan,
} from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';
import { renderLines } from '../../text/render-lines.ts';
import type { Glyphs } from '../../theme/glyphs.ts';
import type { Paint } from '../../theme/paint.ts';
import { formatDiffStat } from '../diff/diff-lines.ts';
import { appendMarkdown, createMarkdownStream, finishMarkdown } from '../markdown/markdown-stream.ts';
import { renderMarkdownBlock } from '../markdown/render-markdown-block.ts';
import { renderTaskListColumn } from '../TaskList.tsx';
import { renderEndedCalls } from '../tool-calls/ended-calls.ts';
import { renderRunFailure } from './failure-lines.ts';
import type { BannerContent, HistoryItem } from './history-item.ts';

/** The state passed from one item to the next: the end of a long code block, and the kind of item printed last. */
export type HistoryRenderState = { readonly openCode: string; readonly lastKind: HistoryItem['kind'] | undefined };

/** The state before the first item. */
export const INITIAL_HISTORY_RENDER_STATE: HistoryRenderState = { openCode: '', lastKind: undefined };

const MAX_PROMPT_LINES = 8;
const TRUNCATED_PROMPT_LINES = 3;

/** Renders a history item as lines, preceded by an empty line where one is needed. */
export function renderHistoryItem(
  item: HistoryItem,
  context: RenderContext,
  state: HistoryRenderState,
): { readonly lines: readonly LogicalLine[]; readonly state: HistoryRenderState } {
  const gap = needsHistoryGap(item, state.lastKind) ? [createStyledLine()] : [];
  if (item.kind === 'markdown') {
    const block = renderMarkdownBlock(item.block, context, state.openCode);
    return { lines: [...gap, ...block.lines], state: { openCode: block.openCode, lastKind: item.kind } };
  }
  const lines = renderItem(item, context);
  return lines.length === 0
    ? { lines, state }
    : { lines: [...gap, ...lines], state: { openCode: '', lastKind: item.kind } };
}

/** Returns whether an empty line precedes an item, given the kind of item printed last. */
export function needsHistoryGap(
  item: Pick<HistoryItem, 'kind'> & { readonly position?: string },
  last: HistoryRenderState['lastKind'],
): boolean {
  if (last === undefined) return false;
  switch (item.kind) {
    case 'markdown':
      return item.position === 'first';
    case 'tools':
      return last !== 'tools';
    case 'stopped':
      return last !== 'tools';
    case 'notice':
      return last !== 'notice';
    default:
      return true;
  }
}

function renderItem(item: Exclude<HistoryItem, { kind: 'markdown' }>, context: RenderContext): readonly LogicalLine[] {
  const { glyphs } = context;
  switch (item.kind) {
    case 'banner':
      return renderBanner(item, context);
    case 'last_session':
      return [renderLastSession(item, context)];
    case 'prompt':
      return context.timestamps === 'shown'
        ? appendTime(renderPrompt(item.text, context), item.at)
        : renderPrompt(item.text, context);
    case 'tools':
      return renderEndedCalls(item.entries, context);
    case 'notice':
      return sanitizeForScreen(item.text)
        .split('\n')
        .map((line, index) =>
          createProseLine(
            colored(getNoticeToken(item.level), `${index === 0 ? getNoticePrefix(item.level) : '  '}${line}`),
          ),
        );
    case 'failure':
      return renderRunFailure(item, context);
    case 'ended':
      return [createSummaryLine(item, context)];
    case 'stopped':
      return [createProseLine(colored('warn', `${glyphs.stopped} `), plain(item.hint))];
    case 'thinking':
      return [createStyledLine(colored('dim', `thought for ${formatDuration(Math.floor(item.ms / 1000) * 1000)}`))];
    case 'compacted':
      return [
        createStyledLine(
          colored('ok', `${glyphs.done} `),
          plain(`Compacted: ${formatTokens(item.fromTokens)} ${glyphs.arrow} ${formatTokens(item.toTokens)} tokens. `),
          colored('dim', 'The full history stays above and in ctrl+o.'),
        ),
      ];
    case 'shown':
      return renderMarkdown(item.markdown, context);
    case 'todos':
      return renderTaskListColumn(item.todos, context);
    default:
      return exhaustive(item);
  }
}

/** Renders complete Markdown as lines. */
export function renderMarkdown(markdown: string, context: RenderContext): readonly LogicalLine[] {
  const parsed = appendMarkdown(
    createMarkdownStream({ codeLines: Number.POSITIVE_INFINITY }),
    sanitizeForScreen(markdown),
  );
  return [...parsed.finished, ...finishMarkdown(parsed.stream)].flatMap(
    (block) => renderMarkdownBlock(block, context).lines,
  );
}

/** Appends the time of day to the first line. */
export function appendTime(lines: readonly LogicalLine[], at: string | undefined): readonly LogicalLine[] {
  const [first, ...rest] = lines;
  const time = formatClock(at);
  if (first === undefined || time === '') return lines;
  return [{ ...first, spans: [...first.spans, colored('dim', `   ${time}`)] }, ...rest];
}

function renderPrompt(text: string, { glyphs }: RenderContext): readonly LogicalLine[] {
  const allLines = sanitizeForScreen(text).split('\n');
  const shownLines = allLines.length > MAX_PROMPT_LINES ? allLines.slice(0, TRUNCATED_PROMPT_LINES) : allLines;
  const hiddenCount = allLines.length - shownLines.length;
  return [
    ...shownLines.map((line) => createUserLine({ text: line, style: { token: 'user', background: 'band' } }, glyphs)),
    ...(hiddenCount === 0
      ? []
      : [
          createUserLine(
            { text: `${glyphs.ellipsis} ${hiddenCount} lines  ctrl+o`, style: { token: 'dim', background: 'band' } },
            glyphs,
          ),
        ]),
  ];
}

/** Creates a line of a user message: a bar, and a band in the background. */
function createUserLine(content: StyledSpan, { bar }: Glyphs): LogicalLine {
  const space: StyledSpan = { text: content.text === '' ? '' : ' ', style: { background: 'band' } };
  return createStyledLine({ text: bar, style: { token: 'brand', background: 'band' } }, space, content);
}

/** Creates the summary line of a run, with the command that reverts its changes. */
function createSummaryLine(
  { tally, durationMs, costUsd, atMs }: Extract<HistoryItem, { kind: 'ended' }>,
  { glyphs, timestamps }: RenderContext,
): LogicalLine {
  const { calls, files, added, removed } = tally;
  const parts = [
    formatDuration(durationMs),
    formatCount(calls, 'call'),
    ...(files.length === 0 ? [] : [`${formatCount(files.length, 'file')} +${added} ${glyphs.minus}${removed}`]),
    ...(costUsd > 0 ? [formatMoney(costUsd)] : []),
    ...(timestamps === 'shown' ? [formatClock(new Date(atMs).toISOString())] : []),
  ];
  const revertHint =
    files.length === 0 ? [] : [colored('accent', '    /undo'), colored('dim', insertNoBreakSpaces(' reverts it'))];
  const text = insertNoBreakSpaces(glyphs.rule) + parts.map(insertNoBreakSpaces).join(glyphs.separator);
  return { ...createProseLine(colored('dim', text), ...revertHint), hasNoBreakSpaces: true };
}

function getNoticeToken(level: 'info' | 'warn' | 'error'): 'dim' | 'warn' | 'error' {
  return level === 'info' ? 'dim' : level;
}

function getNoticePrefix(level: 'info' | 'warn' | 'error'): string {
  return level === 'info' ? '' : '! ';
}

/** OSC 133 marks: end of the previous output, start of a prompt. Terminals can jump between prompts. */
const PROMPT_START_MARK = printable`\u001b]133;D\u0007\u001b]133;A\u0007`;
/** OSC 133 marks: end of the prompt, start of its output. */
const PROMPT_END_MARK = printable`\u001b]133;B\u0007\u001b]133;C\u0007`;

/** Creates a printer of finished items for the scrollback, in order. Its only state is what it printed last. */
export function createHistoryPrinter(prose: 'words' | 'terminal', promptMarks: 'set' | 'off') {
  let carry = INITIAL_HISTORY_RENDER_STATE;
  return {
    print(items: readonly HistoryItem[], context: RenderContext, paint: Paint): readonly Printable[] {
      return items.flatMap((item) => {
        const rendered = renderHistoryItem(item, context, carry);
        carry = rendered.state;
        const { width, links } = context;
        const rows = renderLines(rendered.lines, { width, paint, zone: 'history', links, prose });
        return promptMarks === 'set' && item.kind === 'prompt' ? addPromptMarks(rows) : rows;
      });
    },
    getState: (): HistoryRenderState => carry,
  };
}

function addPromptMarks(rows: readonly Printable[]): readonly Printable[] {
  const first = rows.findIndex((row) => row !== '');
  return rows.map((row, index) => {
    const marked = index === first ? printable`${PROMPT_START_MARK}${row}` : row;
    return index === rows.length - 1 ? printable`${marked}${PROMPT_END_MARK}` : marked;
  });
}

const NARROW = 60;
/** Minimum width of a truncated title. */
const MIN_TITLE_COLUMNS = 24;

/** Renders the banner: the logo, and beside it version, model, folder and the extensions in effect. @internal */
export function renderBanner(
  { version, model, window, folder, branch, configuration }: BannerContent,
  { glyphs, width }: RenderContext,
): readonly LogicalLine[] {
  const logo = getLogo(glyphs, width);
  const createLogoSpan = (row: number) => colored('brand', logo[row] === undefined ? '' : ` ${logo[row]}  `);
  const clean = (text: string) => sanitize(text, 'line');
  const branchText = branch === undefined ? '' : `  ${glyphs.branch} ${clean(branch)}`;
  const folderLine = createStyledLine(createLogoSpan(1), plain(clean(folder)), colored('dim', branchText));
  const effectsSpan = colored('dim', clean(configuration.join(glyphs.separator)));
  const isWide = measureSpans(folderLine.spans) + getTextWidth(effectsSpan.text) + 4 <= width;
  return [
    createStyledLine(
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

/**
 * Renders the last session below the banner: age, title, amount of work, and the command that continues it. @internal
 */
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
  return { ...createStyledLine(age, plain(titleText), ...details), indent };
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
