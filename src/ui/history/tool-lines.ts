import type { Display } from '../../contracts/display.ts';
import { formatCount, formatDuration } from '../../lib/text/format.ts';
import { sanitize, sanitizeScreen } from '../../lib/text/sanitize.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { changedCounts } from '../text/changed-counts.ts';
import { type Drawing, shortPath, shortTitle } from '../text/drawing.ts';
import { type LogicalLine, plain, type Span, spansWidth, terminalLine, toned } from '../text/line.ts';
import type { Glyphs } from '../theme/glyphs.ts';
import { mostOfDiff, type ToolEnding, type ToolEntry } from '../view/tool-entry.ts';
import { agentTitle, commandLines, toolTitle } from './call-title.ts';
import { diffLines } from './diff-lines.ts';
import { limitedLines } from './output-lines.ts';

const SCRIPT_LINES = 3;
const SHORT_MS = 300;

/** Calls that are over. Look-ups that went well share a line. */
export function endedToolLines(entries: readonly ToolEntry[], drawing: Drawing): readonly LogicalLine[] {
  const lines: LogicalLine[] = [];
  let looked: Looked[] = [];
  const flush = () => {
    if (looked.length > 0) lines.push(lookedLine(looked, drawing));
    looked = [];
  };
  for (const entry of entries) {
    if (entry.state.status !== 'ended' || isQuiet(entry.state.ending)) continue;
    const { ending } = entry.state;
    const found = lookedUp(entry, ending, drawing);
    if (found !== undefined) {
      looked.push(found);
      continue;
    }
    flush();
    lines.push(headLine(entry, ending, drawing), ...scriptLines(entry, drawing), ...bodyLines(ending, drawing));
  }
  flush();
  return lines;
}

type Looked = { readonly tool: string; readonly what: string };

/** A look at something that went well: what was looked at, and how much was found. */
function lookedUp({ tool, title }: ToolEntry, { status, display }: ToolEnding, { cwd }: Drawing): Looked | undefined {
  if (status !== 'done') return undefined;
  if (display?.kind === 'file') return { tool, what: sanitize(shortPath(display.path, cwd), 'line') };
  if (display?.kind !== 'list') return undefined;
  const words = sanitize(shortTitle(title, cwd), 'line');
  return { tool, what: `${words.startsWith(`${tool} `) ? words.slice(tool.length + 1) : words} ${display.total}` };
}

function lookedLine(looked: readonly Looked[], { glyphs }: Drawing): LogicalLine {
  const byTool = Map.groupBy(looked, ({ tool }) => tool);
  const words = [...byTool].map(([tool, all]) => `${sanitize(tool, 'line')} ${all.map(({ what }) => what).join(', ')}`);
  const head = [toned('ok', glyphs.done), plain(' ')];
  const [only] = words;
  // One kind needs no word for all of them.
  if (words.length === 1 && only !== undefined) {
    const [tool = '', ...rest] = only.split(' ');
    return terminalLine(...head, bold(tool), toned('dim', ` ${rest.join(' ')}`));
  }
  return terminalLine(...head, bold('Looked'), toned('dim', `  ${words.join(glyphs.separator)}`));
}

/** The further lines of a script, as far as they say what it does. */
function scriptLines(entry: ToolEntry, { glyphs }: Drawing): readonly LogicalLine[] {
  const rest = commandLines(entry).slice(1);
  const shown = rest.slice(0, rest.length > SCRIPT_LINES + 1 ? SCRIPT_LINES : rest.length);
  const cut = rest.length - shown.length;
  return [
    ...shown.map((line) => terminalLine(toned('dim', `${glyphs.output} ${line}`))),
    ...(cut === 0
      ? []
      : [terminalLine(toned('dim', `${glyphs.output} ${glyphs.more} ${formatCount(cut, 'line')}  ctrl+o`))]),
  ];
}

/** The list of tasks has a place of its own on the screen. */
export function isQuiet({ status, display }: ToolEnding): boolean {
  return status === 'done' && display?.kind === 'todo';
}

/** The line of a call that is over. */
export function headLine(entry: ToolEntry, ending: ToolEnding, drawing: Drawing): LogicalLine {
  const { glyphs } = drawing;
  const title = endedTitle(entry, ending, drawing);
  const took = ending.durationMs >= SHORT_MS ? `  ${formatDuration(ending.durationMs)}` : '';
  switch (ending.status) {
    case 'done':
      return terminalLine(
        toned('ok', glyphs.done),
        plain(' '),
        ...title,
        ...summary(ending, glyphs),
        toned('dim', took),
      );
    case 'failed':
      return terminalLine(
        toned('error', glyphs.failed),
        plain(' '),
        ...title,
        toned('error', `  ${shortTitle(reason(ending), drawing.cwd)}`),
        ...(ending.display?.kind === 'output' ? summary(ending, glyphs) : []),
        toned('dim', took),
      );
    case 'denied':
      return terminalLine(toned('warn', glyphs.failed), plain(' '), ...title, ...refusalSpans(ending));
    default:
      return terminalLine(
        toned('warn', glyphs.stopped),
        plain(' '),
        ...title,
        toned('dim', `  stopped after ${formatDuration(ending.durationMs)}`),
      );
  }
}

