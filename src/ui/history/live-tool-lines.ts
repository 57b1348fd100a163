import { formatBytes, formatCount, formatDuration, formatTokens } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { type Drawing, shortTitle } from '../text/drawing.ts';
import { type LogicalLine, plain, type Span, spansWidth, terminalLine, toned } from '../text/line.ts';
import type { ToolEntry } from '../view/tool-entry.ts';
import { agentTitle, toolTitle } from './call-title.ts';
import { outputLines } from './output-lines.ts';
import { headLine, isQuiet } from './tool-lines.ts';

const LIVE_TAIL = 5;
const WIDE = 80;
const NARROW = 60;

/** A call that is not over: one line that always tells how it stands, and the end of its output. */
export function liveToolLines(
  entry: ToolEntry,
  drawing: Drawing,
  columns: AgentColumns | undefined = agentColumns([entry], drawing),
): readonly LogicalLine[] {
  const { state } = entry;
  const { glyphs } = drawing;
  if (state.status === 'ended' && isQuiet(state.ending)) return [];
  if (state.status === 'ended') return [headLine(entry, state.ending, drawing)];
  const isWaiting = state.status === 'waiting';
  const sign = isWaiting ? toned('warn', glyphs.wait) : toned('brand', drawing.spinner);
  if (columns !== undefined && isAgentAtWork(entry)) return [agentLine(entry, sign, drawing, columns)];
  const facts = isWaiting ? [toned('dim', 'waits for you')] : runningFacts(entry, drawing);
  const room = drawing.width - textWidth(sign.text) - spansWidth(facts) - 5;
  const title = fitted(toolTitle(entry, drawing.cwd), room);
  const head = terminalLine(sign, plain(' '), ...title, plain('  '), ...facts);
  return isWaiting ? [head] : [head, ...progressLines(entry, drawing)];
}

/** How many lines that will be. */
export function liveToolHeight({ state, progress }: ToolEntry): number {
  if (state.status === 'ended') return isQuiet(state.ending) ? 0 : 1;
  if (state.status === 'waiting' || progress === undefined) return 1;
  if (progress.kind === 'agent') return 1;
  return 1 + (progress.kind === 'output' ? Math.min(LIVE_TAIL, progress.tail.length) : 1);
}

/** How wide the columns of sub-agents beside one another are, and which of them is the last. */
export type AgentColumns = { readonly title: number; readonly facts: number; readonly last: string };

/** Sub-agents at work stand in columns. */
export function agentColumns(entries: readonly ToolEntry[], drawing: Drawing): AgentColumns | undefined {
  const agents = entries.filter(isAgentAtWork);
  const widest = (words: (entry: ToolEntry) => string) => Math.max(...agents.map((entry) => textWidth(words(entry))));
  const last = agents.at(-1)?.callId;
  if (last === undefined) return undefined;
  const facts = widest((entry) => agentFacts(entry, drawing));
  const title = Math.min(
    widest((entry) => agentTitle(entry, drawing.cwd)),
    Math.max(8, drawing.width - facts - 8),
  );
  return { title, facts, last };
}

function isAgentAtWork({ state, progress }: ToolEntry): boolean {
  return state.status === 'running' && progress?.kind === 'agent';
}

const WATCH: readonly Span[] = [toned('accent', '   ctrl+o'), toned('dim', ' watch')];

/** A sub-agent in one line: what it is sent for, its kind, how far it is, and what it does at present. */
function agentLine(entry: ToolEntry, sign: Span, drawing: Drawing, columns: AgentColumns): LogicalLine {
  const { width, cwd } = drawing;
  const facts = agentFacts(entry, drawing);
  const title = truncateEnd(agentTitle(entry, cwd), columns.title);
  const head = [
    ...[sign, plain(' '), { text: title, style: { bold: true } } as const],
    toned('dim', `${' '.repeat(columns.title - textWidth(title))}  ${facts}`),
  ];
  if (width < WIDE || entry.progress?.kind !== 'agent') return terminalLine(...head);
  const watch = entry.callId === columns.last ? WATCH : [];
  const line = shortTitle(sanitize(entry.progress.line, 'line'), cwd);
  const room = width - 2 - spansWidth([...head, ...watch]) - (columns.facts - textWidth(facts)) - 3;
  const now = room < 8 ? '' : truncateEnd(line, room);
  return terminalLine(...head, toned('dim', `${' '.repeat(columns.facts - textWidth(facts))}   ${now}`), ...watch);
}

function agentFacts({ progress, startedAtMs }: ToolEntry, { width, glyphs, nowMs }: Drawing): string {
  if (progress?.kind !== 'agent') return '';
  const kind = width < WIDE ? [] : [sanitize(progress.agentType, 'line')];
  const spent = progress.tokens < 1000 || width < NARROW ? [] : [formatTokens(progress.tokens)];
  const seconds = `${Math.max(0, Math.floor((nowMs - startedAtMs) / 1000))}s`;
  return [...kind, formatCount(progress.calls, 'call'), ...spent, seconds].join(glyphs.separator);
}

function runningFacts({ tool, startedAtMs, progress }: ToolEntry, { nowMs, glyphs, width }: Drawing): readonly Span[] {
  const seconds = `${Math.max(0, Math.floor((nowMs - startedAtMs) / 1000))}s`;
  if (progress?.kind !== 'output') return [toned('dim', seconds)];
  const limit =
    progress.timeoutMs === undefined ? '' : ` of ${formatDuration(progress.timeoutMs).replace('m00s', 'm')}`;
  const size = progress.totalBytes === 0 ? '' : `${glyphs.separator}${formatBytes(progress.totalBytes)}`;
  const told = toned('dim', `${seconds}${limit}${size}`);
  if (tool !== 'Bash' || width < WIDE) return [told];
  return [told, toned('dim', glyphs.separator), toned('accent', 'ctrl+b'), toned('dim', ' background')];
}

/** The name stays whole; what it is about gives way. */
function fitted(spans: readonly Span[], room: number): readonly Span[] {
  let left = Math.max(8, room);
  return spans.map((span) => {
    const text = truncateEnd(span.text, left);
    left = Math.max(0, left - textWidth(text));
    return { ...span, text };
  });
}

function progressLines({ progress }: ToolEntry, { glyphs }: Drawing): readonly LogicalLine[] {
  if (progress === undefined) return [];
  if (progress.kind === 'output') return outputLines(progress.tail.slice(-LIVE_TAIL), glyphs.output);
  return progress.kind === 'note' ? outputLines([progress.text], glyphs.output) : [];
}
