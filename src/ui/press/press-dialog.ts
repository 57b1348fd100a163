import { createEditor } from '../composer/editor-state.ts';
import { expandFolds } from '../composer/folds.ts';
import type { InputEvent } from '../keys/input-event.ts';
import { type Ask, type Attention, DEAF_MS, EMPTY_FORM } from '../view/ask.ts';
import { listedAsks, listOptions } from '../view/ask-list.ts';
import { type DialogAct, dialogOptions } from '../view/dialog-options.ts';
import { ownDraft, type ViewState } from '../view/view-state.ts';
import { only, type Pressed, withEffects } from './effects.ts';
import type { PressContext } from './press-context.ts';
import { answerQuestions, writtenAnswer } from './press-question.ts';

type Armed = Extract<Attention, { stage: 'armed' }>;
/** Rows that a list leaves to its title, its keys and the draft. */
const LIST_ROOM = 8;

type KeyInput = Extract<InputEvent, { type: 'key' }>;

/** What a key means to the dialog; undefined when it is none of its business. */
export function pressDialog(
  before: ViewState,
  view: ViewState,
  input: KeyInput,
  context: PressContext,
): Pressed | undefined {
  const ask = view.asks[0];
  const { attention } = view;
  if (ask === undefined || attention.stage === 'none') return undefined;
  if (input.chord === 'ctrl+y') {
    const isAgain = attention.stage === 'armed' && attention.focus === 'dialog' && attention.form.writing === 'nothing';
    return only(isAgain ? toggledList(view, attention, context) : focused(view, attention, context.nowMs));
  }
  if (attention.stage === 'pending') return undefined;
  if (attention.form.writing !== 'nothing') return pressWriting(view, ask, attention, input);
  // A draft that was emptied again, and left alone, is no draft any more.
  const isLeft = before.editor.text === '' && context.nowMs - before.keys.lastKeyAtMs >= context.quietMs;
  const isHeard =
    (attention.focus === 'dialog' || isLeft) &&
    context.nowMs - attention.armedAtMs >= DEAF_MS &&
    before.keys.window !== 'returned';
  if (!isHeard) return undefined;
  return pressFocused(view, ask, { ...attention, focus: 'dialog' }, input);
}

function pressFocused(view: ViewState, ask: Ask, attention: Armed, { chord }: KeyInput): Pressed | undefined {
  const listed = listedAsks(view.asks, attention.form.listed);
  const options = listed.length > 0 ? listOptions(listed) : dialogOptions(ask, attention.form);
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return refuseAndStop(view, ask);
    case 'up':
    case 'down':
    case 'tab':
    case 'shift+tab': {
      const by = chord === 'down' || chord === 'tab' ? 1 : -1;
      const from = attention.selected ?? (by === 1 ? -1 : 0);
      return only({ ...view, attention: { ...attention, selected: (from + by + options.length) % options.length } });
    }
    case ' ':
    case 'enter': {
      const option = attention.selected === undefined ? undefined : options[attention.selected];
      if (chord === ' ' && option?.act.type !== 'choose') return only(view);
      if (option === undefined && chord === 'enter' && attention.form.marked.length > 0) {
        return answerQuestions(view, ask, attention, { type: 'send_marked' });
      }
      return option === undefined ? only(view) : act(view, ask, attention, option.act, chord === ' ' ? 'mark' : 'take');
    }
    case 'ctrl+o':
      return act(view, ask, attention, { type: 'details' }, 'take');
    default: {
      const option = options.find(({ key }) => key === chord);
      return option === undefined ? undefined : act(view, ask, attention, option.act, 'mark');
    }
  }
}

/** Carries out an option. `mark` toggles where several may be chosen, `take` sends. */
function act(view: ViewState, ask: Ask, attention: Armed, does: DialogAct, how: 'mark' | 'take'): Pressed {
  switch (does.type) {
    case 'answer_permission':
      return withEffects(view, { type: 'answer_permission', id: ask.id, answer: does.answer });
    case 'answer_question':
      return withEffects(view, { type: 'answer_question', id: ask.id, answer: does.answer });
    case 'answer_several':
      return withEffects(
        view,
        ...does.ids.map((id) => ({ type: 'answer_permission' as const, id, answer: { behavior: 'allow' as const } })),
      );
    case 'list':
      return only({
        ...view,
        attention: { ...attention, selected: undefined, form: { ...attention.form, listed: [] } },
      });
    case 'write': {
      const form = { ...attention.form, writing: does.what, kept: view.editor };
      const { width } = view.editor;
      const editor = createEditor({ width, draft: { text: does.start, caret: does.start.length } });
      return only({ ...view, editor, attention: { ...attention, form } });
    }
    case 'details': {
      const details = attention.form.details === 'shown' ? 'hidden' : 'shown';
      return only({ ...view, attention: { ...attention, form: { ...attention.form, details } } });
    }
    case 'view':
    case 'edit_proposal': {
      const type = does.type === 'view' ? 'view_diff' : 'edit_proposal';
      return ask.kind === 'permission' ? withEffects(view, { type, request: ask.request }) : only(view);
    }
    default:
      return answerQuestions(view, ask, attention, does.type === 'choose' ? { ...does, how } : { type: does.type });
  }
}

/** The composer is lent to the dialog: Enter sends what is written there, ESC goes back to the options. */
function pressWriting(view: ViewState, ask: Ask, attention: Armed, { chord }: KeyInput): Pressed | undefined {
  if (chord === 'escape' || chord === 'ctrl+c') {
    const form = { ...attention.form, writing: 'nothing' as const, kept: undefined };
    return only({ ...view, editor: ownDraft(view), attention: { ...attention, form } });
  }
  if (chord !== 'enter') return undefined;
  return writtenAnswer(view, ask, attention, expandFolds(view.editor.text, view.editor.folds).trim());
}

function refuseAndStop(view: ViewState, ask: Ask): Pressed {
  if (ask.kind === 'permission') {
    const answer = { behavior: 'deny', interrupt: true } as const;
    return withEffects(view, { type: 'answer_permission', id: ask.id, answer }, { type: 'abort' });
  }
  return withEffects(view, { type: 'answer_question', id: ask.id, answer: undefined }, { type: 'abort' });
}

/** Ctrl+Y once more: all that wait, to be answered together; keys that were typed for the dialog are not heard. */
function toggledList(view: ViewState, attention: Armed, { nowMs, viewer }: PressContext): ViewState {
  const isShown = attention.form.listed.length > 0 || view.asks.length < 2;
  // Only what is in sight is answered.
  const seen = view.asks.slice(0, Math.max(1, viewer.height - LIST_ROOM));
  const form = { ...attention.form, listed: isShown ? [] : seen.map(({ id }) => id) };
  return { ...view, attention: { ...attention, armedAtMs: nowMs, selected: undefined, form } };
}

/** Ctrl+Y gives the dialog the keys, whatever stands in the draft. */
function focused(view: ViewState, attention: Exclude<Attention, { stage: 'none' }>, nowMs: number): ViewState {
  if (attention.stage === 'armed') return { ...view, attention: { ...attention, focus: 'dialog' } };
  return {
    ...view,
    attention: { stage: 'armed', armedAtMs: nowMs, focus: 'dialog', selected: undefined, form: EMPTY_FORM },
  };
}
