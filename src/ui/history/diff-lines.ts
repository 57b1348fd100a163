import type { Display } from '../../contracts/display.ts';
import { type LogicalLine, type Span, terminalLine, toned } from '../lines/line.ts';
import { sanitize } from '../sanitize.ts';

type Diff = Extract<Display, { kind: 'diff' }>;
type Hunk = Diff['hunks'][number];

/** A diff as it is read: line numbers, a sign in the gutter, colours only on top of both. */
export function diffLines(diff: Pick<Diff, 'hunks'>, width: number): readonly LogicalLine[] {
  const numbers = width < 40 ? 0 : numberWidth(diff.hunks);
  return diff.hunks.flatMap((hunk, index) => [
    ...(index === 0 ? [] : [terminalLine(toned('dim', `${' '.repeat(numbers + 2)}…`))]),
    ...hunkLines(hunk, numbers),
  ]);
}

function hunkLines(hunk: Hunk, numbers: number): readonly LogicalLine[] {
  let oldLine = hunk.oldStart;
  let newLine = hunk.newStart;
  return hunk.lines.map(({ kind, text }) => {
    const number = kind === 'del' ? oldLine : newLine;
    if (kind !== 'add') oldLine += 1;
    if (kind !== 'del') newLine += 1;
    const gutter = numbers === 0 || number === 0 ? '' : `${String(number).padStart(numbers)} `;
    return terminalLine(toned('dim', `  ${gutter}`), changed(kind, sanitize(text)));
  });
}

function changed(kind: 'add' | 'del' | 'same', text: string): Span {
  switch (kind) {
    case 'add':
      return { text: `+ ${text}`, style: { token: 'add', background: 'addBg' } };
    case 'del':
      return { text: `- ${text}`, style: { token: 'del', background: 'delBg' } };
    default:
      return { text: `  ${text}` };
  }
}

function numberWidth(hunks: readonly Hunk[]): number {
  const last = hunks.at(-1);
  if (last === undefined) return 0;
  const highest = Math.max(last.oldStart + last.oldLines, last.newStart + last.newLines);
  return highest <= 0 ? 0 : String(highest).length;
}
