import { draftSafe } from '../composer/clean-text.ts';
import type { InputEvent } from '../keys/input-event.ts';
import type { FirstRunTopic } from './first-run-lines.ts';
import { type FirstRunPage, type FirstRunState, localModels } from './first-run-state.ts';
import { scrolled, sightOf, withSeen } from './plan-first-run.ts';

/** What a key leads to: a changed screen, the way out, or a server to be asked for its models. */
export type FirstRunPressed =
  | { readonly kind: 'state'; readonly state: FirstRunState }
  | { readonly kind: 'leave' }
  | { readonly kind: 'ask_server'; readonly state: FirstRunState; readonly address: string };

type KeyInput = Extract<InputEvent, { type: 'key' }>;
type Writing = Extract<FirstRunPage, { kind: 'key' | 'address' }>;

/** The first screen after something came in at the keyboard. */
export function pressFirstRun(state: FirstRunState, input: InputEvent): FirstRunPressed {
  const { page } = state;
  if (input.type === 'paste') {
    return page.kind === 'key' || page.kind === 'address'
      ? written(state, page, page.text + input.text)
      : now(typedAhead(state, input));
  }
  if (input.type !== 'key') return now(state);
  if (input.chord === 'ctrl+c' || input.chord === 'ctrl+d') return { kind: 'leave' };
  switch (page.kind) {
    case 'choices':
      return choose(state, input);
    case 'models':
      return chooseModel(state, page.models, input);
    default:
      return write(state, page, input);
  }
}

/** Letters that answer something on this screen; any other begins a word. */
const ANSWERS = /^[nvyprcxbadkoul]$/;

/** Is it a letter that nothing here is answered by? */
export function beginsWord(input: InputEvent): boolean {
  return input.type === 'key' && /^[^\s\d]$/u.test(input.text) && !ANSWERS.test(input.chord);
}

/** Written before the screen could be read: it belongs to the first message. */
export function typedAhead(state: FirstRunState, input: InputEvent): FirstRunState {
  const text = input.type === 'key' || input.type === 'paste' ? draftSafe(input.text) : '';
  if (input.type === 'key' && input.chord === 'backspace') return { ...state, typed: state.typed.slice(0, -1) };
  return { ...state, typed: state.typed + text };
}

function choose(state: FirstRunState, { chord }: KeyInput): FirstRunPressed {
  const { question } = state;
  const trusts = state.trust === undefined;
  switch (chord) {
    case 'n':
      return { kind: 'leave' };
    case 'v': {
      const details = state.details === 'shown' ? 'hidden' : 'shown';
      return now(trusts ? { ...state, details, top: 0, seen: 0 } : state);
    }
    case 'y':
      return agreed(state, 'trust', { trust: 'folder' });
    case 'p':
      return question.parent === undefined ? now(state) : agreed(state, 'trust', { trust: 'below' });
    case 'down':
    case 'up':
      return now(trusts ? scrolled(state, 'row', chord === 'down' ? 1 : -1) : state);
    case ' ':
    case 'pagedown':
    case 'pageup':
      return now(trusts ? scrolled(state, 'page', chord === 'pageup' ? -1 : 1) : state);
    case 'r':
      return answered(state, 'trust', { trust: 'no' });
    case 'c':
      return agreed(state, 'takeOver', { takeOver: 'yes' });
    case 'x':
      return answered(state, 'takeOver', { takeOver: 'no' });
    case 'b':
      return agreed(state, 'bypass', { bypass: 'yes' });
    case 'a':
      return answered(state, 'bypass', { bypass: 'no' });
    default:
      return state.model !== undefined || sightOf(state, 'model') === 'none' ? now(state) : chooseSource(state, chord);
  }
}

type Answer = Partial<Pick<FirstRunState, 'trust' | 'bypass' | 'takeOver'>>;

/** An answer counts when it is asked for on the screen. */
function answered(state: FirstRunState, topic: FirstRunTopic, answer: Answer): FirstRunPressed {
  return now(sightOf(state, topic) === 'none' ? state : { ...state, ...answer, note: '' });
}

