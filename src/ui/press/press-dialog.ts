import type { PermissionAnswer } from '../../contracts/permission.ts';
import { edit } from '../composer/edit.ts';
import { createEditor } from '../composer/editor-state.ts';
import { expandFolds } from '../composer/folds.ts';
import type { InputEvent } from '../keys/input-event.ts';
import { type Ask, DEAF_MS, ECHO_MS, hearsKeys, type OpenDialog, RETURN_MS } from '../view/ask.ts';
import { listedAsks, listOptions } from '../view/ask-list.ts';
import { askedParts, questionText } from '../view/asked-parts.ts';
import { type DialogAct, type DialogOption, dialogOptions, linesOf, optionOfKey } from '../view/dialog-options.ts';
import { endedByKey, isFolded } from '../view/slice-asks.ts';
import { ownDraft, type ViewState } from '../view/view-state.ts';
import { only, type Pressed, withEffects } from './effects.ts';
import type { PressContext } from './press-context.ts';
import { answerQuestions, writtenAnswer } from './press-question.ts';

/** Rows that a list leaves to its title, its keys and the draft. */
const LIST_ROOM = 8;
/** What answers some question or other; where this one has no such answer, it was not meant for the draft either. */
const HABITS = /^[1-9yYnNaAs]$/;
const MOVES: readonly string[] = [
  'up',
  'down',
  'tab',
  'shift+tab',
  'enter',
  ' ',
  'backspace',
  'delete',
  'left',
  'right',
];

type KeyInput = Extract<InputEvent, { type: 'key' }>;

/** What a key means to the dialog; undefined when it is none of its business. Keys that must not answer are swallowed. */
export function pressDialog(
  before: ViewState,
  view: ViewState,
  input: KeyInput,
  context: PressContext,
): Pressed | undefined {
  const { chord } = input;
  // Who sends whole lines does not press keys in rhythm.
  if (context.quietMs > 0 && isEcho(before, input, context.nowMs))
    return only(chord === view.keys.answered.chord ? answeredBy(view, chord) : view);
  const ask = view.asks[0];
  const { attention } = view;
  if (ask === undefined || attention.stage === 'none' || view.overlay !== undefined) return undefined;
  if (attention.form.writing !== 'nothing') return pressWriting(view, ask, attention, input);
  if (chord === 'ctrl+c' && view.editor.text !== '') {
    return only({ ...view, editor: edit(view.editor, { type: 'clear' }, context.nowMs) });
  }
  // What is held, or comes among other characters, was not pressed to answer; words that are put in go to the draft.
  if (input.manner === 'held' && !isFolded(view)) return only(view);
  if (input.manner === 'among' && !isFolded(view)) return input.text === '' ? only(view) : undefined;
  if (isFolded(view)) {
    if (chord !== 'ctrl+y' && chord !== 'tab') return undefined;
    return only({ ...view, attention: { ...attention, over: view.editor.text } });
  }
  const returnedMs = context.nowMs - view.keys.returnedAtMs;
  if (hearsKeys(attention) && returnedMs >= RETURN_MS) return pressOpen(view, ask, attention, input, context);
  const isSoon = context.nowMs - attention.shownAtMs < DEAF_MS || returnedMs < RETURN_MS;
  const isMeant =
    MOVES.includes(chord) || HABITS.test(chord) || optionOfKey(optionsOf(view, ask, attention), chord) !== undefined;
  return isMeant || chord === 'ctrl+y' || (isSoon && input.text !== '') ? only(view) : undefined;
}

/** The key that answered the dialog before, or one that came with it. */
function isEcho({ keys }: ViewState, { chord, text }: KeyInput, nowMs: number): boolean {
  const sinceMs = nowMs - keys.answered.atMs;
  if (sinceMs < ECHO_MS && chord === keys.answered.chord) return true;
  return sinceMs < DEAF_MS && (text !== '' || chord === 'enter');
}

function answeredBy(view: ViewState, chord: string): ViewState {
  return { ...view, keys: { ...view.keys, answered: { chord, atMs: view.keys.lastKeyAtMs } } };
}

function optionsOf(view: ViewState, ask: Ask, { form }: OpenDialog): readonly DialogOption[] {
  const listed = listedAsks(view.asks, form.listed);
  return listed.length > 0 ? listOptions(listed) : dialogOptions(ask, form);
}

function pressOpen(
  view: ViewState,
  ask: Ask,
  attention: OpenDialog,
  { chord, text }: KeyInput,
  context: PressContext,
): Pressed | undefined {
  const options = optionsOf(view, ask, attention);
  const lines = linesOf(options);
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return refuseAndStop(endedByKey(view), ask);
    case 'ctrl+y':
      return only(toggledList(view, attention, context));
    case 'up':
    case 'down':
    case 'tab':
    case 'shift+tab': {
      const by = chord === 'down' || chord === 'tab' ? 1 : -1;
      const from = attention.selected ?? (by === 1 ? -1 : 0);
      return only({ ...view, attention: { ...attention, selected: (from + by + lines.length) % lines.length } });
    }
    case ' ':
    case 'enter': {
      const option = attention.selected === undefined ? undefined : lines[attention.selected];
      const isMarking =
        ask.kind === 'question' && askedParts(ask.question)[attention.form.question]?.multiSelect === true;
      if (chord === ' ' && !(isMarking && option?.act.type === 'choose')) return only(view);
      if (chord === 'enter' && attention.form.marked.length > 0) {
        return answered(answerQuestions(view, ask, attention, { type: 'send_marked' }), chord);
      }
      return option === undefined ? only(view) : act(view, ask, attention, option.act, chord, context);
    }
    case 'ctrl+o':
      return act(view, ask, attention, { type: 'details' }, chord, context);
    default: {
      const option = optionOfKey(options, chord);
      if (option !== undefined) return act(view, ask, attention, option.act, chord, context);
      return HABITS.test(chord) || (MOVES.includes(chord) && text === '') ? only(view) : undefined;
    }
  }
}

