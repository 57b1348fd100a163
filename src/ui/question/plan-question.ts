import type { PermissionRequest } from '../../contracts/permission.ts';
import { printableName, sanitize } from '../../lib/text/sanitize.ts';
import { textWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { type Drawing, shortTitle } from '../text/drawing.ts';
import { fitLine, held, type LogicalLine, plain, proseLine, terminalLine, toned } from '../text/line.ts';
import { liveRows, type Row } from '../text/render-lines.ts';
import { type Ask, type AskForm, hearsKeys, type OpenDialog } from '../view/ask.ts';
import { isAnsweredTogether, listedAsks, listOptions } from '../view/ask-list.ts';
import { type DialogOption, dialogOptions, linesOf } from '../view/dialog-options.ts';
import { isFolded } from '../view/slice-asks.ts';
import type { ViewState } from '../view/view-state.ts';
import { cutRows, fitQuestion, type QuestionParts, type QuestionPlan } from './fit-question.ts';
import { type DialogBody, permissionBody, permissionTitle } from './permission-body.ts';
import { questionBody, questionTitle } from './question-body.ts';

/** The bar and the blank beside it, the indentation, and two free columns. */
const MARGIN = 6;

const LENT: Readonly<Record<AskForm['writing'], string>> = {
  nothing: '',
  reason: 'Say what to do instead',
  own_words: 'Say it in your own words',
  rule: 'The rule to remember',
  command: 'The command to run instead',
  plan: 'The plan to follow',
};

/** The dialog of the first thing that is asked; a hint how to answer while a draft is written. */
export function planQuestion(view: ViewState, drawing: Drawing, room: number): QuestionPlan | undefined {
  const { asks, attention } = view;
  const [ask] = asks;
  if (ask === undefined || attention.stage === 'none') return undefined;
  const width = Math.max(10, drawing.width - MARGIN);
  if (isFolded(view)) return foldedQuestion(view, ask, attention, drawing);
  const listed = listedAsks(asks, attention.form.listed);
  const body = listed.length > 0 ? listBody(listed, drawing) : bodyOf(ask, attention, drawing);
  const isWriting = attention.form.writing !== 'nothing';
  const options = isWriting ? [] : listed.length > 0 ? listOptions(listed) : dialogOptions(ask, attention.form);
  const words = listed.length > 0 ? `${listed.length} wait for you` : titleOf(ask, drawing);
  const place =
    asks.length > 1 && listed.length === 0
      ? `   1 of ${asks.length}${drawing.width < 60 ? '' : ', ctrl+y lists them'}`
      : '';
  // A name in the title is a part of what is asked: where it is cut, it stands below as a whole.
  const isTitleCut = textWidth(words) > width - place.length;
  const title: Row = [
    { text: truncateEnd(words, width - place.length), style: { bold: true } },
    ...(place === '' ? [] : [toned('dim', place)]),
  ];
  // The cursor says that keys are heard.
  const selected = hearsKeys(attention) ? attention.selected : undefined;
  const lines = linesOf(options).map((option, at) => optionLine(option, at, selected, drawing));
  const short = lines.map((line) => fitLine(line, width + 2));
  const focused = lines.map((line, at) => (at === selected ? line : (short[at] ?? line)));
  const parts: QuestionParts = {
    title,
    warnings: liveRows([...(isTitleCut ? [terminalLine(plain(words))] : []), ...body.warnings], width),
    subject: liveRows(body.subject, width),
    said: liveRows(body.said, width),
    risks: liveRows(body.risks, width),
    details: liveRows(body.details, width),
    options: liveRows(lines, width),
    focused: liveRows(focused, width),
    short: liveRows(short, width),
    isShortened: short.some((line, at) => line !== lines[at]),
    keys: liveRows([keysLine(options, attention, drawing)], width),
  };
  return fitQuestion(parts, { room, width, cut: cutRows(cutFrom(ask), drawing) });
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

function optionLine(
  option: DialogOption,
  at: number,
  selected: number | undefined,
  { glyphs, cwd }: Drawing,
): LogicalLine {
  const isSelected = selected === at;
  // Only what has a digit of its own on the keyboard shows one.
  const digit = at < 9 ? String(at + 1) : ' ';
  const key = option.key === digit ? '' : `${option.key}  `;
  const label = `${isSelected ? glyphs.cursor : ' '} ${digit}  ${key}`;
  const words = sanitize(option.label, 'line');
  const about =
    option.about === undefined ? [] : [toned('code', `  ${sanitize(shortTitle(option.about, cwd), 'line')}`)];
  const note =
    option.note === undefined ? [] : [toned('dim', `   ${noteWords(option, sanitize(option.note, 'line'))}`)];
  return {
    ...proseLine(isSelected ? { text: words, style: { token: 'brand', bold: true } } : plain(words), ...about, ...note),
    glued: true,
    indent: label.length,
    label: { text: label, style: isSelected ? { token: 'brand', bold: true } : { token: 'accent' } },
  };
}

/** A word in brackets stays together; what describes a choice is prose. */
function noteWords({ about }: DialogOption, note: string): string {
  return about === undefined ? note : held(note);
}

/** Who hears the keys, and which there are besides the options. */
function keysLine(options: readonly DialogOption[], attention: OpenDialog, { glyphs }: Drawing): LogicalLine {
  const { writing } = attention.form;
  if (writing !== 'nothing') return proseLine(toned('dim', `${LENT[writing]}: enter sends, esc goes back`));
  const asides = options.filter(({ place }) => place === 'aside').map(({ key, label }) => [key, ` ${label}`] as const);
  const first = hearsKeys(attention) ? (['', `${glyphs.upDown} enter`] as const) : (['', 'one moment'] as const);
  const keys = [first, ...asides, ['esc', ' no, and stop'] as const];
  const spans = keys.flatMap(([key, label], at) => [
    toned('dim', at === 0 ? '' : glyphs.separator),
    toned('accent', key),
    toned('dim', held(label)),
  ]);
  return { ...proseLine(...spans), glued: true };
}

/** All that wait, as far as they were there when the list was opened. */
function listBody(listed: readonly Ask[], drawing: Drawing): DialogBody {
  const subject = listed.map((ask) => {
    const words = ask.kind === 'question' ? titleOf(ask, drawing) : callWords(ask.request);
    const note = isAnsweredTogether(ask) ? '' : '   asks on its own';
    return terminalLine(plain(sanitize(shortTitle(words, drawing.cwd), 'line')), toned('dim', note));
  });
  return { warnings: [], subject, said: [], risks: [], details: [] };
}

function callWords({ facts, title }: PermissionRequest): string {
  return facts.kind === 'shell' ? `$ ${title}` : title;
}

/** Two rows while somebody writes: what is asked, and how it is answered. */
function foldedQuestion(view: ViewState, ask: Ask, { form }: OpenDialog, drawing: Drawing): QuestionPlan {
  const room = Math.max(10, drawing.width - 4);
  const options = linesOf(dialogOptions(ask, form)).slice(0, 9);
  const about = ask.kind === 'permission' ? sanitize(shortTitle(ask.request.title, drawing.cwd), 'line') : '';
  const more = view.asks.length > 1 ? ` 1 of ${view.asks.length}` : '';
  const title = truncateEnd(`${titleOf(ask, drawing)}${more}   ${about}`.trimEnd(), room);
  const names = options.flatMap((option, at) =>
    isOfThisRun(option) ? [] : [`${at + 1} ${option.key} ${shortWord(ask, option.label)}`.replace(/^(\d) \1 /, '$1 ')],
  );
  const open = 'ctrl+y';
  const before = drawing.width < 60 ? '' : 'you are writing:  ';
  const answers = truncateEnd(` then  ${names.join(drawing.glyphs.separator)}`, room - before.length - open.length);
  const how: Row =
    view.overlay === undefined
      ? [toned('dim', before), { text: open, style: { bold: true } }, toned('dim', answers)]
      : [toned('dim', 'waits until this is closed')];
  return {
    title: [toned('dim', title)],
    body: [],
    options: [],
    keys: [how],
    gaps: 'none',
    inSight: 'part',
  };
}

/** An answer that lasts until one leaves has its line when the question is open. */
function isOfThisRun({ act }: DialogOption): boolean {
  return (
    act.type === 'answer_permission' &&
    act.answer.behavior === 'allow' &&
    act.answer.remember?.destination === 'session'
  );
}

/** The first words of an answer that say which it is; what somebody else called it stays as it is. */
function shortWord(ask: Ask, label: string): string {
  if (ask.kind === 'question' && ask.question.kind !== 'plan') return printableName(label);
  if (/do not ask again|never for|all edits|without asking/.test(label)) return 'always';
  return (/^[^,]*/.exec(label)?.[0] ?? label).toLowerCase();
}
