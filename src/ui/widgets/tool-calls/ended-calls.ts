import type { CallDenial } from '../../../contracts/denial.ts';
import type { Display } from '../../../contracts/display.ts';
import { formatCount, formatDuration } from '../../../lib/text/format.ts';
import { sanitize, sanitizeForScreen } from '../../../lib/text/sanitize.ts';
import { truncateEnd } from '../../../lib/text/text-width.ts';
import { colored, createStyledLine, type LogicalLine, measureSpans, plain, type StyledSpan } from '../../text/line.ts';
import { type RenderContext, shortenPath, shortenTitlePaths } from '../../text/render-context.ts';
import type { Glyphs } from '../../theme/glyphs.ts';
import { formatDiffStat, renderDiff } from '../diff/diff-lines.ts';
import { findFailedTests, renderFailedTests } from './failed-tests.ts';
import {
  createToolTitle,
  type EndedCallOutcome,
  getCommandLines,
  getMaxDiffRows,
  getMaxOutputRows,
  getSubAgentTitle,
  isLookup,
  MIN_HIDDEN_LINES,
  type ToolCallEntry,
} from './tool-entry.ts';
import { renderLimitedOutput } from './tool-output.ts';

const MAX_SCRIPT_LINES = 3;
const DURATION_SHOWN_AFTER_MS = 300;

/** Renders finished tool calls. Successful lookups share a line. */
export function renderEndedCalls(entries: readonly ToolCallEntry[], context: RenderContext): readonly LogicalLine[] {
  const lines: LogicalLine[] = [];
  let lookups: Lookup[] = [];
  const flush = () => {
    if (lookups.length > 0) lines.push(createLookupLine(lookups, context));
    lookups = [];
  };
  for (const entry of entries) {
    if (entry.state.status !== 'ended' || isHiddenCall(entry.state.outcome)) continue;
    const { outcome } = entry.state;
    const lookup = describeLookup(entry, outcome, context);
    if (lookup !== undefined) {
      lookups.push(lookup);
      continue;
    }
    flush();
    lines.push(
      renderCallHead(entry, outcome, context),
      ...createScriptLines(entry, context),
      ...createBodyLines(entry, outcome, context),
    );
  }
  flush();
  return lines;
}

type Lookup = { readonly tool: string; readonly target: string };

/** Describes a successful lookup: its target, and the number of results. Returns undefined for other calls. */
function describeLookup(
  entry: ToolCallEntry,
  { display }: EndedCallOutcome,
  { cwd }: RenderContext,
): Lookup | undefined {
  if (!isLookup(entry)) return undefined;
  const { tool, title } = entry;
  if (display?.kind === 'output') {
    const [command = ''] = getCommandLines(entry);
    const output = display.output.trimEnd();
    return { tool: '$', target: `${shortenTitlePaths(command, cwd)} ${output === '' ? 0 : output.split('\n').length}` };
  }
  if (display?.kind === 'file') return { tool, target: sanitize(shortenPath(display.path, cwd), 'line') };
  if (display?.kind !== 'list') return undefined;
  const text = sanitize(shortenTitlePaths(title, cwd), 'line');
  return { tool, target: `${text.startsWith(`${tool} `) ? text.slice(tool.length + 1) : text} ${display.total}` };
}

function createLookupLine(lookups: readonly Lookup[], { glyphs }: RenderContext): LogicalLine {
  const byTool = Map.groupBy(lookups, ({ tool }) => tool);
  const parts = [...byTool].map(
    ([tool, all]) => `${sanitize(tool, 'line')} ${all.map(({ target }) => target).join(', ')}`,
  );
  const head = [colored('ok', glyphs.done), plain(' ')];
  const [only] = parts;
  // Lookups of a single tool need no common heading.
  if (parts.length === 1 && only !== undefined) {
    const [tool = '', ...rest] = only.split(' ');
    return createStyledLine(...head, bold(tool), colored('dim', ` ${rest.join(' ')}`));
  }
  return createStyledLine(...head, bold('Looked'), colored('dim', `  ${parts.join(glyphs.separator)}`));
}

