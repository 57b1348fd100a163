import type { ToolProgress } from '../../contracts/tool.ts';
import { formatBytes, formatCount, formatDuration, formatTokens } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';
import type { ToolEntry } from '../view/tool-entry.ts';
import { outputLines } from './output-lines.ts';
import { agentTitle, headLine, isQuiet, toolTitle } from './tool-lines.ts';

const LIVE_TAIL = 5;
const WIDE = 80;

/** A call that is not over: one line that always tells how it stands, and the end of its output. */
export function liveToolLines(entry: ToolEntry, drawing: Drawing): readonly LogicalLine[] {
  const { state } = entry;
  const { glyphs } = drawing;
  if (state.status === 'ended' && isQuiet(state.ending)) return [];
  if (state.status === 'ended') return [headLine(entry, state.ending, drawing)];
  const isWaiting = state.status === 'waiting';
  const sign = isWaiting ? toned('warn', glyphs.wait) : toned('accent', drawing.spinner);
  const facts = isWaiting ? 'waits for you' : runningFacts(entry, drawing);
  if (!isWaiting && entry.progress?.kind === 'agent') return [agentLine(entry, entry.progress, sign, drawing)];
  const room = drawing.width - textWidth(sign.text) - textWidth(facts) - 5;
  const title = fitted(toolTitle(entry, drawing.cwd), room);
  const head = terminalLine(sign, plain(' '), ...title, toned('dim', `  ${facts}`));
  return isWaiting ? [head] : [head, ...progressLines(entry, drawing)];
}

/** How many lines that will be. */
export function liveToolHeight({ state, progress }: ToolEntry): number {
  if (state.status === 'ended') return isQuiet(state.ending) ? 0 : 1;
  if (state.status === 'waiting' || progress === undefined) return 1;
  if (progress.kind === 'agent') return 1;
  return 1 + (progress.kind === 'output' ? Math.min(LIVE_TAIL, progress.tail.length) : 1);
}

/** A sub-agent in one line: what it is sent for, its kind, how far it is, and what it does at present. */
function agentLine(
  entry: ToolEntry,
  { agentType, calls, tokens, line }: Extract<ToolProgress, { kind: 'agent' }>,
  sign: Span,
  drawing: Drawing,
): LogicalLine {
  const { width, glyphs, nowMs } = drawing;
  const seconds = `${Math.max(0, Math.floor((nowMs - entry.startedAtMs) / 1000))}s`;
  const kind = width < WIDE ? [] : [sanitize(agentType, 'line')];
  const spent = tokens < 1000 ? [] : [formatTokens(tokens)];
  const facts = [...kind, formatCount(calls, 'call'), ...spent, seconds].join(glyphs.separator);
  const [title] = fitted(
    [{ text: agentTitle(entry, drawing.cwd), style: { bold: true } }],
    width - textWidth(facts) - 8,
  );
  const now = width < WIDE ? '' : `   ${sanitize(line, 'line')}`;
  return terminalLine(sign, plain(' '), title ?? plain(''), toned('dim', `  ${facts}${now}`));
}

function runningFacts({ tool, startedAtMs, progress }: ToolEntry, { nowMs, glyphs, width }: Drawing): string {
  const seconds = `${Math.max(0, Math.floor((nowMs - startedAtMs) / 1000))}s`;
  if (progress?.kind !== 'output') return seconds;
  const limit = progress.timeoutMs === undefined ? '' : ` of ${formatDuration(progress.timeoutMs)}`;
  const size = progress.totalBytes === 0 ? '' : `${glyphs.separator}${formatBytes(progress.totalBytes)}`;
  const key = tool === 'Bash' && width >= WIDE ? `${glyphs.separator}ctrl+b background` : '';
  return `${seconds}${limit}${size}${key}`;
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
