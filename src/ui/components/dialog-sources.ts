import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { type Drawing, shortTitle } from '../text/drawing.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';
import { type Ask, type AskForm, type Attention, DEAF_MS } from '../view/ask.ts';
import { isAnsweredTogether, listedAsks, listOptions } from '../view/ask-list.ts';
import { dialogOptions } from '../view/dialog-options.ts';
import type { ViewState } from '../view/view-state.ts';
import type { LiveSource } from './fit-rows.ts';
import { optionLines } from './option-lines.ts';
import { permissionBody, permissionTitle } from './permission-body.ts';
import { questionBody, questionTitle } from './question-body.ts';

type Armed = Extract<Attention, { stage: 'armed' }>;

const FOCUSED = { token: 'warn', bold: true, inverse: true } as const;

const LENT: Readonly<Record<AskForm['writing'], string>> = {
  nothing: '',
  reason: 'say why',
  own_words: 'your own words',
  rule: 'the rule to remember',
  command: 'the command to run instead',
  plan: 'the plan to follow',
};

/** The dialog of the first thing that is asked: one line while it must not hear keys, all of it afterwards. */
export function dialogSources(view: ViewState, drawing: Drawing): readonly LiveSource[] {
  const ask = view.asks[0];
  if (ask === undefined || view.attention.stage === 'none') return [];
  const { glyphs } = drawing;
  if (view.attention.stage === 'pending') {
    const who = ask.kind === 'permission' ? ask.request.toolName : 'A question';
    const words = [toned('warn', `${glyphs.wait} ${who} waits for you`), toned('dim', ' (ctrl+y to answer)')];
    return [fixed('dialog_title', [terminalLine(), terminalLine(...words)])];
  }
  const { attention } = view;
  const listed = listedAsks(view.asks, attention.form.listed);
  if (listed.length > 0) return listSources(listed, attention, view, drawing);
  const isPermission = ask.kind === 'permission';
  const body = isPermission ? permissionBody(ask.request, attention, drawing) : questionBody(ask, attention);
  const hint = isPermission && ask.request.facts.kind === 'edit' ? ' (v)' : '';
  const options = attention.form.writing === 'nothing' ? dialogOptions(ask, attention.form) : [];
  return [
    fixed('dialog_title', [terminalLine(), titleLine(ask, view.asks.length, attention, drawing)]),
    { kind: 'dialog_body', lines: body, keepHead: 1, keepTail: 0, cutHint: hint },
    fixed('dialog', optionLines(options, attention.selected, drawing)),
    fixed('dialog_note', [terminalLine(toned('dim', `${glyphs.mark}${note(attention, view, drawing)}`))]),
  ];
}

/** All that wait, as far as they were there when the list was opened. */
function listSources(
  listed: readonly Ask[],
  attention: Armed,
  view: ViewState,
  drawing: Drawing,
): readonly LiveSource[] {
  const { glyphs } = drawing;
  const title: Span = { text: `${glyphs.wait} ${listed.length} wait for you`, style: FOCUSED };
  const others = view.asks.length - listed.length;
  const lines = listed.map((ask) => {
    const words = shortTitle(sanitizeScreen(titleOf(ask)), drawing.cwd).replaceAll('\n', ' ');
    return terminalLine(plain(`  ${words}`), toned('dim', isAnsweredTogether(ask) ? '' : '   asks on its own'));
  });
  return [
    fixed('dialog_title', [
      terminalLine(),
      terminalLine(title, toned('dim', others > 0 ? `   and ${others} more` : '')),
    ]),
    fixed('dialog', [...lines, ...optionLines(listOptions(listed), attention.selected, drawing)]),
    fixed('dialog_note', [terminalLine(toned('dim', `${glyphs.mark}${note(attention, view, drawing)}`))]),
  ];
}

function titleOf(ask: Ask): string {
  if (ask.kind === 'question') return questionTitle(ask.question);
  const { toolName, title } = ask.request;
  return title.startsWith(toolName) ? title : `${toolName} ${title}`;
}

function fixed(kind: LiveSource['kind'], lines: readonly LogicalLine[]): LiveSource {
  // The empty row before a title goes before anything else does.
  return { kind, lines, keepHead: 0, keepTail: kind === 'dialog_title' ? lines.length - 1 : lines.length };
}

function titleLine(ask: Ask, waiting: number, { focus }: Armed, drawing: Drawing): LogicalLine {
  const words = ask.kind === 'permission' ? permissionTitle(ask.request, drawing) : questionTitle(ask.question);
  const title: Span = {
    text: `${drawing.glyphs.wait} ${words}`,
    style: focus === 'dialog' ? FOCUSED : { token: 'warn', bold: true },
  };
  return terminalLine(
    title,
    toned('dim', waiting > 1 ? `   1 of ${waiting} waiting${focus === 'dialog' ? ', ctrl+y lists them' : ''}` : ''),
  );
}

/** Who hears the keys right now. */
function note({ form, focus, armedAtMs }: Armed, view: ViewState, { nowMs, width }: Drawing): string {
  if (form.writing !== 'nothing') return `${LENT[form.writing]}: enter sends, esc goes back`;
  const isUsable = view.editor.text === '' || focus === 'dialog';
  if (!isUsable) return 'ctrl+y answers; typing goes to your draft';
  if (nowMs - armedAtMs < DEAF_MS) return 'one moment…';
  return width < 60 ? 'esc says no and stops' : 'a letter answers, esc says no and stops';
}