/** Renders the further lines of a multi-line command, truncated. */
function createScriptLines(entry: ToolCallEntry, { glyphs }: RenderContext): readonly LogicalLine[] {
  const furtherLines = getCommandLines(entry).slice(1);
  const shownLines = furtherLines.slice(
    0,
    furtherLines.length >= MAX_SCRIPT_LINES + MIN_HIDDEN_LINES ? MAX_SCRIPT_LINES : furtherLines.length,
  );
  const hiddenCount = furtherLines.length - shownLines.length;
  return [
    ...shownLines.map((line) => createStyledLine(colored('dim', `${glyphs.output} ${line}`))),
    ...(hiddenCount === 0
      ? []
      : [
          createStyledLine(
            colored('dim', `${glyphs.output} ${glyphs.ellipsis} ${formatCount(hiddenCount, 'line')}  ctrl+o`),
          ),
        ]),
  ];
}

/** Returns whether a call gets no line: the task list is shown elsewhere on the screen. */
export function isHiddenCall({ status, display }: EndedCallOutcome): boolean {
  return status === 'done' && display?.kind === 'todo';
}

/** Renders the first line of a finished call: title, result and duration. */
export function renderCallHead(entry: ToolCallEntry, ending: EndedCallOutcome, context: RenderContext): LogicalLine {
  const { glyphs } = context;
  const title = createTitle(entry, ending, context);
  const duration = ending.durationMs >= DURATION_SHOWN_AFTER_MS ? `  ${formatDuration(ending.durationMs)}` : '';
  switch (ending.status) {
    case 'done':
      return createStyledLine(
        colored('ok', glyphs.done),
        plain(' '),
        ...title,
        ...createSummary(ending, glyphs),
        colored('dim', duration),
      );
    case 'failed':
      return createStyledLine(
        colored('error', glyphs.failed),
        plain(' '),
        ...title,
        colored('error', `  ${shortenTitlePaths(getFailureReason(ending), context.cwd)}`),
        ...(ending.display?.kind === 'output' ? createSummary(ending, glyphs) : []),
        colored('dim', duration),
      );
    case 'denied':
      return createStyledLine(colored('warn', glyphs.failed), plain(' '), ...title, ...createDenialSpans(ending));
    default:
      return createStyledLine(
        colored('warn', glyphs.stopped),
        plain(' '),
        ...title,
        colored('dim', duration === '' ? '  stopped' : `  stopped after ${formatDuration(ending.durationMs)}`),
      );
  }
}

/** Creates the title of a finished call. Questions are shown below with their answers, so they are removed from it. */
function createTitle(
  entry: ToolCallEntry,
  { display }: EndedCallOutcome,
  { cwd }: RenderContext,
): readonly StyledSpan[] {
  const title = createToolTitle(entry, cwd);
  if (display?.kind === 'agent') return [bold(getSubAgentTitle(entry, cwd))];
  return display?.kind === 'question' ? title.slice(0, 1) : title;
}

function createSummary({ display }: EndedCallOutcome, glyphs: Glyphs): readonly StyledSpan[] {
  switch (display?.kind) {
    case 'diff': {
      const counts = display.created ? [colored('add', `+${display.added}`), colored('dim', ' (new)')] : undefined;
      return [plain('  '), ...(counts ?? formatDiffStat(display, glyphs, 'diff'))];
    }
    case 'list':
      return [colored('dim', ` ${glyphs.arrow} ${sanitizeForScreen(display.summary)}`)];
    case 'file':
      return [colored('dim', `  ${formatCount(display.lines, 'line')}`)];
    case 'agent':
      return [colored('dim', `  ${formatCount(display.calls, 'call')}`)];
    case 'output':
      return [colored('dim', formatTestCounts(display.output))];
    default:
      return [];
  }
}

