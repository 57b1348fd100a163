import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { programOf } from '../bin/entry.mjs';
import type { Row } from './row.ts';

/** Renders the figures as a Markdown table, for the terminal and for docs/. */
export function tableOf(rows: readonly Row[]): string {
  const head = ['Measurement', 'ouro', 'limit', 'floor', ''];
  const body = rows.map(({ name, unit, value, must, floor }) => [
    name,
    figure(value, unit),
    must === undefined ? '' : `≤ ${figure(must, unit)}`,
    floor === undefined ? '' : figure(floor, unit),
    must === undefined || value <= must ? '' : 'over',
  ]);
  const cells = [head, ...body];
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(head), rule, ...body.map(line)].join('\n');
}

function figure(value: number, unit: Row['unit']): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const number = value.toFixed(digits);
  return unit === 'count' ? number : unit === 'times' ? `${number}×` : `${number} ${unit}`;
}

/** Describes the machine and the form of the program. */
export function machine(): string {
  const model = cpus()[0]?.model ?? 'unknown processor';
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  return `${availableParallelism()} × ${model}, ${memory}, ${process.platform} ${process.arch}, ouro from its ${form()}`;
}

/** Tells whether `bin/ouro` starts the build or the sources. */
function form(): 'build' | 'sources' {
  const { args } = programOf(join(import.meta.dirname, '..'), process.execPath, []);
  return args.some((file) => file.endsWith('.ts')) ? 'sources' : 'build';
}
