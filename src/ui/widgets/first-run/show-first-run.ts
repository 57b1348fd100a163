import type {
  FirstRunAnswers,
  FirstRunExit,
  FirstRunQuestions,
  LocalModelServer,
} from '../../../contracts/frontend/first-run.ts';
import { getErrorMessage } from '../../../lib/errors.ts';
import type { InputEvent } from '../../input/input-event.ts';
import { createKeyboardReader, type TerminalInput } from '../../input/keyboard-reader.ts';
import { classifyBackground } from '../../terminal/await-background-color.ts';
import type { TerminalOutput } from '../../terminal/screen-frame-writer.ts';
import { KEY_REPEAT_MS } from '../permission-dialog/dialog-state.ts';
import type { FirstRunRendererOptions } from './FirstRun.tsx';
import { ANSWER_WORDS, addTypedAhead, handleFirstRunInput, isStrayKeys, offerModels, startsFirstDraft } from './first-run-keys.ts';
import {
  createFirstRunScreenState,
  type FirstRunScreenState,
  type FirstRunSize,
  getFirstRunAnswers,
  getOpenFirstRunStep,
  UNLIMITED_SCREEN_SIZE,
} from './first-run-state.ts';
import { markVisibleRowsSeen } from './layout-first-run.ts';
import { createFirstRunLineRenderer, type FirstRunRenderer } from './line-renderer.ts';

/** The dependencies of the first-run screen. */
export type FirstRunDeps = {
  readonly out: TerminalOutput;
  readonly in: TerminalInput;
  /** Rendering options; with `lines`, lines are only appended. */
  readonly rendering: FirstRunRendererOptions | 'lines';
  /** Finds model servers on the usual local ports. */
  readonly findLocalServers: () => Promise<readonly LocalModelServer[]>;
  /** Lists the models of a server, with names that `--model` accepts. */
  readonly listModels: (address: string) => Promise<readonly string[]>;
  /** Returns the name of the provider that issues keys like this. */
  readonly recognizeKey: (key: string) => string | undefined;
  readonly now: () => number;
};

/** Time to drain the keyboard buffer: input from before the screen was visible is no answer. */
const DRAIN_MS = 10;
/** Keys that follow each other faster are typed text and not answers. */
const TYPING_MS = 400;
const TYPED_NOTE = 'Typed text is kept for your first message.';

