import { formatCount } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { type Drawing, shortTitle } from '../text/drawing.ts';
import { fitLine, type LogicalLine, plain, proseLine, terminalLine, toned } from '../text/line.ts';
import { renderLines } from '../text/render-lines.ts';
import type { Paint } from '../theme/paint.ts';
import { type Ask, type AskForm, hearsKeys, type OpenDialog } from '../view/ask.ts';
import { isAnsweredTogether, listedAsks, listOptions } from '../view/ask-list.ts';
import { type DialogOption, dialogOptions, linesOf } from '../view/dialog-options.ts';
import { isFolded } from '../view/slice-asks.ts';
import type { ViewState } from '../view/view-state.ts';
import { type DialogBody, permissionBody, permissionTitle } from './permission-body.ts';
import { questionBody, questionTitle } from './question-body.ts';

/** A dialog as painted rows, fitted to the room there is. */
export type QuestionPlan = {
  readonly title: string;
  readonly body: readonly string[];
  readonly options: readonly string[];
  readonly keys: readonly string[];
  /** Whether empty rows stand between its parts. */
  readonly gaps: 'shown' | 'none';
  /** What can be read: everything, everything but the end of an option, or only a part of what is asked about. */
  readonly inSight: 'all' | 'call' | 'part';
};

/** The bar and the blank beside it, the indentation, and two free columns. */
const MARGIN = 6;
const GAPS = 3;

const LENT: Readonly<Record<AskForm['writing'], string>> = {
  nothing: '',
  reason: 'Say what to do instead',
  own_words: 'Say it in your own words',
  rule: 'The rule to remember',
  command: 'The command to run instead',
  plan: 'The plan to follow',
};

/** The dialog of the first thing that is asked; a hint how to answer while a draft is written. */
export function planQuestion(view: ViewState, drawing: Drawing, paint: Paint, room: number): QuestionPlan | undefined {
  const { asks, attention } = view;
  const [ask] = asks;
  if (ask === undefined || attention.stage === 'none') return undefined;
  const width = Math.max(10, drawing.width - MARGIN);
  const rowsOf = (lines: readonly LogicalLine[]) =>
    renderLines(lines, { width, paint, zone: 'live', links: 'printed' });
  if (isFolded(view)) return foldedQuestion(view, ask, attention, drawing, paint);
  const listed = listedAsks(asks, attention.form.listed);
  const body = listed.length > 0 ? listBody(listed, drawing) : bodyOf(ask, attention, drawing);
  const isWriting = attention.form.writing !== 'nothing';
  const options = isWriting ? [] : listed.length > 0 ? listOptions(listed) : dialogOptions(ask, attention.form);
  const words = listed.length > 0 ? `${listed.length} wait for you` : titleOf(ask, drawing);
  const place = asks.length > 1 ? `   1 of ${asks.length}${drawing.width < 60 ? '' : ', ctrl+y lists them'}` : '';
  const title = paint(truncateEnd(words, width - place.length), { bold: true }) + paint(place, { token: 'dim' });
  // The cursor says that keys are heard.
  const selected = hearsKeys(attention) ? attention.selected : undefined;
  const lines = linesOf(options).map((option, at) => optionLine(option, at, selected, drawing));
  const parts: Parts = {
    title,
    warnings: rowsOf(body.warnings),
    subject: rowsOf(body.subject),
    said: rowsOf(body.said),
    risks: rowsOf(body.risks),
    details: rowsOf(body.details),
    options: rowsOf(lines),
    short: rowsOf(lines.map((line) => fitLine(line, width + 2))),
    keys: rowsOf([keysLine(options, attention, drawing)]),
  };
  return fitted(parts, room, width, cutRows(cutFrom(ask), paint, drawing));
}

/** Everything an ask is about, above its options. */
export function bodyOf(ask: Ask, attention: OpenDialog, drawing: Drawing): DialogBody {
  return ask.kind === 'permission'
    ? permissionBody(ask.request, drawing, attention.form.details)
    : questionBody(ask, attention);
}

/** What is asked, in a line. */
export function titleOf(ask: Ask, drawing: Drawing): string {
  return ask.kind === 'permission' ? permissionTitle(ask.request, drawing) : questionTitle(ask.question);
}

/** A long change is read from its beginning, of anything else the end matters as much. */
function cutFrom(ask: Ask): 'end' | 'middle' {
  return ask.kind === 'permission' && ask.request.facts.kind === 'edit' ? 'end' : 'middle';
}

type Parts = Readonly<
  Record<'warnings' | 'subject' | 'said' | 'risks' | 'details' | 'options' | 'short' | 'keys', readonly string[]>
> & {
  readonly title: string;
};

/** The empty rows give way first, then what the model says of it, the keys, the words of long options; what it is about last. */
function fitted(
  parts: Parts,
  room: number,
  width: number,
  cut: (rows: readonly string[], to: number) => readonly string[],
): QuestionPlan {
  const { title, warnings, subject, risks, options, short } = parts;
  const fixed = 1 + warnings.length + subject.length + risks.length;
  if (fixed + options.length <= room) return roomy(parts, room - fixed - options.length);
  const isCut = short.some((row) => row.includes('…'));
  const tight = { title, options: short, keys: [], gaps: 'none', inSight: isCut ? 'call' : 'all' } as const;
  if (fixed + short.length <= room) return { ...tight, body: [...warnings, ...subject, ...risks] };
  const [only = ''] = subject;
  const line = `${title}   ${only}`;
  if (subject.length === 1 && fixed + short.length - 1 <= room && textWidth(line) <= width) {
    return { ...tight, title: line, body: [...warnings, ...risks] };
  }
  const left = Math.max(0, room - 1 - short.length);
  const subjectRoom = Math.max(Math.min(2, left), left - warnings.length - risks.length);
  const body = [...warnings, ...cut(subject, subjectRoom), ...risks].slice(0, left);
  return { ...tight, options: short.slice(0, room - 1), body, inSight: 'part' };
}

