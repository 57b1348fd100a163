import type { CommandOutcome, Panel, PanelMark, PanelRow } from '../../contracts/frontend/command.ts';
import { formatCodeBlock } from '../../lib/text/markdown.ts';
import { getTextWidth, padToWidth } from '../../lib/text/text-width.ts';
import type { ConversationParts } from '../conversation-parts.ts';

/** A built-in slash command. */
export type BuiltinCommand = {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  /** Alternative names. */
  readonly aliases?: readonly string[];
  readonly screenOnly?: true;
  readonly run: (args: string, parts: ConversationParts) => Promise<CommandOutcome>;
};

/** Creates an outcome that shows Markdown. */
export const showMarkdown = (markdown: string): CommandOutcome => ({ kind: 'show', markdown });
/** Creates an outcome with a success message. */
export const reportDone = (message: string): CommandOutcome => ({ kind: 'done', message });
/** Creates an outcome with an error message. */
export const reportFailure = (message: string): CommandOutcome => ({ kind: 'failed', message });

/** Creates an outcome that shows plain text. */
export const showPlainText = (text: string): CommandOutcome => showMarkdown(formatCodeBlock(text));

/** Formats a permission mode; the status line calls the default one `ask`. */
export const formatMode = (mode: string): string => (mode === 'default' ? 'default (ask)' : mode);

const MARKS: Readonly<Record<PanelMark, string>> = { current: '*', good: '+', bad: 'x', waiting: '?', off: '-' };

/** Creates an outcome that shows a panel, with its text for frontends without panels. */
export function showPanel(panel: Panel, text = renderPanelText(panel)): CommandOutcome {
  return { kind: 'panel', panel, text: formatCodeBlock(text) };
}

/** Renders a panel as text: one line per row, with aligned columns. */
function renderPanelText({ title, note, rows, empty }: Panel): string {
  const widths = computeColumnWidths(rows);
  const head = note === undefined ? `${title}:` : `${title}: ${note}`;
  const lines = rows.flatMap((row, at) => {
    const group = row.group !== undefined && row.group !== rows[at - 1]?.group ? ['', row.group] : [];
    const mark = row.mark === undefined ? ' ' : MARKS[row.mark];
    const cells = row.cells.map((cell, column) => padToWidth(cell, widths[column] ?? 0)).join('  ');
    return [...group, `${mark} ${cells}`.trimEnd(), ...listUnshownDetails(row).map((line) => `    ${line}`)];
  });
  return [head, ...(rows.length === 0 ? [empty] : lines)].join('\n');
}

/** Lists detail lines that are not in the cells; text rows are never truncated, so cells need no repetition. */
function listUnshownDetails({ cells, detail }: PanelRow): readonly string[] {
  return detail.filter((line) => !cells.includes(line));
}

function computeColumnWidths(rows: readonly PanelRow[]): readonly number[] {
  const columns = Math.max(0, ...rows.map(({ cells }) => cells.length));
  return Array.from({ length: columns }, (_, at) =>
    Math.max(...rows.map(({ cells }) => getTextWidth(cells[at] ?? ''))),
  );
}
