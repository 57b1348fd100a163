import { exhaustive } from '../../../lib/errors.ts';
import type { InputEvent } from '../../input/input-event.ts';
import { sanitizeDraftText } from '../composer/classify-draft.ts';
import {
  type FirstRunPage,
  type FirstRunScreenState,
  type FirstRunStep,
  getOpenFirstRunStep,
  listLocalModels,
} from './first-run-state.ts';
import { formatFirstRun } from './first-run-text.ts';
import { isQuestionFullyShown, layoutFirstRun, markVisibleRowsSeen, scrollFirstRunByPage } from './layout-first-run.ts';

/** The result of an input event: a new state, an exit, or a server whose models are to be loaded. */
export type FirstRunInputResult =
  | { readonly kind: 'state'; readonly state: FirstRunScreenState }
  | { readonly kind: 'leave' }
  | { readonly kind: 'ask_server'; readonly state: FirstRunScreenState; readonly address: string };

type KeyInput = Extract<InputEvent, { type: 'key' }>;
type InputPage = Extract<FirstRunPage, { kind: 'key' | 'address' }>;

/** Handles a key or a paste on the first-run screen. */
export function handleFirstRunInput(state: FirstRunScreenState, input: InputEvent): FirstRunInputResult {
  const { page } = state;
  if (input.type === 'paste') {
    return page.kind === 'key' || page.kind === 'address'
      ? setInput(state, page, page.text + input.text)
      : toResult(addTypedAhead(state, input));
  }
  if (input.type !== 'key') return toResult(state);
  if (input.chord === 'ctrl+c' || input.chord === 'ctrl+d') return { kind: 'leave' };
  switch (page.kind) {
    case 'choices':
      return handleChoice(state, input);
    case 'models':
      return chooseModel(state, page.models, input);
    default:
      return handleInput(state, page, input);
  }
}

/** Reports whether the input is a letter that answers nothing here, so that it starts a word. */
export function startsFirstDraft(state: FirstRunScreenState, input: InputEvent): boolean {
  if (input.type !== 'key' || !/^[^\s\d]$/u.test(input.text)) return false;
  if (input.chord === 'v' && getOpenFirstRunStep(state) === 'trust') return false;
  return formatFirstRun(state).options.every(({ key }) => key !== input.chord);
}

/** Adds input that was typed before the screen could be read; it becomes the first draft. */
export function addTypedAhead(state: FirstRunScreenState, input: InputEvent): FirstRunScreenState {
  const text = input.type === 'key' || input.type === 'paste' ? sanitizeDraftText(input.text) : '';
  if (input.type === 'key' && input.chord === 'backspace') return { ...state, typed: state.typed.slice(0, -1) };
  return { ...state, typed: state.typed + text };
}

/** Letters and digits that answer a question of the start. */
const ANSWERS = /^[ynpvdkolu1-9]{1,3}$/;

/**
 * Reports whether keys do not begin a message: a letter, one that was held, or a few that answer questions. In a
 * draft, they would take the keys of the next question.
 */
export function areStrayKeys(text: string): boolean {
  const letters = text.replaceAll(/\s/g, '').toLowerCase();
  return letters === '' || /^([a-z\d])\1*$/.test(letters) || ANSWERS.test(letters) || letters === 'yes';
}

function handleChoice(state: FirstRunScreenState, { chord }: KeyInput): FirstRunInputResult {
  const { options } = formatFirstRun(state);
  const step = getOpenFirstRunStep(state);
  switch (chord) {
    case 'escape':
      return { kind: 'leave' };
    case 'v': {
      const details = state.details === 'shown' ? 'hidden' : 'shown';
      return toResult(step === 'trust' ? { ...state, details, top: 0, seen: 0, note: '' } : state);
    }
    case 'down':
    case 'up':
      return toResult(moveCursor(state, options.length, chord === 'down' ? 1 : -1));
    case ' ':
    case 'pagedown':
    case 'pageup':
      return toResult(scrollFirstRunByPage(state, chord === 'pageup' ? -1 : 1));
    case 'enter':
      return state.selected === undefined
        ? toResult({ ...state, note: 'Nothing is selected. Press a letter or a digit, or use the arrow keys first.' })
        : answerStep(state, step, options[state.selected]?.key);
    default: {
      const digit = /^[1-9]$/.test(chord) ? options[Number(chord) - 1]?.key : undefined;
      return answerStep(state, step, digit ?? options.find(({ key }) => key === chord)?.key);
    }
  }
}

function moveCursor(state: FirstRunScreenState, count: number, by: 1 | -1): FirstRunScreenState {
  const from = state.selected ?? (by === 1 ? -1 : count);
  return { ...state, selected: count === 0 ? undefined : (from + by + count) % count, note: '' };
}

