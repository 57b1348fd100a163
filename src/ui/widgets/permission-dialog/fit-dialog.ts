import { formatCount } from '../../../lib/text/format.ts';
import { getTextWidth } from '../../../lib/text/text-width.ts';
import { colored, plain } from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';
import { getRowText, type ScreenRow } from '../../text/render-lines.ts';

/** The layout of a dialog, fitted to the available rows. */
export type DialogLayout = {
  readonly title: ScreenRow;
  readonly body: readonly ScreenRow[];
  readonly options: readonly ScreenRow[];
  readonly keys: readonly ScreenRow[];
  /** Empty rows between the parts. */
  readonly gaps: 'shown' | 'none';
  /** Visible content: everything, everything except the ends of options, or a part of the call only. */
  readonly inSight: 'all' | 'call' | 'part';
};

const GAP_ROWS = 3;
const NARROW_COLUMNS = 64;
/** A truncated call keeps at least this many rows beside the line of keys. */
const MIN_ROWS_BESIDE_KEYS = 10;

/** The parts of a dialog as rows. `short`: options truncated to a row; `focused`: all but the selected one truncated. */
export type DialogParts = Readonly<
  Record<
    'warnings' | 'subject' | 'description' | 'risks' | 'details' | 'options' | 'focused' | 'short' | 'keys',
    readonly ScreenRow[]
  >
> & {
  readonly title: ScreenRow;
  readonly isShortened: boolean;
};

type FitOptions = {
  readonly room: number;
  readonly width: number;
  /** Truncates rows and inserts a note about the hidden ones. */
  readonly cut: (rows: readonly ScreenRow[], to: number) => readonly ScreenRow[];
};

/** Fits a dialog: drops empty rows first, then the description, the keys, the ends of options, and the subject last. */
export function fitDialog(parts: DialogParts, { room, width, cut }: FitOptions): DialogLayout {
  const { title, warnings, subject, risks, options, focused, short } = parts;
  const fixedRows = 1 + warnings.length + subject.length + risks.length;
  if (fixedRows + options.length <= room) return fitAll(parts, room - fixedRows - options.length);
  const inSight = parts.isShortened ? 'call' : 'all';
  const compact = { title, options: short, keys: [], gaps: 'none', inSight } as const;
  if (fixedRows + focused.length <= room)
    return { ...compact, options: focused, body: [...warnings, ...subject, ...risks] };
  if (fixedRows + short.length <= room) return { ...compact, body: [...warnings, ...subject, ...risks] };
  const [onlyRow = []] = subject;
  const line = [...title, plain('   '), ...onlyRow];
  if (subject.length === 1 && fixedRows + short.length - 1 <= room && getTextWidth(getRowText(line)) <= width) {
    return { ...compact, title: line, body: [...warnings, ...risks] };
  }
  const keys = room - 1 - short.length - parts.keys.length >= MIN_ROWS_BESIDE_KEYS ? parts.keys : [];
  const freeRows = Math.max(0, room - 1 - short.length - keys.length);
  const subjectRoom = Math.max(Math.min(2, freeRows), freeRows - warnings.length - risks.length);
  const body = [...warnings, ...cut(subject, subjectRoom), ...risks].slice(0, freeRows);
  return { ...compact, options: short.slice(0, room - 1), keys, body, inSight: 'part' };
}

function fitAll(
  { title, warnings, subject, description, risks, details, options, keys }: DialogParts,
  spareRows: number,
): DialogLayout {
  let freeRows = spareRows;
  const takeRows = (rows: readonly ScreenRow[], minimum = rows.length) => {
    const shown = rows.length <= freeRows || minimum < rows.length ? rows.slice(0, Math.max(0, freeRows)) : [];
    freeRows -= shown.length;
    return shown;
  };
  const shownKeys = takeRows(keys);
  const shownDescription = takeRows(description);
  const shownDetails = takeRows(details, 0);
  const body = [...warnings, ...subject, ...shownDescription, ...risks, ...shownDetails];
  return { title, body, options, keys: shownKeys, gaps: freeRows >= GAP_ROWS ? 'shown' : 'none', inSight: 'all' };
}

/** Creates a function that truncates rows; the last one and those that name risks are kept longest. */
export function createRowLimiter(
  from: 'end' | 'middle',
  riskyRows: readonly number[],
  { glyphs, width }: RenderContext,
) {
  return (rows: readonly ScreenRow[], to: number): readonly ScreenRow[] => {
    const shown = selectRows(rows.length, to, from, riskyRows);
    const hint = width < NARROW_COLUMNS ? 'v shows all' : 'v shows all, and takes the answer';
    let note = `: ${hint}`;
    return shown.flatMap((row, index) => {
      const hiddenCount = row - (shown[index - 1] ?? -1) - 1;
      const lines = hiddenCount === 0 ? [] : [createCutNote(hiddenCount, note)];
      if (hiddenCount > 0) note = '';
      return row < rows.length ? [...lines, rows[row] ?? []] : lines;
    });

    function createCutNote(count: number, end: string): ScreenRow {
      return [colored('warn', `${glyphs.ellipsis} ${formatCount(count, 'row')} hidden${end}`)];
    }
  };
}

/** Selects the rows that fit together with a note for each gap, in order; the end of the text closes the list. */
function selectRows(count: number, to: number, from: 'end' | 'middle', risky: readonly number[]): readonly number[] {
  const candidates = Array.from({ length: count }, (_, index) => {
    if (from === 'end') return index;
    return index % 2 === 0 ? count - 1 - index / 2 : (index - 1) / 2;
  });
  const ordered = from === 'end' ? candidates : [count - 1, ...risky, ...candidates.slice(1)];
  let shown: readonly number[] = [];
  for (const row of ordered) {
    if (shown.includes(row)) continue;
    const next = [...shown, row].toSorted((one, other) => one - other);
    if (countRows(next) > Math.max(1, to) && shown.length > 0) continue;
    shown = next;
  }
  return [...shown, count];

  function countRows(rows: readonly number[]): number {
    const gaps = [...rows, count].filter((row, index) => row > (rows[index - 1] ?? -1) + 1);
    return rows.length + gaps.length;
  }
}
