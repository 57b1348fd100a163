import { formatCount, formatDuration } from '../../lib/text/format.ts';
import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { headTail } from '../../lib/text/truncate.ts';
import { type Drawing, shortPath, shortTitle } from '../text/drawing.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';
import type { ToolEnding, ToolEntry } from '../view/tool-entry.ts';
import { diffLines } from './diff-lines.ts';

const DONE_HEAD = 3;
const DONE_TAIL = 5;
const FAILED_TAIL = 20;
const DIFF_LINES = 40;

/** What a call is called: its tool, and what it is about. */
export function toolTitle({ tool, title, by }: ToolEntry, cwd: string): readonly Span[] {
  const words = shortTitle(sanitizeScreen(title).replaceAll('\n', ' '), cwd);
  if (by === 'person') return [toned('user', `! ${words}`)];
  const about = words.startsWith(`${tool} `) ? words.slice(tool.length + 1) : words;
  return [{ text: tool, style: { bold: true } }, plain(about === '' ? '' : ` ${about}`)];
}

/** Calls that are over. Reads and searches that went well share a line. */
export function endedToolLines(entries: readonly ToolEntry[], drawing: Drawing): readonly LogicalLine[] {
  const lines: LogicalLine[] = [];
  let reads: string[] = [];
  const flush = () => {
    if (reads.length > 0) {
      lines.push(
        terminalLine(toned('ok', drawing.glyphs.done), plain(' '), bold('Read'), plain(` ${reads.join(', ')}`)),
      );
    }
    reads = [];
  };
  for (const entry of entries) {
    if (entry.state.status !== 'ended' || isQuiet(entry.state.ending)) continue;
    const { ending } = entry.state;
    if (ending.status === 'done' && ending.display?.kind === 'file') {
      reads.push(sanitizeScreen(shortPath(ending.display.path, drawing.cwd)));
      continue;
    }
    flush();
    lines.push(headLine(entry, ending, drawing), ...bodyLines(ending, drawing));
  }
  flush();
  return lines;
}

/** The list of tasks has a place of its own on the screen. */
export function isQuiet({ status, display }: ToolEnding): boolean {
  return status === 'done' && display?.kind === 'todo';
}

/** The line of a call that is over. */
export function headLine(entry: ToolEntry, ending: ToolEnding, drawing: Drawing): LogicalLine {
  const { glyphs } = drawing;
  const title = toolTitle(entry, drawing.cwd);
  const took = ending.durationMs >= 1000 ? `  ${formatDuration(ending.durationMs)}` : '';
  switch (ending.status) {
    case 'done':
      return terminalLine(
        toned('ok', glyphs.done),
        plain(' '),
        ...title,
        toned('dim', summary(ending, glyphs.arrow) + took),
      );
    case 'failed':
      return terminalLine(
        toned('error', glyphs.failed),
        plain(' '),
        ...title,
        toned('error', `  ${shortTitle(reason(ending), drawing.cwd)}`),
        toned('dim', took),
      );
    case 'denied':
      return terminalLine(toned('warn', glyphs.failed), plain(' '), ...title, toned('warn', '  not allowed'));
    default:
      return terminalLine(
        toned('warn', glyphs.stopped),
        plain(' '),
        ...title,
        toned('dim', `  stopped after ${formatDuration(ending.durationMs)}`),
      );
  }
}

function summary({ display }: ToolEnding, arrow: string): string {
  switch (display?.kind) {
    case 'diff':
      return `  +${display.added} -${display.removed}${display.created ? ' (new)' : ''}`;
    case 'list':
      return ` ${arrow} ${sanitizeScreen(display.summary)}`;
    case 'file':
      return `  ${formatCount(display.lines, 'line')}`;
    case 'agent':
      return `  ${formatCount(display.calls, 'call')}`;
    default:
      return '';
  }
}

/** Why it did not work, on the first line. */
function reason({ display, text }: ToolEnding): string {
  if (display?.kind === 'output' && display.exitCode !== null) return `exit ${display.exitCode}`;
  return sanitizeScreen(text).split('\n', 1)[0] ?? 'failed';
}

function bodyLines(ending: ToolEnding, drawing: Drawing): readonly LogicalLine[] {
  const { display, status } = ending;
  const { output } = drawing.glyphs;
  switch (display?.kind) {
    case 'diff': {
      const lines = diffLines(display, drawing.width);
      if (lines.length <= DIFF_LINES) return lines;
      const rest = formatCount(lines.length - DIFF_LINES, 'more line');
      return [...lines.slice(0, DIFF_LINES), terminalLine(toned('dim', `  ${drawing.glyphs.more} ${rest} (ctrl+o)`))];
    }
    case 'output': {
      const rows = sanitizeScreen(display.output).replace(/\n+$/, '').split('\n');
      if (rows.length === 1 && rows[0] === '') return [];
      if (status === 'failed') return cutLines(rows, { head: 0, tail: FAILED_TAIL }, display.hiddenLines, drawing);
      return cutLines(rows, { head: DONE_HEAD, tail: DONE_TAIL }, display.hiddenLines, drawing);
    }
    case 'agent':
    case 'text':
      return outputLines(
        sanitizeScreen(display.kind === 'text' ? display.text : display.summary)
          .split('\n')
          .slice(0, 8),
        output,
      );
    case 'question':
      return display.questions.map((question, at) =>
        terminalLine(
          toned('dim', `${output} `),
          plain(`${sanitizeScreen(question.question)} `),
          bold(sanitizeScreen(display.answers[at] ?? '')),
        ),
      );
    default:
      return status === 'failed' && ending.text.includes('\n')
        ? outputLines(sanitizeScreen(ending.text).split('\n').slice(1, FAILED_TAIL), output)
        : [];
  }
}

function cutLines(
  rows: readonly string[],
  keep: { readonly head: number; readonly tail: number },
  hiddenBefore: number,
  { glyphs }: Drawing,
): readonly LogicalLine[] {
  const { head, hidden, tail } = headTail(rows, keep);
  const left = hidden + hiddenBefore;
  const cut =
    left === 0
      ? []
      : [terminalLine(toned('dim', `${glyphs.output} ${glyphs.more} ${formatCount(left, 'more line')} (ctrl+o)`))];
  return [...outputLines(head, glyphs.output), ...cut, ...outputLines(tail, glyphs.output)];
}

/** Lines of output behind a bar. */
export function outputLines(rows: readonly string[], bar: string): readonly LogicalLine[] {
  return rows.map((row) => terminalLine(toned('dim', `${bar} `), plain(sanitizeScreen(row).trimEnd())));
}

function bold(text: string): Span {
  return { text, style: { bold: true } };
}
