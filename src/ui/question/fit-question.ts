import { formatCount } from '../../lib/text/format.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import type { Drawing } from '../text/drawing.ts';
import { plain, toned } from '../text/line.ts';
import { type Row, rowText } from '../text/render-lines.ts';

/** A dialog fitted to the room there is. */
export type QuestionPlan = {
  readonly title: Row;
  readonly body: readonly Row[];
  readonly options: readonly Row[];
  readonly keys: readonly Row[];
  /** Whether empty rows stand between its parts. */
  readonly gaps: 'shown' | 'none';
  /** What can be read: everything, everything but the end of an option, or only a part of what is asked about. */
  readonly inSight: 'all' | 'call' | 'part';
};

const GAPS = 3;
const NARROW = 64;

/** Everything a dialog could show, as rows; `short` are the options cut to a row each, `focused` all but the one under the cursor. */
export type QuestionParts = Readonly<
  Record<
    'warnings' | 'subject' | 'said' | 'risks' | 'details' | 'options' | 'focused' | 'short' | 'keys',
    readonly Row[]
  >
> & {
  readonly title: Row;
  readonly isShortened: boolean;
};

type Room = {
  readonly room: number;
  readonly width: number;
  /** Leaves out what has no room, with a note in its place. */
  readonly cut: (rows: readonly Row[], to: number) => readonly Row[];
};

/** The empty rows give way first, then what the model says of it, the keys, the words of long options; what it is about last. */
export function fitQuestion(parts: QuestionParts, { room, width, cut }: Room): QuestionPlan {
  const { title, warnings, subject, risks, options, focused, short } = parts;
  const fixed = 1 + warnings.length + subject.length + risks.length;
  if (fixed + options.length <= room) return roomy(parts, room - fixed - options.length);
  const inSight = parts.isShortened ? 'call' : 'all';
  const tight = { title, options: short, keys: [], gaps: 'none', inSight } as const;
  if (fixed + focused.length <= room) return { ...tight, options: focused, body: [...warnings, ...subject, ...risks] };
  if (fixed + short.length <= room) return { ...tight, body: [...warnings, ...subject, ...risks] };
  const [only = []] = subject;
  const line = [...title, plain('   '), ...only];
  if (subject.length === 1 && fixed + short.length - 1 <= room && textWidth(rowText(line)) <= width) {
    return { ...tight, title: line, body: [...warnings, ...risks] };
  }
  const left = Math.max(0, room - 1 - short.length);
  const subjectRoom = Math.max(Math.min(2, left), left - warnings.length - risks.length);
  const body = [...warnings, ...cut(subject, subjectRoom), ...risks].slice(0, left);
  return { ...tight, options: short.slice(0, room - 1), body, inSight: 'part' };
}

function roomy(
  { title, warnings, subject, said, risks, details, options, keys }: QuestionParts,
  spare: number,
): QuestionPlan {
  let left = spare;
  const take = (rows: readonly Row[], least = rows.length) => {
    const taken = rows.length <= left || least < rows.length ? rows.slice(0, Math.max(0, left)) : [];
    left -= taken.length;
    return taken;
  };
  const shownKeys = take(keys);
  const shownWords = take(said);
  const shownDetails = take(details, 0);
  const body = [...warnings, ...subject, ...shownWords, ...risks, ...shownDetails];
  return { title, body, options, keys: shownKeys, gaps: left >= GAPS ? 'shown' : 'none', inSight: 'all' };
}

/** The ends of something long; of a change its beginning. */
export function cutRows(from: 'end' | 'middle', { glyphs, width }: Drawing) {
  return (rows: readonly Row[], to: number): readonly Row[] => {
    const kept = Math.max(0, to - 1);
    const head = from === 'end' ? kept : Math.floor(kept / 2);
    const hidden = formatCount(rows.length - kept, 'row');
    const how = width < NARROW ? 'v shows all' : 'v shows all, and takes the answer';
    const note = [toned('warn', `${glyphs.more} ${hidden} not in sight: ${how}`)];
    return [...rows.slice(0, head), note, ...rows.slice(rows.length - (kept - head))];
  };
}
