import type { Display } from '../../contracts/display.ts';
import { printableCode } from '../../lib/text/sanitize.ts';
import type { TextRange } from '../../lib/text/text-wrap.ts';
import { type LogicalLine, type Span, terminalLine, toned } from '../text/line.ts';
import type { Style } from '../theme/theme.ts';
import { changedWords } from './changed-words.ts';

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
  const changes = changedWords(hunk.lines);
  return hunk.lines.map(({ kind, text }, at) => {
    const number = kind === 'del' ? oldLine : newLine;
    if (kind !== 'add') oldLine += 1;
    if (kind !== 'del') newLine += 1;
    const gutter = numbers === 0 || number === 0 ? '' : `${String(number).padStart(numbers)} `;
    return terminalLine(toned('dim', `  ${gutter}`), ...changed(kind, text, changes[at]));
  });
}

/** A line of a hunk behind its sign; the words that differ from the line it replaces stand out without colour too. */
export function changed(kind: 'add' | 'del' | 'same', text: string, words: TextRange | undefined): readonly Span[] {
  if (kind === 'same') return [{ text: `  ${printableCode(text)}` }];
  const style: Style = kind === 'add' ? { token: 'add', background: 'addBg' } : { token: 'del', background: 'delBg' };
  const sign = { text: kind === 'add' ? '+ ' : '- ', style };
  if (words === undefined || words.from === words.to) return [sign, { text: printableCode(text), style }];
  return [
    sign,
    { text: printableCode(text.slice(0, words.from)), style },
    { text: printableCode(text.slice(words.from, words.to)), style: { ...style, mark: true } },
    { text: printableCode(text.slice(words.to)), style },
  ];
}

function numberWidth(hunks: readonly Hunk[]): number {
  const last = hunks.at(-1);
  if (last === undefined) return 0;
  const highest = Math.max(last.oldStart + last.oldLines, last.newStart + last.newLines);
  return highest <= 0 ? 0 : String(highest).length;
}
