import type { PermissionRequest } from '../../../contracts/permission.ts';
import { escapeDisplayName, sanitize } from '../../../lib/text/sanitize.ts';
import { getTextWidth, truncateEnd } from '../../../lib/text/text-width.ts';
import type { ViewState } from '../../app-state/view-state.ts';
import {
  colored,
  createProseLine,
  createStyledLine,
  insertNoBreakSpaces,
  type LogicalLine,
  measureSpans,
  plain,
  type StyledSpan,
  truncateLine,
} from '../../text/line.ts';
import { type RenderContext, shortenTitlePaths } from '../../text/render-context.ts';
import { type ScreenRow, wrapLines } from '../../text/render-lines.ts';
import { createQuestionBody, formatQuestionTitle } from '../form/question-body.ts';
import {
  createDialogOptions,
  createRequestListOptions,
  filterListedRequests,
  filterOptionsInList,
  isAnsweredTogether,
} from './dialog-options.ts';
import {
  acceptsKeys,
  type DialogForm,
  type DialogOption,
  type DialogRequest,
  type OpenDialog,
} from './dialog-state.ts';

import { createRowLimiter, type DialogLayout, type DialogParts, fitDialog } from './fit-dialog.ts';
import {
  createPermissionBody,
  type DialogBody,
  describeSevereRisks,
  EMPTY_DIALOG_BODY,
  formatPermissionTitle,
} from './permission-body.ts';
import { isDialogCollapsed } from './reduce-dialog.ts';

/** Columns of the bar and the space after it, of the indentation, and of the free right edge. */
const MARGIN = 6;

const TYPING_LABELS: Readonly<Record<DialogForm['typing'], string>> = {
  nothing: '',
  reason: 'Type what to do instead',
  custom_answer: 'Type your answer',
  rule: 'Rule to save',
  command: 'Command to run instead',
  plan: 'Plan to follow',
};

/** Lays out the dialog of the first request; collapsed to two rows while the user types a draft. */
export function layoutDialog(view: ViewState, context: RenderContext, room: number): DialogLayout | undefined {
  const { dialogRequests, dialog } = view;
  const [request] = dialogRequests;
  if (request === undefined || dialog.stage === 'none') return undefined;
  const width = Math.max(10, context.width - MARGIN);
  if (isDialogCollapsed(view)) return layoutCollapsed(view, request, dialog, context);
  const listed = filterListedRequests(dialogRequests, dialog.form.listedIds);
  const body = listed.length > 0 ? createListBody(listed, context) : createDialogBody(request, dialog, context);
  const isWriting = dialog.form.typing !== 'nothing';
  const options = isWriting
    ? []
    : listed.length > 0
      ? createRequestListOptions(listed)
      : createDialogOptions(request, dialog.form);
  const text = listed.length > 0 ? `${listed.length} questions waiting` : formatDialogTitle(request, context);
  const position =
    dialogRequests.length > 1 && listed.length === 0
      ? `   1 of ${dialogRequests.length}${context.width < 60 ? '' : ', ctrl+y lists them'}`
      : '';
  const { title, overflow } = createTitle(text, position, body.headline, width);
  // The cursor is shown only while the dialog accepts keys.
  const selected = acceptsKeys(dialog) ? dialog.selected : undefined;
  const subject = body.subject.map((line) => wrapLines([line], width));
  const risky = subject.flatMap((rows, line) => rows.map(() => body.riskyLines.includes(line)));
  const last = risky.flatMap((isRisky, row) => (isRisky ? [row] : []));
  const cut = createRowLimiter(getTruncation(request), last, context);
  const layoutWith = (shown: readonly DialogOption[]) => {
    const lines = filterOptionsInList(shown).map((option, index) => createOptionLine(option, index, selected, context));
    const short = lines.map((line) => truncateLine(line, width + 2));
    const focused = lines.map((line, index) => (index === selected ? line : (short[index] ?? line)));
    const parts: DialogParts = {
      title,
      warnings: wrapLines([...overflow, ...body.warnings], width),
      subject: subject.flat(),
      description: wrapLines(body.description, width),
      risks: wrapLines(body.risks, width),
      details: wrapLines(body.details, width),
      options: wrapLines(lines, width),
      focused: wrapLines(focused, width),
      short: wrapLines(short, width),
      isShortened: short.some((line, index) => line !== lines[index]),
      keys: wrapLines([createKeysLine(shown, dialog, context)], width),
    };
    return fitDialog(parts, { room, width, cut });
  };
  const layout = layoutWith(options);
  const essential = options.filter(({ isOptional }) => isOptional !== true);
  if (layout.inSight !== 'part' || essential.length === options.length) return layout;
  // The call is more important than an option that only low screens lack.
  const smaller = layoutWith(essential);
  return { ...smaller, inSight: smaller.inSight === 'all' ? 'call' : smaller.inSight };
}