/** Answers the open question by the key of an option. */
function answerStep(
  state: FirstRunScreenState,
  step: FirstRunStep | undefined,
  key: string | undefined,
): FirstRunInputResult {
  if (key === undefined || step === undefined) return toResult(state);
  if (step === 'model') return chooseSource({ ...state, selected: undefined }, key);
  if (key !== 'n' && !isQuestionFullyShown(state)) return toResult({ ...state, note: explainUnseen(state) });
  const next = { ...state, selected: undefined, top: 0, seen: 0, note: '' };
  switch (step) {
    case 'trust':
      return toResult({ ...next, trust: key === 'n' ? 'no' : key === 'p' ? 'below' : 'folder' });
    case 'bypass':
      return toResult({ ...next, bypass: key === 'n' ? 'no' : 'yes' });
    case 'takeOver':
      return toResult({ ...next, takeOver: key === 'n' ? 'no' : 'yes' });
    default:
      return exhaustive(step);
  }
}

function explainUnseen(state: FirstRunScreenState): string {
  const { top, end } = layoutFirstRun(state).window;
  return top === end ? 'Enlarge the window to read all of this first.' : 'Read to the end first: space scrolls.';
}

function chooseSource(state: FirstRunScreenState, chord: string): FirstRunInputResult {
  switch (chord) {
    case 'd':
      return toResult({ ...state, model: { kind: 'demo' } });
    case 'k':
      return toResult({ ...state, page: { kind: 'key', text: '' }, note: '' });
    case 'o': {
      const { providers } = state.question;
      return toResult(
        providers.length === 0
          ? state
          : offerModels(
              state,
              providers.map(({ model }) => model),
            ),
      );
    }
    case 'u':
      return toResult({ ...state, page: { kind: 'address', text: 'http://127.0.0.1:' }, note: '' });
    case 'l': {
      const models = listLocalModels(state);
      return toResult(models.length === 0 ? { ...state, note: describeNoServer(state) } : offerModels(state, models));
    }
    default:
      return toResult(state);
  }
}

/** Offers models to choose from. A single model is chosen at once. */
export function offerModels(state: FirstRunScreenState, models: readonly string[]): FirstRunScreenState {
  const [first] = models;
  if (first === undefined) return { ...state, note: 'The server offers no models.' };
  if (models.length === 1) {
    return { ...state, model: { kind: 'named', model: first }, page: { kind: 'choices' }, note: '' };
  }
  return { ...state, page: { kind: 'models', models }, note: '' };
}

function describeNoServer({ servers }: FirstRunScreenState): string {
  return servers === 'looking'
    ? 'Still searching for local servers.'
    : 'No local server found. Start one (for example: ollama serve), or press u to enter its address.';
}

function chooseModel(state: FirstRunScreenState, models: readonly string[], { chord }: KeyInput): FirstRunInputResult {
  const choices = { ...state, page: { kind: 'choices' }, selected: undefined } as const;
  if (chord === 'escape') return toResult(choices);
  if (chord === 'down' || chord === 'up')
    return toResult(moveCursor(state, formatFirstRun(state).options.length, chord === 'down' ? 1 : -1));
  const at = chord === 'enter' ? state.selected : /^[1-9]$/.test(chord) ? Number(chord) - 1 : undefined;
  const model = at === undefined ? undefined : models[at];
  return toResult(model === undefined ? state : { ...choices, model: { kind: 'named', model } });
}

function handleInput(state: FirstRunScreenState, page: InputPage, { chord, text }: KeyInput): FirstRunInputResult {
  switch (chord) {
    case 'escape':
      return toResult({ ...state, page: { kind: 'choices' }, note: '' });
    case 'backspace':
      return setInput(state, page, page.text.slice(0, -1));
    case 'ctrl+u':
      return setInput(state, page, '');
    case 'enter':
      return page.kind === 'key' ? toResult(submitKey(state, page.text)) : submitAddress(state, page.text);
    default:
      return text === '' ? toResult(state) : setInput(state, page, page.text + text);
  }
}

function submitKey(state: FirstRunScreenState, text: string): FirstRunScreenState {
  const key = text.trim();
  if (key === '') return { ...state, note: 'Paste a key first.' };
  if (/\s/.test(key)) return { ...state, note: 'A key contains no spaces. Paste only the key.' };
  return { ...state, page: { kind: 'choices' }, model: { kind: 'key', key }, note: '' };
}

function submitAddress(state: FirstRunScreenState, text: string): FirstRunInputResult {
  const address = text.trim();
  if (!/^https?:\/\/./.test(address) || !URL.canParse(address)) {
    return toResult({ ...state, note: 'Invalid address. Use a form like http://127.0.0.1:8080/v1.' });
  }
  if (/#./.test(address)) {
    return toResult({ ...state, page: { kind: 'choices' }, model: { kind: 'named', model: address } });
  }
  return { kind: 'ask_server', state: { ...state, note: 'Loading the models.' }, address };
}

function setInput(state: FirstRunScreenState, page: InputPage, text: string): FirstRunInputResult {
  return toResult({ ...state, page: { ...page, text: sanitizeDraftText(text).replaceAll('\n', ' ') } });
}

function toResult(state: FirstRunScreenState): FirstRunInputResult {
  return { kind: 'state', state: markVisibleRowsSeen(state) };
}
