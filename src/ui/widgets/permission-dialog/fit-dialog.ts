import { formatCount } from '../../../lib/text/format.ts';
import { getTextWidth } from '../../../lib/text/text-width.ts';
import { colored, plain } from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';
import { getRowText, type Row } from '../../text/render-lines.ts';

/** The layout of a dialog, fitted to the available rows. */
export type DialogLayout = {
  readonly title: Row;
  readonly body: readonly Row[];
  readonly options: readonly Row[];
  readonly keys: readonly Row[];
  /** Empty rows between the parts. */
  readonly gaps: 'shown' | 'none';
  /** Visible content: everything, everything except the ends of options, or a part of the call only. */
  readonly inSight: 'all' | 'call' | 'part';
};

const GAP_ROWS = 3;
const NARROW_COLUMNS = 64;

/** The parts of a dialog as rows. `short`: options truncated to a row; `focused`: all but the selected one truncated. */
export type DialogParts = Readonly<
  Record<
    'warnings' | 'subject' | 'description' | 'risks' | 'details' | 'options' | 'focused' | 'short' | 'keys',
    readonly Row[]
  >
> & {
  readonly title: Row;
  readonly isShortened: boolean;
};

type FitOptions = {
  readonly room: number;
  readonly width: number;
  /** Truncates rows and inserts a note about the hidden ones. */
  readonly cut: (rows: readonly Row[], to: number) => readonly Row[];
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
  const freeRows = Math.max(0, room - 1 - short.length);
  const subjectRoom = Math.max(Math.min(2, freeRows), freeRows - warnings.length - risks.length);
  const body = [...warnings, ...cut(subject, subjectRoom), ...risks].slice(0, freeRows);
  return { ...compact, options: short.slice(0, room - 1), body, inSight: 'part' };
}

function fitAll(
  { title, warnings, subject, description, risks, details, options, keys }: DialogParts,
  spareRows: number,
): DialogLayout {
  let freeRows = spareRows;
  const takeRows = (rows: readonly Row[], minimum = rows.length) => {
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

/** Creates a function that truncates rows: in the middle, or at the end for diffs. */
export function createRowTruncator(from: 'end' | 'middle', { glyphs, width }: RenderContext) {
  return (rows: readonly Row[], to: number): readonly Row[] => {
    const keptRows = Math.max(0, to - 1);
    const headRows = from === 'end' ? keptRows : Math.floor(keptRows / 2);
    const hidden = formatCount(rows.length - keptRows, 'row');
    const hint = width < NARROW_COLUMNS ? 'v shows all' : 'v shows all, and takes the answer';
    const note = [colored('warn', `${glyphs.ellipsis} ${hidden} hidden: ${hint}`)];
    return [...rows.slice(0, headRows), note, ...rows.slice(rows.length - (keptRows - headRows))];
  };
}