function roomy({ title, warnings, subject, said, risks, details, options, keys }: Parts, spare: number): QuestionPlan {
  let left = spare;
  const take = (rows: readonly string[], least = rows.length) => {
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
function cutRows(from: 'end' | 'middle', paint: Paint, { glyphs }: Drawing) {
  return (rows: readonly string[], to: number): readonly string[] => {
    const kept = Math.max(0, to - 1);
    const head = from === 'end' ? kept : Math.floor(kept / 2);
    const hidden = formatCount(rows.length - kept, 'row');
    const note = paint(`${glyphs.more} ${hidden} not in sight: v shows all, and takes the answer`, { token: 'warn' });
    return [...rows.slice(0, head), note, ...rows.slice(rows.length - (kept - head))];
  };
}

function optionLine(
  option: DialogOption,
  at: number,
  selected: number | undefined,
  { glyphs, cwd }: Drawing,
): LogicalLine {
  const isSelected = selected === at;
  const digit = String(at + 1);
  const key = option.key === digit ? '' : `${option.key}  `;
  const label = `${isSelected ? glyphs.cursor : ' '} ${digit}  ${key}`;
  const words = sanitize(option.label, 'line');
  const about =
    option.about === undefined ? [] : [toned('code', `  ${sanitize(shortTitle(option.about, cwd), 'line')}`)];
  const note = option.note === undefined ? [] : [toned('dim', `   ${sanitize(option.note, 'line')}`)];
  return {
    ...proseLine(isSelected ? { text: words, style: { token: 'brand', bold: true } } : plain(words), ...about, ...note),
    indent: label.length,
    label: { text: label, style: isSelected ? { token: 'brand', bold: true } : { token: 'accent' } },
  };
}

/** Who hears the keys, and which there are besides the options. */
function keysLine(options: readonly DialogOption[], attention: OpenDialog, { glyphs }: Drawing): LogicalLine {
  const { writing } = attention.form;
  if (writing !== 'nothing') return proseLine(toned('dim', `${LENT[writing]}: enter sends, esc goes back`));
  const asides = options.filter(({ place }) => place === 'aside').map(({ key, label }) => [key, ` ${label}`] as const);
  const first = hearsKeys(attention) ? (['', `${glyphs.upDown} enter`] as const) : (['', 'one moment'] as const);
  const keys = [first, ...asides, ['esc', ' no, and stop'] as const];
  return proseLine(
    ...keys.flatMap(([key, label], at) => [
      toned('dim', at === 0 ? '' : glyphs.separator),
      toned('accent', key),
      toned('dim', label),
    ]),
  );
}

/** All that wait, as far as they were there when the list was opened. */
function listBody(listed: readonly Ask[], drawing: Drawing): DialogBody {
  const subject = listed.map((ask) => {
    const words = ask.kind === 'question' ? titleOf(ask, drawing) : callWords(ask.request.toolName, ask.request.title);
    const note = isAnsweredTogether(ask) ? '' : '   asks on its own';
    return terminalLine(plain(sanitize(shortTitle(words, drawing.cwd), 'line')), toned('dim', note));
  });
  return { warnings: [], subject, said: [], risks: [], details: [] };
}

function callWords(tool: string, title: string): string {
  return title.startsWith(tool) ? title : `${tool} ${title}`;
}

/** Two rows while somebody writes: what is asked, and how it is answered. */
function foldedQuestion(view: ViewState, ask: Ask, { form }: OpenDialog, drawing: Drawing, paint: Paint): QuestionPlan {
  const room = Math.max(10, drawing.width - 4);
  const options = linesOf(dialogOptions(ask, form)).slice(0, 9);
  const about = ask.kind === 'permission' ? sanitize(shortTitle(ask.request.title, drawing.cwd), 'line') : '';
  const more = view.asks.length > 1 ? ` 1 of ${view.asks.length}` : '';
  const title = truncateEnd(`${titleOf(ask, drawing)}${more}   ${about}`.trimEnd(), room);
  const names = options.map(({ key, label }, at) => `${at + 1} ${key} ${shortWord(label)}`.replace(/^(\d) \1 /, '$1 '));
  const how =
    view.overlay === undefined
      ? `you are writing:  ctrl+y then  ${names.join(drawing.glyphs.separator)}`
      : 'waits until this is closed';
  const dim = { token: 'dim' } as const;
  return {
    title: paint(title, dim),
    body: [],
    options: [],
    keys: [paint(truncateEnd(how, room), dim)],
    gaps: 'none',
    inSight: 'part',
  };
}

/** The first word of an answer that says which it is. */
function shortWord(label: string): string {
  if (/do not ask again|never for|all edits|without asking/.test(label)) return 'always';
  return (/^[^,]*/.exec(label)?.[0] ?? label).toLowerCase();
}