/** Shows the first-run questions until they are answered. */
export function showFirstRun(question: FirstRunQuestions, parts: FirstRunDeps) {
  const { promise: answer, resolve } = Promise.withResolvers<FirstRunAnswers | FirstRunExit>();
  const getSize = (): FirstRunSize =>
    parts.rendering === 'lines' ? UNLIMITED_SCREEN_SIZE : { columns: parts.out.columns, rows: parts.out.rows };
  let state = markVisibleRowsSeen(createFirstRunScreenState(question, getSize()));
  let renderer: FirstRunRenderer | undefined;
  let background: 'dark' | 'light' | undefined;
  let isOpen = true;
  let isShown = false;
  /** The length of the typed text that is known to be text. */
  let keptLength = 0;

  function draw(next: FirstRunScreenState): void {
    const { page } = next;
    state = { ...next, keyProvider: page.kind === 'key' ? parts.recognizeKey(page.text) : undefined };
    const answer = getFirstRunAnswers(state);
    if (answer !== undefined) resolve(answer);
    if (isOpen && isShown) renderer?.show(state);
  }

  function handleEvents(all: readonly InputEvent[]): void {
    const received = all.filter((event) => event.type !== 'background');
    for (const event of all) {
      if (event.type !== 'background') continue;
      background = classifyBackground(event);
      renderer?.setBackground?.(background);
      draw(state);
    }
    // A terminal that sends whole lines sends an enter after each key.
    const events =
      parts.rendering === 'lines' && state.page.kind === 'choices' ? received.filter(isNotEnter) : received;
    const isChoosing = state.page.kind === 'choices' && parts.rendering !== 'lines';
    // Several keys in one read were typed ahead; a single one is an answer.
    const isTypedAhead =
      !isShown || (isChoosing && typing.isOn()) || (state.page.kind === 'choices' && events.length > 1);
    if (!isTypedAhead) state = dropStrayKeys(state);
    for (const event of events) {
      const isExit = event.type === 'key' && event.chord === 'ctrl+c';
      if (event.type === 'key' && !isExit && isChoosing && tail.isPart(event.chord)) continue;
      if ((isTypedAhead || (isChoosing && startsFirstDraft(state, event))) && !isExit) {
        if (isChoosing && event.type === 'key') typing.restart();
        draw({ ...addTypedAhead(state, event), ...(typing.isOn() ? { note: TYPED_NOTE } : {}) });
        if (event.type === 'paste') keptLength = state.typed.length;
        continue;
      }
      const result = handleFirstRunInput(state, event);
      if (result.kind === 'state' && event.type === 'key' && isAnswered(state, result.state)) tail.restart(event.chord);
      if (result.kind === 'leave') {
        resolve({ exits: true, trust: state.trust ?? 'no' });
        return;
      }
      draw(result.state);
      if (result.kind === 'ask_server') void loadModels(result.address); // It reports its own failures.
    }
  }

  async function loadModels(address: string): Promise<void> {
    try {
      const models = await parts.listModels(address);
      draw(offerModels(state, models));
    } catch (thrown) {
      draw({ ...state, note: getErrorMessage(thrown) });
    }
  }

  /** Drops what was typed last if it is no text. */
  function dropStrayKeys(before: FirstRunScreenState): FirstRunScreenState {
    const isStray = isStrayKeys(before.typed.slice(keptLength));
    const after = isStray ? { ...before, typed: before.typed.slice(0, keptLength) } : before;
    keptLength = after.typed.length;
    return after;
  }

  // While letters count as typed text, a note says where they go.
  const typing = createTypingTimer(parts.now, () =>
    draw({ ...dropStrayKeys(state), note: state.note === TYPED_NOTE ? '' : state.note }),
  );
  const tail = createAnswerTail(parts.now);
  // The rows have changed, so nothing counts as seen any more.
  const onResize = () => draw(markVisibleRowsSeen({ ...state, size: getSize(), top: 0, seen: 0 }));
  const keyboard = createKeyboardReader(parts.in, handleEvents);
  keyboard.open();
  void openRenderer(parts, onResize).then((opened) => {
    if (!isOpen) return opened.close();
    renderer = opened;
    if (background !== undefined) opened.setBackground?.(background);
    setTimeout(() => {
      isShown = true;
      draw(markVisibleRowsSeen({ ...state, size: getSize() }));
    }, DRAIN_MS);
  });
  if (question.key === 'missing') {
    // The search runs in the background; its line is updated with the result.
    void parts.findLocalServers().then((servers) => draw({ ...state, servers }));
  }

  return {
    /** Resolves when all questions are answered, or when the user exits. */
    answer,
    close() {
      if (!isOpen) return;
      isOpen = false;
      typing.stop();
      keyboard.close();
      renderer?.close();
    },
  };
}

/** Creates a timer that is on while the user is typing: letters in quick succession are text, not answers. */
function createTypingTimer(now: () => number, onEnd: () => void) {
  let lastMs = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    isOn: () => now() - lastMs < TYPING_MS,
    restart() {
      lastMs = now();
      clearTimeout(timer);
      timer = setTimeout(onEnd, TYPING_MS);
    },
    stop: () => clearTimeout(timer),
  };
}

/** Reports whether a key has answered a question. */
function isAnswered(before: FirstRunScreenState, after: FirstRunScreenState): boolean {
  return getOpenFirstRunStep(before) !== getOpenFirstRunStep(after);
}

/** Creates the memory of the last answer: its key again is a repeat, and letters at once may complete its word. */
function createAnswerTail(now: () => number) {
  let word = '';
  let atMs = Number.NEGATIVE_INFINITY;
  return {
    restart(chord: string) {
      word = chord;
      atMs = now();
    },
    isPart(chord: string): boolean {
      const isRepeat = word === chord;
      const isLetter = ANSWER_WORDS.some((one) => one.startsWith(word + chord));
      if (now() - atMs >= KEY_REPEAT_MS || !(isRepeat || isLetter)) return false;
      atMs = now();
      if (!isRepeat) word += chord;
      return true;
    },
  };
}

/** Creates the output. The redrawing one is loaded on demand, as it loads Ink. */
async function openRenderer({ out, rendering }: FirstRunDeps, onResized: () => void): Promise<FirstRunRenderer> {
  if (rendering === 'lines') return createFirstRunLineRenderer(out);
  const { createFirstRunRenderer } = await import('./FirstRun.tsx');
  return createFirstRunRenderer(out, rendering, onResized);
}

function isNotEnter(event: InputEvent): boolean {
  return event.type !== 'key' || event.chord !== 'enter';
}
