import type { PanelContent, PanelRow, PanelRowMark, SlashCommandOutcome } from '../../contracts/frontend/command.ts';
import { formatCodeBlock } from '../../lib/text/markdown.ts';
import { getTextWidth, padToWidth } from '../../lib/text/text-width.ts';
import type { ConversationParts } from '../conversation-parts.ts';

/** A built-in slash command. */
export type BuiltinSlashCommand = {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  /** Alternative names. */
  readonly aliases?: readonly string[];
  readonly screenOnly?: true;
  readonly run: (args: string, parts: ConversationParts) => Promise<SlashCommandOutcome>;
};

/** Creates the outcome of a command that shows Markdown. */
export const createMarkdownOutcome = (markdown: string): SlashCommandOutcome => ({ kind: 'show', markdown });

/** Creates the outcome of a command that has done its work. */
export const createSuccessOutcome = (message: string): SlashCommandOutcome => ({ kind: 'done', message });

/** Creates the outcome of a command that failed. */
export const createErrorOutcome = (message: string): SlashCommandOutcome => ({ kind: 'failed', message });

/** Creates the outcome of a command that shows a text as it is. */
export const createPlainTextOutcome = (text: string): SlashCommandOutcome =>
  createMarkdownOutcome(formatCodeBlock(text));

/** Formats a permission mode; the status line calls the default one `ask`. */
export const formatPermissionMode = (mode: string): string => (mode === 'default' ? 'default (ask)' : mode);

const MARKS: Readonly<Record<PanelRowMark, string>> = { current: '*', good: '+', bad: 'x', waiting: '?', off: '-' };

/** Creates an outcome that shows a panel, with its text for frontends without panels. */
export function createPanelOutcome(panel: PanelContent, text = renderPanelText(panel)): SlashCommandOutcome {
  return { kind: 'panel', panel, text: formatCodeBlock(text) };
}

/** Renders a panel as text: one line per row, with aligned columns. */
function renderPanelText({ title, note, rows, empty }: PanelContent): string {
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