/** A sub-agent is called by what it was sent for; questions stand below with their answers. */
function endedTitle(entry: ToolEntry, { display }: ToolEnding, { cwd }: Drawing): readonly Span[] {
  const title = toolTitle(entry, cwd);
  if (display?.kind === 'agent') return [bold(agentTitle(entry, cwd))];
  return display?.kind === 'question' ? title.slice(0, 1) : title;
}

function summary({ display }: ToolEnding, glyphs: Glyphs): readonly Span[] {
  switch (display?.kind) {
    case 'diff': {
      const counts = display.created ? [toned('add', `+${display.added}`), toned('dim', ' (new)')] : undefined;
      return [plain('  '), ...(counts ?? changedCounts(display, glyphs, 'of a diff'))];
    }
    case 'list':
      return [toned('dim', ` ${glyphs.arrow} ${sanitizeScreen(display.summary)}`)];
    case 'file':
      return [toned('dim', `  ${formatCount(display.lines, 'line')}`)];
    case 'agent':
      return [toned('dim', `  ${formatCount(display.calls, 'call')}`)];
    case 'output':
      return [toned('dim', testCounts(display.output))];
    default:
      return [];
  }
}

/** What a run of tests says of itself at its end. */
function testCounts(output: string): string {
  const last = (pattern: RegExp) => {
    const found = [...output.slice(-4000).matchAll(pattern)].at(-1);
    return found === undefined ? undefined : Number(found[1] ?? found[2]);
  };
  const passed = last(/^# pass (\d+)|\b(\d+) pass(?:ed|ing)?\b/gm);
  const failed = last(/^# fail (\d+)|\b(\d+) fail(?:ed|ing|ures?)?\b/gm) ?? 0;
  if (failed > 0) return `  ${failed} of ${failed + (passed ?? 0)} fail`;
  return passed === undefined ? '' : `  ${passed} pass`;
}

const REASON_COLUMNS = 100;
/** What the model reads first about a refusal says nothing more. */
const SAID_ALREADY = /^(The user refused this call\..*|\S+ (needs permission and )?was not run\. )/;

/** By whom a call was refused, and in which words. */
function refusalSpans({ refusedBy, text }: ToolEnding): readonly Span[] {
  const words = (sanitizeScreen(text).split('\n', 1)[0] ?? '').replace(SAID_ALREADY, '');
  const who = toned('warn', refusedBy === 'person' ? '  you refused' : '  not allowed');
  return words === '' ? [who] : [who, toned('dim', `: ${truncateEnd(words, REASON_COLUMNS)}`)];
}

/** Why it did not work, on the first line. */
function reason({ display, text }: ToolEnding): string {
  if (display?.kind === 'output' && display.exitCode !== null) return `exit ${display.exitCode}`;
  if (display?.kind === 'output' && display.end !== undefined) return sanitize(display.end, 'line');
  return sanitizeScreen(text).split('\n', 1)[0] ?? 'failed';
}

function bodyLines(ending: ToolEnding, drawing: Drawing): readonly LogicalLine[] {
  const { display, status } = ending;
  const { output } = drawing.glyphs;
  switch (display?.kind) {
    case 'diff':
      return limitedDiff(display, drawing);
    case 'output': {
      const text = sanitizeScreen(display.output).replace(/\n+$/, '');
      // A run of tests that passed has been told by its counts.
      const isCounted = testCounts(display.output) !== '';
      const rows = text.split('\n');
      if (text === '' || (status === 'done' && isCounted)) return [];
      return limitedLines({ rows, status, hiddenBefore: display.hiddenLines, isCounted }, drawing);
    }
    case 'agent':
    case 'text': {
      const rows = sanitizeScreen(display.kind === 'text' ? display.text : display.summary).split('\n');
      return limitedLines({ rows, status }, drawing);
    }
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
        ? limitedLines({ rows: sanitizeScreen(ending.text).split('\n').slice(1), status }, drawing)
        : [];
  }
}

/** A change in at most so many rows of the screen, from its beginning. */
function limitedDiff(display: Extract<Display, { kind: 'diff' }>, { glyphs, width }: Drawing): readonly LogicalLine[] {
  const lines = diffLines(display, width);
  const heights = lines.map(({ spans }) => Math.max(1, Math.ceil(spansWidth(spans) / width)));
  const most = mostOfDiff(display);
  if (heights.reduce((sum, rows) => sum + rows, 0) <= most) return lines;
  let left = most - 1;
  const end = heights.findIndex((rows) => {
    left -= rows;
    return left < 0;
  });
  const cut = formatCount(lines.length - end, 'line');
  return [...lines.slice(0, end), terminalLine(toned('dim', `  ${glyphs.more} ${cut}  ctrl+o`))];
}

function bold(text: string): Span {
  return { text, style: { bold: true } };
}
