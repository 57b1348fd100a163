import { formatBytes, formatCount, formatDuration, formatTokens } from '../../../lib/text/format.ts';
import { sanitize } from '../../../lib/text/sanitize.ts';
import { getTextWidth, truncateEnd } from '../../../lib/text/text-width.ts';
import { colored, createStyledLine, type LogicalLine, measureSpans, plain, type StyledSpan } from '../../text/line.ts';
import { type RenderContext, shortenTitlePaths } from '../../text/render-context.ts';
import { isHiddenCall, renderCallHead } from './ended-calls.ts';
import { createToolTitle, getSubAgentTitle, type ToolCallEntry } from './tool-entry.ts';
import { renderToolOutput } from './tool-output.ts';

const MAX_TAIL_LINES = 5;
const WIDE = 80;
const NARROW = 60;

/** Renders an unprinted call: a line with its state, and the end of its output. */
export function renderLiveCall(
  entry: ToolCallEntry,
  context: RenderContext,
  columns: SubAgentColumnWidths | undefined = computeAgentColumns([entry], context),
): readonly LogicalLine[] {
  const { state } = entry;
  const { glyphs } = context;
  if (state.status === 'ended' && isHiddenCall(state.outcome)) return [];
  if (state.status === 'ended') return [renderCallHead(entry, state.outcome, context)];
  const isWaiting = state.status === 'waiting';
  const symbol = isWaiting ? colored('warn', glyphs.waiting) : colored('brand', context.spinner);
  if (columns !== undefined && isRunningAgent(entry)) return [createAgentLine(entry, symbol, context, columns)];
  const facts = isWaiting ? [colored('dim', 'waiting for you')] : createRunningFacts(entry, context);
  const room = context.width - getTextWidth(symbol.text) - measureSpans(facts) - 5;
  const title = fitTitle(createToolTitle(entry, context.cwd), room);
  const head = createStyledLine(symbol, plain(' '), ...title, plain('  '), ...facts);
  return isWaiting ? [head] : [head, ...createProgressLines(entry, context)];
}

/** Returns the number of lines of an unprinted call. */
export function getLiveCallHeight({ state, progress }: ToolCallEntry): number {
  if (state.status === 'ended') return isHiddenCall(state.outcome) ? 0 : 1;
  if (state.status === 'waiting' || progress === undefined) return 1;
  if (progress.kind === 'agent') return 1;
  return 1 + (progress.kind === 'output' ? Math.min(MAX_TAIL_LINES, progress.tail.length) : 1);
}

/** The column widths of parallel sub-agents, and the id of the last one. */
export type SubAgentColumnWidths = { readonly title: number; readonly facts: number; readonly last: string };

/** Computes the columns in which running sub-agents are aligned. */
export function computeAgentColumns(
  entries: readonly ToolCallEntry[],
  context: RenderContext,
): SubAgentColumnWidths | undefined {
  const agents = entries.filter(isRunningAgent);
  const measureWidest = (format: (entry: ToolCallEntry) => string) =>
    Math.max(...agents.map((entry) => getTextWidth(format(entry))));
  const last = agents.at(-1)?.callId;
  if (last === undefined) return undefined;
  const facts = measureWidest((entry) => formatAgentFacts(entry, context));
  const title = Math.min(
    measureWidest((entry) => getSubAgentTitle(entry, context.cwd)),
    Math.max(8, context.width - facts - 8),
  );
  return { title, facts, last };
}

function isRunningAgent({ state, progress }: ToolCallEntry): boolean {
  return state.status === 'running' && progress?.kind === 'agent';
}

const WATCH_KEY: readonly StyledSpan[] = [colored('accent', '   ctrl+o'), colored('dim', ' watch')];

/** Renders a sub-agent in one line: title, type, progress and current action. */
function createAgentLine(
  entry: ToolCallEntry,
  symbol: StyledSpan,
  context: RenderContext,
  columns: SubAgentColumnWidths,
): LogicalLine {
  const { width, cwd } = context;
  const facts = formatAgentFacts(entry, context);
  const title = truncateEnd(getSubAgentTitle(entry, cwd), columns.title);
  const head = [
    ...[symbol, plain(' '), { text: title, style: { bold: true } } as const],
    colored('dim', `${' '.repeat(columns.title - getTextWidth(title))}  ${facts}`),
  ];
  if (width < WIDE || entry.progress?.kind !== 'agent') return createStyledLine(...head);
  const watchKey = entry.callId === columns.last ? WATCH_KEY : [];
  const line = shortenTitlePaths(sanitize(entry.progress.line, 'line'), cwd);
  const room = width - 2 - measureSpans([...head, ...watchKey]) - (columns.facts - getTextWidth(facts)) - 3;
  const current = room < 8 ? '' : truncateEnd(line, room);
  return createStyledLine(
    ...head,
    colored('dim', `${' '.repeat(columns.facts - getTextWidth(facts))}   ${current}`),
    ...watchKey,
  );
}

function formatAgentFacts({ progress, startedAtMs }: ToolCallEntry, { width, glyphs, nowMs }: RenderContext): string {
  if (progress?.kind !== 'agent') return '';
  const kind = width < WIDE ? [] : [sanitize(progress.agentType, 'line')];
  const tokens = progress.tokens < 1000 || width < NARROW ? [] : [formatTokens(progress.tokens)];
  const seconds = `${Math.max(0, Math.floor((nowMs - startedAtMs) / 1000))}s`;
  return [...kind, formatCount(progress.calls, 'call'), ...tokens, seconds].join(glyphs.separator);
}

function createRunningFacts(
  { tool, startedAtMs, progress }: ToolCallEntry,
  { nowMs, glyphs, width }: RenderContext,
): readonly StyledSpan[] {
  const seconds = `${Math.max(0, Math.floor((nowMs - startedAtMs) / 1000))}s`;
  if (progress?.kind !== 'output') return [colored('dim', seconds)];
  const limit =
    progress.timeoutMs === undefined ? '' : ` of ${formatDuration(progress.timeoutMs).replace('m00s', 'm')}`;
  const size = progress.totalBytes === 0 ? '' : `${glyphs.separator}${formatBytes(progress.totalBytes)}`;
  const facts = colored('dim', `${seconds}${limit}${size}`);
  if (tool !== 'Bash' || width < WIDE) return [facts];
  return [facts, colored('dim', glyphs.separator), colored('accent', 'ctrl+b'), colored('dim', ' background')];
}

/** Truncates a title at the end, so that the name of the tool stays visible. */
function fitTitle(spans: readonly StyledSpan[], room: number): readonly StyledSpan[] {
  let freeColumns = Math.max(8, room);
  return spans.map((span) => {
    const text = truncateEnd(span.text, freeColumns);
    freeColumns = Math.max(0, freeColumns - getTextWidth(text));
    return { ...span, text };
  });
}

function createProgressLines({ progress }: ToolCallEntry, { glyphs }: RenderContext): readonly LogicalLine[] {
  if (progress === undefined) return [];
  if (progress.kind === 'output') return renderToolOutput(progress.tail.slice(-MAX_TAIL_LINES), glyphs.output);
  return progress.kind === 'note' ? renderToolOutput([progress.text], glyphs.output) : [];
}
