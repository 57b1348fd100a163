import type { Drawing } from '../drawing.ts';
import { type LogicalLine, type Span, terminalLine, toned } from '../lines/line.ts';
import type { LiveSource } from '../screen/fit-rows.ts';
import { type Ask, type AskForm, type Attention, DEAF_MS } from '../view/ask.ts';
import { dialogOptions } from '../view/dialog-options.ts';
import type { ViewState } from '../view/view-state.ts';
import { optionLines } from './option-lines.ts';
import { permissionBody, permissionTitle } from './permission-body.ts';
import { questionBody, questionTitle } from './question-body.ts';

type Armed = Extract<Attention, { stage: 'armed' }>;

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

function fixed(kind: LiveSource['kind'], lines: readonly LogicalLine[]): LiveSource {
  // The empty row before a title goes before anything else does.
  return { kind, lines, keepHead: 0, keepTail: kind === 'dialog_title' ? lines.length - 1 : lines.length };
}

function titleLine(ask: Ask, waiting: number, { focus }: Armed, drawing: Drawing): LogicalLine {
  const words = ask.kind === 'permission' ? permissionTitle(ask.request, drawing) : questionTitle(ask.question);
  const title: Span = {
    text: `${drawing.glyphs.wait} ${words}`,
    style: focus === 'dialog' ? { token: 'warn', bold: true, inverse: true } : { token: 'warn', bold: true },
  };
  return terminalLine(title, toned('dim', waiting > 1 ? `   1 of ${waiting} waiting` : ''));
}

/** Who hears the keys right now. */
function note({ form, focus, armedAtMs }: Armed, view: ViewState, { nowMs, width }: Drawing): string {
  if (form.writing !== 'nothing') return `${LENT[form.writing]}: enter sends, esc goes back`;
  const isUsable = view.editor.text === '' || focus === 'dialog';
  if (!isUsable) return 'ctrl+y answers; typing goes to your draft';
  if (nowMs - armedAtMs < DEAF_MS) return 'one moment…';
  return width < 60 ? 'esc says no and stops' : 'a letter answers, esc says no and stops';
}
