import type { Drawing } from '../drawing.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../lines/line.ts';
import { sanitize } from '../sanitize.ts';
import type { LiveSource } from '../screen/fit-rows.ts';
import { type Ask, type Attention, DEAF_MS } from '../view/ask.ts';
import { dialogOptions } from '../view/dialog-options.ts';
import type { ViewState } from '../view/view-state.ts';
import { permissionBody, permissionTitle } from './permission-body.ts';
import { questionBody, questionTitle } from './question-body.ts';

type Armed = Extract<Attention, { stage: 'armed' }>;

/** The dialog of the first thing that is asked: one line while it must not hear keys, all of it afterwards. */
export function dialogSources(view: ViewState, drawing: Drawing): readonly LiveSource[] {
  const ask = view.asks[0];
  if (ask === undefined || view.attention.stage === 'none') return [];
  const { glyphs } = drawing;
  if (view.attention.stage === 'pending') {
    const who = ask.kind === 'permission' ? ask.request.toolName : 'A question';
    const line = terminalLine(
      toned('warn', `${glyphs.wait} ${who} waits for you`),
      toned('dim', ' (ctrl+y to answer)'),
    );
    return [{ kind: 'dialog', lines: [terminalLine(), line], keepHead: 0, keepTail: 1 }];
  }
  const title = titleLine(ask, view.asks.length, view.attention, drawing);
  const body =
    ask.kind === 'permission'
      ? permissionBody(ask.request, view.attention, drawing)
      : questionBody(ask, view.attention, drawing);
  const foot = footLines(ask, view.attention, view, drawing);
  return [
    {
      kind: 'dialog',
      lines: [terminalLine(), title, ...body, ...foot],
      keepHead: 2,
      keepTail: foot.length,
    },
  ];
}

function titleLine(ask: Ask, waiting: number, { focus }: Armed, drawing: Drawing): LogicalLine {
  const words = ask.kind === 'permission' ? permissionTitle(ask.request, drawing) : questionTitle(ask.question);
  const title: Span = {
    text: `${drawing.glyphs.wait} ${words}`,
    style: focus === 'dialog' ? { token: 'warn', bold: true, inverse: true } : { token: 'warn', bold: true },
  };
  return terminalLine(title, toned('dim', waiting > 1 ? `   1 of ${waiting} waiting` : ''));
}

function footLines(ask: Ask, attention: Armed, view: ViewState, { glyphs, nowMs }: Drawing): readonly LogicalLine[] {
  const { form, selected, focus, armedAtMs } = attention;
  if (form.writing !== 'nothing') {
    const words = { reason: 'say why', own_words: 'your own words', rule: 'the rule to remember', nothing: '' };
    return [terminalLine(toned('dim', `${glyphs.mark}${words[form.writing]}: enter sends, esc goes back`))];
  }
  const options = dialogOptions(ask, form).map((option, at) => {
    const key = toned('accent', `  ${option.key}  `);
    const label = sanitize(option.label);
    return terminalLine(key, selected === at ? { text: label, style: { inverse: true } } : plain(label));
  });
  const usable = view.editor.text === '' || focus === 'dialog';
  const note = !usable
    ? 'ctrl+y answers; typing goes to your draft'
    : nowMs - armedAtMs < DEAF_MS
      ? 'one moment…'
      : 'a letter answers, esc says no and stops';
  return [...options, terminalLine(toned('dim', `${glyphs.mark}${note}`))];
}