/** A yes counts when everything it is about was in sight. */
function agreed(state: FirstRunState, topic: FirstRunTopic, answer: Answer): FirstRunPressed {
  if (sightOf(state, topic) !== 'cut') return answered(state, topic, answer);
  return now({
    ...state,
    note:
      topic === 'trust'
        ? 'There is more to see before that counts: down or space goes on.'
        : 'That counts when all of it is in sight: make the window higher.',
  });
}

function chooseSource(state: FirstRunState, chord: string): FirstRunPressed {
  switch (chord) {
    case 'd':
      return now({ ...state, model: { kind: 'demo' } });
    case 'k':
      return now({ ...state, page: { kind: 'key', text: '' }, note: '' });
    case 'o': {
      const { places } = state.question;
      return now(
        places.length === 0
          ? state
          : offered(
              state,
              places.map(({ model }) => model),
            ),
      );
    }
    case 'u':
      return now({ ...state, page: { kind: 'address', text: 'http://127.0.0.1:' }, note: '' });
    case 'l': {
      const models = localModels(state);
      return now(models.length === 0 ? { ...state, note: noServer(state) } : offered(state, models));
    }
    default:
      return now(state);
  }
}

/** Models to choose from; a single one needs no choosing. */
export function offered(state: FirstRunState, models: readonly string[]): FirstRunState {
  const [first] = models;
  if (first === undefined) return { ...state, note: 'That server answers, but offers no model.' };
  if (models.length === 1) {
    return { ...state, model: { kind: 'named', model: first }, page: { kind: 'choices' }, note: '' };
  }
  return { ...state, page: { kind: 'models', models }, note: '' };
}

function noServer({ servers }: FirstRunState): string {
  return servers === 'looking'
    ? 'Still looking for local servers.'
    : 'No local server answers. Start one (for example: ollama serve), or press u and write its address.';
}

function chooseModel(state: FirstRunState, models: readonly string[], { chord }: KeyInput): FirstRunPressed {
  if (chord === 'escape') return now({ ...state, page: { kind: 'choices' } });
  const model = /^[1-9]$/.test(chord) ? models[Number(chord) - 1] : undefined;
  return now(model === undefined ? state : { ...state, page: { kind: 'choices' }, model: { kind: 'named', model } });
}

function write(state: FirstRunState, page: Writing, { chord, text }: KeyInput): FirstRunPressed {
  switch (chord) {
    case 'escape':
      return now({ ...state, page: { kind: 'choices' }, note: '' });
    case 'backspace':
      return written(state, page, page.text.slice(0, -1));
    case 'ctrl+u':
      return written(state, page, '');
    case 'enter':
      return page.kind === 'key' ? now(keyGiven(state, page.text)) : addressGiven(state, page.text);
    default:
      return text === '' ? now(state) : written(state, page, page.text + text);
  }
}

function keyGiven(state: FirstRunState, text: string): FirstRunState {
  const key = text.trim();
  if (key === '') return { ...state, note: 'Nothing was pasted yet.' };
  if (/\s/.test(key)) return { ...state, note: 'A key has no spaces in it. Paste it alone.' };
  return { ...state, page: { kind: 'choices' }, model: { kind: 'key', key }, note: '' };
}

function addressGiven(state: FirstRunState, text: string): FirstRunPressed {
  const address = text.trim();
  if (!/^https?:\/\/./.test(address) || !URL.canParse(address)) {
    return now({ ...state, note: 'An address looks like http://127.0.0.1:8080/v1' });
  }
  if (/#./.test(address)) {
    return now({ ...state, page: { kind: 'choices' }, model: { kind: 'named', model: address } });
  }
  return { kind: 'ask_server', state: { ...state, note: 'Asking it for its models.' }, address };
}

function written(state: FirstRunState, page: Writing, text: string): FirstRunPressed {
  return now({ ...state, page: { ...page, text: draftSafe(text).replaceAll('\n', ' ') } });
}

function now(state: FirstRunState): FirstRunPressed {
  return { kind: 'state', state: withSeen(state) };
}
