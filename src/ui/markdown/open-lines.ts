import { formatCount } from '../../lib/text/format.ts';
import { type LogicalLine, terminalLine, toned } from '../text/line.ts';
import type { MarkdownBlock } from './block.ts';
import { type RenderOptions, renderBlock } from './render-block.ts';

const SEPARATOR = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/**
 * The block that still grows. A table is only counted: with every row its columns would move, and all of it with them.
 */
export function openLines(
  block: MarkdownBlock,
  options: RenderOptions & { readonly more: string },
  carry: string,
): readonly LogicalLine[] {
  const table = block.kind === 'prose' ? tableIn(block.source) : undefined;
  if (block.kind !== 'prose' || table === undefined) return renderBlock(block, options, carry).lines;
  const before = table.before === '' ? [] : renderBlock({ ...block, source: table.before }, options).lines;
  const gap = block.gap === 'line' && before.length === 0 ? [terminalLine()] : [];
  const note = toned('dim', `${options.more} table, ${formatCount(table.rows, 'row')}`);
  return [...gap, ...before, terminalLine(note)];
}

/** The text before a table, and how many rows of it are there. */
function tableIn(source: string): { readonly before: string; readonly rows: number } | undefined {
  const lines = source.split('\n');
  const at = lines.findIndex((line, index) => {
    return index > 0 && line.includes('-') && SEPARATOR.test(line) && lines[index - 1]?.includes('|') === true;
  });
  if (at === -1 || at === lines.length - 1) return undefined;
  const rows = lines.slice(at + 1).filter((line) => line.trim() !== '').length;
  return { before: lines.slice(0, at - 1).join('\n'), rows };
}
