import { exhaustive } from '../../lib/exhaustive.ts';
import { formatClock, formatCount, formatDuration, formatMoney, formatTokens } from '../../lib/text/format.ts';
import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { renderBlock } from '../markdown/render-block.ts';
import { feedMarkdown, finishMarkdown, startMarkdown } from '../markdown/stream.ts';
import type { Drawing } from '../text/drawing.ts';
import { held, type LogicalLine, plain, proseLine, type Span, terminalLine, toned } from '../text/line.ts';
import type { Glyphs } from '../theme/glyphs.ts';
import type { HistoryItem } from '../view/history-item.ts';
import { failureLines } from './failure-lines.ts';
import { bannerLines, lastSessionLine } from './start-lines.ts';
import { todoColumn } from './todo-lines.ts';
import { endedToolLines } from './tool-lines.ts';

/** What one item leaves for the next: the end of a long code block, and what was printed last. */
export type HistoryCarry = { readonly code: string; readonly last: HistoryItem['kind'] | undefined };

export const NO_CARRY: HistoryCarry = { code: '', last: undefined };

const PROMPT_LINES = 8;
const PROMPT_HEAD = 3;

/** The lines of an item, the empty line that sets it apart included. */
export function historyLines(
  item: HistoryItem,
  drawing: Drawing,
  carry: HistoryCarry,
): { readonly lines: readonly LogicalLine[]; readonly carry: HistoryCarry } {
  const gap = needsGap(item, carry.last) ? [terminalLine()] : [];
  if (item.kind === 'markdown') {
    const block = renderBlock(item.block, drawing, carry.code);
    return { lines: [...gap, ...block.lines], carry: { code: block.carry, last: item.kind } };
  }
  const lines = itemLines(item, drawing);
  return lines.length === 0 ? { lines, carry } : { lines: [...gap, ...lines], carry: { code: '', last: item.kind } };
}

/** Whether an empty line stands before something that follows what was printed last. */
export function needsGap(
  item: Pick<HistoryItem, 'kind'> & { readonly place?: string },
  last: HistoryCarry['last'],
): boolean {
  if (last === undefined) return false;
  switch (item.kind) {
    case 'markdown':
      return item.place === 'first';
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

function itemLines(item: Exclude<HistoryItem, { kind: 'markdown' }>, drawing: Drawing): readonly LogicalLine[] {
  const { glyphs } = drawing;
  switch (item.kind) {
    case 'banner':
      return bannerLines(item, drawing);
    case 'last_session':
      return [lastSessionLine(item, drawing)];
    case 'prompt':
      return drawing.times === 'shown'
        ? withTime(promptLines(item.text, drawing), item.at)
        : promptLines(item.text, drawing);
    case 'tools':
      return endedToolLines(item.entries, drawing);
    case 'notice':
      return sanitizeScreen(item.text)
        .split('\n')
        .map((line, at) =>
          proseLine(toned(noticeToken(item.level), `${at === 0 ? noticeSign(item.level) : '  '}${line}`)),
        );
    case 'failure':
      return failureLines(item, drawing);
    case 'ended':
      return [endLine(item, drawing)];
    case 'stopped':
      return [terminalLine(toned('warn', `${glyphs.stopped} `), plain(item.hint))];
    case 'thought':
      return [terminalLine(toned('dim', `thought ${formatDuration(Math.floor(item.ms / 1000) * 1000)}`))];
    case 'made_room':
      return [
        terminalLine(
          toned('ok', `${glyphs.done} `),
          plain(`Made room: ${formatTokens(item.fromTokens)} ${glyphs.arrow} ${formatTokens(item.toTokens)}. `),
          toned('dim', 'Full history stays above and in ctrl+o.'),
        ),
      ];
    case 'shown':
      return markdownLines(item.markdown, drawing);
    case 'todos':
      return todoColumn(item.todos, drawing);
    default:
      return exhaustive(item);
  }
}

/** Markdown that does not stream. */
export function markdownLines(markdown: string, drawing: Drawing): readonly LogicalLine[] {
  const fed = feedMarkdown(startMarkdown({ codeLines: Number.POSITIVE_INFINITY }), sanitizeScreen(markdown));
  return [...fed.finished, ...finishMarkdown(fed.stream)].flatMap((block) => renderBlock(block, drawing).lines);
}

/** Lines with the time of day behind the first of them. */
export function withTime(lines: readonly LogicalLine[], at: string | undefined): readonly LogicalLine[] {
  const [first, ...rest] = lines;
  const time = formatClock(at);
  if (first === undefined || time === '') return lines;
  return [{ ...first, spans: [...first.spans, toned('dim', `   ${time}`)] }, ...rest];
}

function promptLines(text: string, { glyphs }: Drawing): readonly LogicalLine[] {
  const all = sanitizeScreen(text).split('\n');
  const shown = all.length > PROMPT_LINES ? all.slice(0, PROMPT_HEAD) : all;
  const rest = all.length - shown.length;
  return [
    ...shown.map((line) => yours({ text: line, style: { token: 'user', background: 'band' } }, glyphs)),
    ...(rest === 0
      ? []
      : [yours({ text: `${glyphs.more} ${rest} lines  ctrl+o`, style: { token: 'dim', background: 'band' } }, glyphs)]),
  ];
}

/** A line of what is yours: a bar, and a band behind it. */
function yours(words: Span, { bar }: Glyphs): LogicalLine {
  const space: Span = { text: words.text === '' ? '' : ' ', style: { background: 'band' } };
  return terminalLine({ text: bar, style: { token: 'brand', background: 'band' } }, space, words);
}

/** One line about a turn that is over, and the way back. */
function endLine(
  { tally, durationMs, costUsd, atMs }: Extract<HistoryItem, { kind: 'ended' }>,
  { glyphs, times }: Drawing,
): LogicalLine {
  const { calls, files, added, removed } = tally;
  const parts = [
    formatDuration(durationMs),
    formatCount(calls, 'call'),
    ...(files.length === 0 ? [] : [`${formatCount(files.length, 'file')} +${added} ${glyphs.minus}${removed}`]),
    ...(costUsd > 0 ? [formatMoney(costUsd)] : []),
    ...(times === 'shown' ? [formatClock(new Date(atMs).toISOString())] : []),
  ];
  const back = files.length === 0 ? [] : [toned('accent', '    /undo'), toned('dim', held(' takes it back'))];
  const words = held(glyphs.mark) + parts.map(held).join(glyphs.separator);
  return { ...proseLine(toned('dim', words), ...back), glued: true };
}

function noticeToken(level: 'info' | 'warn' | 'error'): 'dim' | 'warn' | 'error' {
  return level === 'info' ? 'dim' : level;
}

function noticeSign(level: 'info' | 'warn' | 'error'): string {
  return level === 'info' ? '' : '! ';
}