/** Creates the title row: question, headline, position. What does not fit is repeated in full below. */
function createTitle(
  text: string,
  position: string,
  headline: readonly StyledSpan[],
  width: number,
): { readonly title: ScreenRow; readonly overflow: readonly LogicalLine[] } {
  const room = width - position.length;
  const isTextCut = getTextWidth(text) > room;
  const fitsHeadline = !isTextCut && getTextWidth(text) + 2 + measureSpans(headline) <= room;
  return {
    title: [
      { text: truncateEnd(text, room), style: { bold: true } },
      ...(fitsHeadline && headline.length > 0 ? [plain('  '), ...headline] : []),
      ...(position === '' ? [] : [colored('dim', position)]),
    ],
    overflow: [
      ...(isTextCut ? [createStyledLine(plain(text))] : []),
      ...(fitsHeadline || headline.length === 0 ? [] : [createProseLine(...headline)]),
    ],
  };
}

/** Creates the body of a dialog, before it is laid out. */
export function createDialogBody(request: DialogRequest, dialog: OpenDialog, context: RenderContext): DialogBody {
  return request.kind === 'permission'
    ? createPermissionBody(request.permission, context, dialog.form.details)
    : createQuestionBody(request, dialog);
}

/** Formats the title of a dialog. */
export function formatDialogTitle(request: DialogRequest, context: RenderContext): string {
  return request.kind === 'permission'
    ? formatPermissionTitle(request.permission, context)
    : formatQuestionTitle(request.question);
}

/** Returns where a long body is truncated: a diff at its end, anything else in the middle. */
function getTruncation(request: DialogRequest): 'end' | 'middle' {
  return request.kind === 'permission' && request.permission.facts.kind === 'edit' ? 'end' : 'middle';
}

function createOptionLine(
  option: DialogOption,
  index: number,
  selected: number | undefined,
  { glyphs, cwd }: RenderContext,
): LogicalLine {
  const isSelected = selected === index;
  // The choices of a question have digits only.
  const isDigit = /^\d$/.test(option.key);
  const keys = isDigit ? `${option.key}  ` : `${option.digit ?? ' '}  ${option.key}  `;
  const label = `${isSelected ? glyphs.cursor : ' '} ${keys}`;
  const text = sanitize(option.label, 'line');
  const subject =
    option.subject === undefined
      ? []
      : [colored('code', `  ${sanitize(shortenTitlePaths(option.subject, cwd), 'line')}`)];
  const end = option.labelEnd === undefined ? [] : [plain(`  ${option.labelEnd}`)];
  const note =
    option.note === undefined ? [] : [colored('dim', `   ${formatNote(option, sanitize(option.note, 'line'))}`)];
  return {
    ...createProseLine(
      isSelected ? { text, style: { token: 'brand', bold: true } } : plain(text),
      ...subject,
      ...end,
      ...note,
    ),
    hasNoBreakSpaces: true,
    indent: label.length,
    label: { text: label, style: isSelected ? { token: 'brand', bold: true } : { token: 'accent' } },
  };
}

/** Keeps a note about a rule on one row; descriptions of choices may wrap. */
function formatNote({ subject }: DialogOption, note: string): string {
  return subject === undefined ? note : insertNoBreakSpaces(note);
}

