import type { CommandOutcome } from '../../contracts/face/command.ts';
import type { Panel, PanelMark, PanelRow } from '../../contracts/face/panel.ts';
import { fenced } from '../../lib/text/fence.ts';
import { padWidth, textWidth } from '../../lib/text/text-width.ts';
import type { ConversationParts } from './conversation-parts.ts';

/** A slash command of ours. */
export type BuiltinCommand = {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  /** Other names people know it by. */
  readonly aliases?: readonly string[];
  readonly run: (args: string, parts: ConversationParts) => Promise<CommandOutcome>;
};

export const show = (markdown: string): CommandOutcome => ({ kind: 'show', markdown });
export const done = (words: string): CommandOutcome => ({ kind: 'done', words });
export const failed = (words: string): CommandOutcome => ({ kind: 'failed', words });

/** Text that must not be laid out. */
export const plain = (text: string): CommandOutcome => show(fenced(text));

const MARKS: Readonly<Record<PanelMark, string>> = { current: '*', good: '+', bad: 'x', waiting: '?', off: '-' };

/** A panel, and the same in text for faces without one. */
export function asPanel(panel: Panel, text = panelText(panel)): CommandOutcome {
  return { kind: 'panel', panel, text: fenced(text) };
}

/** Everything a panel says, one row a line, its columns one below the other. */
function panelText({ title, note, rows, empty }: Panel): string {
  const widths = columnWidths(rows);
  const head = note === undefined ? `${title}:` : `${title}: ${note}`;
  const lines = rows.flatMap((row, at) => {
    const group = row.group !== undefined && row.group !== rows[at - 1]?.group ? ['', row.group] : [];
    const mark = row.mark === undefined ? ' ' : MARKS[row.mark];
    const cells = row.cells.map((cell, column) => padWidth(cell, widths[column] ?? 0)).join('  ');
    return [...group, `${mark} ${cells}`.trimEnd(), ...unsaid(row).map((line) => `    ${line}`)];
  });
  return [head, ...(rows.length === 0 ? [empty] : lines)].join('\n');
}

/** What a list shows in full below itself; a row of text is never cut, so that it stands there already. */
function unsaid({ cells, detail }: PanelRow): readonly string[] {
  return detail.filter((line) => !cells.includes(line));
}

function columnWidths(rows: readonly PanelRow[]): readonly number[] {
  const columns = Math.max(0, ...rows.map(({ cells }) => cells.length));
  return Array.from({ length: columns }, (_, at) => Math.max(...rows.map(({ cells }) => textWidth(cells[at] ?? ''))));
}