/** Carries out an option. Enter sends where several may be chosen, other keys mark. */
function act(
  view: ViewState,
  ask: Ask,
  attention: OpenDialog,
  does: DialogAct,
  chord: string,
  context: PressContext,
): Pressed {
  switch (does.type) {
    case 'answer_permission': {
      // Nothing is allowed that is not in sight: what does not fit is read on a page, and answered there.
      if (does.answer.behavior === 'allow' && isHidden(does.answer, context.inSight?.(view) ?? 'all')) {
        return act(view, ask, attention, { type: 'view' }, chord, context);
      }
      return answered(withEffects(view, { type: 'answer_permission', id: ask.id, answer: does.answer }), chord);
    }
    case 'answer_question':
      return answered(withEffects(view, { type: 'answer_question', id: ask.id, answer: does.answer }), chord);
    case 'answer_several':
      return answered(
        withEffects(
          view,
          ...does.ids.map((id) => ({ type: 'answer_permission' as const, id, answer: { behavior: 'allow' as const } })),
        ),
        chord,
      );
    case 'list':
      return only({
        ...view,
        attention: { ...attention, selected: undefined, form: { ...attention.form, listed: [] } },
      });
    case 'write': {
      const { begun } = attention.form;
      const text = begun?.what === does.what ? begun.text : does.start;
      const form = { ...attention.form, writing: does.what, start: does.start, begun: undefined, kept: view.editor };
      const editor = createEditor({ width: view.editor.width, draft: { text, caret: text.length } });
      return only({ ...view, editor, attention: { ...attention, form } });
    }
    case 'details': {
      const details = attention.form.details === 'shown' ? 'hidden' : 'shown';
      return only({ ...view, attention: { ...attention, form: { ...attention.form, details } } });
    }
    case 'view':
    case 'edit_proposal': {
      const type = does.type === 'view' ? 'view_request' : 'edit_proposal';
      if (ask.kind === 'permission') return withEffects(view, { type, request: ask.request });
      return withEffects(view, {
        type: 'view_question',
        markdown: questionText(ask.question, attention.form.question),
      });
    }
    case 'copy':
      return withEffects(view, { type: 'copy', text: does.text });
    case 'choose': {
      const how = chord === 'enter' ? 'take' : 'mark';
      return answered(answerQuestions(view, ask, attention, { ...does, how }), chord);
    }
    default:
      return answered(answerQuestions(view, ask, attention, { type: does.type }), chord);
  }
}

/** Is something of what would be allowed, or remembered, out of sight? */
function isHidden(
  { remember, mode }: Extract<PermissionAnswer, { behavior: 'allow' }>,
  inSight: 'all' | 'call' | 'part',
): boolean {
  return inSight === 'part' || (inSight === 'call' && (remember ?? mode) !== undefined);
}

/** After an answer the same key, still held or pressed in rhythm, means nothing. */
function answered(pressed: Pressed, chord: string): Pressed {
  return pressed.effects.length === 0 ? pressed : { ...pressed, view: endedByKey(answeredBy(pressed.view, chord)) };
}

/** The composer is lent to the dialog: Enter sends what is written there, ESC goes back to the options. */
function pressWriting(view: ViewState, ask: Ask, attention: OpenDialog, { chord }: KeyInput): Pressed | undefined {
  if (chord === 'escape' || chord === 'ctrl+c') {
    const { writing, start } = attention.form;
    const text = expandFolds(view.editor.text, view.editor.folds);
    const begun = text === start || text.trim() === '' ? undefined : { what: writing, text };
    const form = { ...attention.form, writing: 'nothing' as const, begun, kept: undefined, problem: undefined };
    return only({ ...view, editor: ownDraft(view), attention: { ...attention, form } });
  }
  if (chord !== 'enter') return undefined;
  const words = expandFolds(view.editor.text, view.editor.folds).trim();
  return answered(writtenAnswer(view, ask, attention, words), chord);
}

function refuseAndStop(view: ViewState, ask: Ask): Pressed {
  if (ask.kind === 'permission') {
    const answer = { behavior: 'deny', interrupt: true } as const;
    return withEffects(view, { type: 'answer_permission', id: ask.id, answer }, { type: 'abort' });
  }
  return withEffects(view, { type: 'answer_question', id: ask.id, answer: undefined }, { type: 'abort' });
}

/** Ctrl+Y once more: all that wait, to be answered together; keys that were typed for the dialog are not heard. */
function toggledList(view: ViewState, attention: OpenDialog, { nowMs, viewer }: PressContext): ViewState {
  const isShown = attention.form.listed.length > 0 || view.asks.length < 2;
  // Only what is in sight is answered.
  const seen = view.asks.slice(0, Math.max(1, viewer.height - LIST_ROOM));
  const form = { ...attention.form, listed: isShown ? [] : seen.map(({ id }) => id) };
  return { ...view, attention: { ...attention, shownAtMs: nowMs, armedAtMs: undefined, selected: undefined, form } };
}