/** Extracts the counts of passed and failed tests from the end of the output of a test runner. */
function formatTestCounts(output: string): string {
  const findLast = (pattern: RegExp) => {
    const match = [...output.slice(-4000).matchAll(pattern)].at(-1);
    return match === undefined ? undefined : Number(match[1] ?? match[2]);
  };
  const passed = findLast(/^# pass (\d+)|\b(\d+) pass(?:ed|ing)?\b/gm);
  const failed = findLast(/^# fail (\d+)|\b(\d+) fail(?:ed|ing|ures?)?\b/gm) ?? 0;
  if (failed > 0) return `  ${failed} of ${failed + (passed ?? 0)} fail`;
  return passed === undefined ? '' : `  ${passed} pass`;
}

const MAX_REASON_COLUMNS = 100;
const DENIAL_VERDICTS: Readonly<Record<CallDenial['by'], string>> = {
  user: 'denied by you',
  host: 'denied by the application',
  hook: 'denied by a hook',
  rule: 'denied',
  mode: 'denied',
  unattended: 'denied',
  interrupt: 'interrupted before it was allowed',
  fault: 'not run',
};

/** Renders a denial with its source and reason. Without them, the text for the model is the reason. */
function createDenialSpans({ denial, text }: EndedCallOutcome): readonly StyledSpan[] {
  const { by, reason = '' } = denial ?? { by: 'rule', reason: text };
  const [line = ''] = sanitizeForScreen(reason).trim().split('\n', 1);
  const verdict = colored('warn', `  ${DENIAL_VERDICTS[by]}`);
  return line === '' ? [verdict] : [verdict, colored('dim', `: ${truncateEnd(line, MAX_REASON_COLUMNS)}`)];
}

/** Returns the reason of a failure for the first line. */
function getFailureReason({ display, text }: EndedCallOutcome): string {
  if (display?.kind === 'output' && display.exitCode !== null) return `exit ${display.exitCode}`;
  if (display?.kind === 'output' && display.end !== undefined) return sanitize(display.end, 'line');
  return sanitizeForScreen(text).split('\n', 1)[0] ?? 'failed';
}

function createBodyLines(
  entry: ToolCallEntry,
  ending: EndedCallOutcome,
  context: RenderContext,
): readonly LogicalLine[] {
  const { display, status } = ending;
  const room = getMaxOutputRows(entry, ending);
  const { output } = context.glyphs;
  switch (display?.kind) {
    case 'diff':
      return createLimitedDiff(display, context);
    case 'output': {
      const text = sanitizeForScreen(display.output).replace(/(?<!\n)\n+$/, '');
      // A passed test run is described by its counts.
      const isCounted = formatTestCounts(display.output) !== '';
      const rows = text.split('\n');
      if (text === '' || (status === 'done' && isCounted && entry.caller === 'model')) return [];
      const failedTests = status === 'failed' ? findFailedTests(rows) : [];
      if (failedTests.length > 0) return renderFailedTests(failedTests, rows.length + display.hiddenLines, context);
      return renderLimitedOutput({ rows, status, room, hiddenBefore: display.hiddenLines, isCounted }, context);
    }
    case 'agent':
    case 'text': {
      const rows = sanitizeForScreen(display.kind === 'text' ? display.text : display.summary).split('\n');
      return renderLimitedOutput({ rows, status, room }, context);
    }
    case 'question':
      return display.questions.map((question, index) =>
        createStyledLine(
          colored('dim', `${output} `),
          plain(`${sanitizeForScreen(question.question)} `),
          bold(sanitizeForScreen(display.answers[index] ?? '')),
        ),
      );
    default:
      return status === 'failed' && ending.text.includes('\n')
        ? renderLimitedOutput({ rows: sanitizeForScreen(ending.text).split('\n').slice(1), status, room }, context)
        : [];
  }
}

/** Renders a diff, truncated at the end to the maximum number of rows. */
function createLimitedDiff(
  display: Extract<Display, { kind: 'diff' }>,
  context: RenderContext,
): readonly LogicalLine[] {
  const { glyphs, width } = context;
  const lines = renderDiff(display, context);
  const heights = lines.map(({ spans }) => Math.max(1, Math.ceil(measureSpans(spans) / width)));
  const maxRows = getMaxDiffRows(display);
  if (heights.reduce((sum, rows) => sum + rows, 0) <= maxRows) return lines;
  let freeRows = maxRows - 1;
  const end = heights.findIndex((rows) => {
    freeRows -= rows;
    return freeRows < 0;
  });
  if (lines.length - end < MIN_HIDDEN_LINES) return lines;
  const hiddenCount = formatCount(lines.length - end, 'line');
  return [...lines.slice(0, end), createStyledLine(colored('dim', `  ${glyphs.ellipsis} ${hiddenCount}  ctrl+o`))];
}

function bold(text: string): StyledSpan {
  return { text, style: { bold: true } };
}