/** Renders the line of further keys, or of the keys while the user types for the dialog. */
function createKeysLine(options: readonly DialogOption[], dialog: OpenDialog, { glyphs }: RenderContext): LogicalLine {
  const { typing } = dialog.form;
  if (typing !== 'nothing')
    return createProseLine(colored('dim', `${TYPING_LABELS[typing]}: enter sends, esc goes back`));
  const footerKeys = options
    .filter(({ position }) => position === 'footer')
    .map(({ key, label }) => [key, ` ${label}`] as const);
  const first = acceptsKeys(dialog) ? (['', `${glyphs.upDown} enter`] as const) : (['', 'one moment'] as const);
  const keys = [first, ...footerKeys, ['esc', ' no, and stop'] as const];
  const spans = keys.flatMap(([key, label], index) => [
    colored('dim', index === 0 ? '' : glyphs.separator),
    colored('accent', key),
    colored('dim', insertNoBreakSpaces(label)),
  ]);
  return { ...createProseLine(...spans), hasNoBreakSpaces: true };
}

function createListBody(listed: readonly DialogRequest[], context: RenderContext): DialogBody {
  const subject = listed.map((request) => {
    const text = request.kind === 'question' ? formatDialogTitle(request, context) : formatCall(request.permission);
    const note = isAnsweredTogether(request) ? '' : '   asked separately';
    return createStyledLine(plain(sanitize(shortenTitlePaths(text, context.cwd), 'line')), colored('dim', note));
  });
  return { ...EMPTY_DIALOG_BODY, subject };
}

function formatCall({ facts, title }: PermissionRequest): string {
  return facts.kind === 'shell' ? `$ ${title}` : title;
}

/** Lays out a collapsed dialog: the title, and how to open it. */
function layoutCollapsed(
  view: ViewState,
  request: DialogRequest,
  { form }: OpenDialog,
  context: RenderContext,
): DialogLayout {
  const width = Math.max(10, context.width - 4);
  const options = filterOptionsInList(createDialogOptions(request, form)).slice(0, 9);
  const title = truncateEnd(formatCollapsedTitle(view, request, context), width);
  const answers = options.map((option) => {
    const keys = option.digit === undefined ? option.key : `${option.digit} ${option.key}`;
    return `${keys} ${getShortLabel(request, option)}`;
  });
  const openKey = 'ctrl+y';
  const prefix = context.width < 60 ? '' : 'you are writing:  ';
  const answerText = truncateEnd(
    ` then  ${answers.join(context.glyphs.separator)}`,
    width - prefix.length - openKey.length,
  );
  const hint: ScreenRow =
    view.overlay === undefined
      ? [colored('dim', prefix), { text: openKey, style: { bold: true } }, colored('dim', answerText)]
      : [colored('dim', 'waiting until this is closed')];
  return {
    title: [colored('dim', title)],
    body: [],
    options: [],
    keys: [hint],
    gaps: 'none',
    inSight: 'part',
  };
}

/** Formats the title of a collapsed dialog: the question, what is at risk, and the call. */
function formatCollapsedTitle({ dialogRequests }: ViewState, request: DialogRequest, context: RenderContext): string {
  const position = dialogRequests.length > 1 ? ` 1 of ${dialogRequests.length}` : '';
  const title = `${formatDialogTitle(request, context)}${position}`;
  if (request.kind !== 'permission') return title;
  const risks = describeSevereRisks(request.permission).join(context.glyphs.separator);
  const subject = shortenTitlePaths(request.permission.title, context.cwd);
  return [title, sanitize(risks, 'line'), sanitize(subject, 'line')].filter((part) => part !== '').join('   ');
}

/** Returns the short form of a label; labels of choices stay as they are. */
function getShortLabel(request: DialogRequest, { label, shortLabel }: DialogOption): string {
  if (request.kind === 'question' && request.question.kind !== 'plan') return escapeDisplayName(label);
  return shortLabel ?? (/^[^,]*/.exec(label)?.[0] ?? label).toLowerCase();
}
