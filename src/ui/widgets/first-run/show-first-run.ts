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
import type { FirstRunRendererOptions } from './FirstRun.tsx';
import { addTypedAhead, areStrayKeys, handleFirstRunInput, offerModels, startsFirstDraft } from './first-run-keys.ts';
import {
  createFirstRunScreenState,
  type FirstRunScreenState,
  type FirstRunSize,
  getFirstRunAnswers,
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

/** Time to drain the keyboard buffer: input from before the screen was visible is not an answer. */
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
  const words = createTypedWords();

  function draw(next: FirstRunScreenState): void {
    const { page } = next;
    state = { ...next, keyProvider: page.kind === 'key' ? parts.recognizeKey(page.text) : undefined };
    const answer = getFirstRunAnswers(state);
    if (answer !== undefined) resolve({ ...answer, typed: words.isMessage(answer.typed) ? answer.typed : '' });
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
    for (const event of events) {
      const isExit = event.type === 'key' && event.chord === 'ctrl+c';
      if ((isTypedAhead || (isChoosing && startsFirstDraft(state, event))) && !isExit) {
        if (isChoosing && !typing.isOn()) words.pause(state.typed);
        if (isChoosing && event.type === 'key') typing.restart();
        if (event.type === 'paste') words.recordPaste();
        draw({ ...addTypedAhead(state, event), ...(typing.isOn() ? { note: TYPED_NOTE } : {}) });
        continue;
      }
      const result = handleFirstRunInput(state, event);
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

  // While letters count as typed text, a note says where they go.
  const typing = createTypingTimer(parts.now, () =>
    draw({ ...state, note: state.note === TYPED_NOTE ? '' : state.note }),
  );
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

/** Creates a judge that tells a message from keys which were meant for a question that ignores them. */
function createTypedWords() {
  /** The start of the keys since the last pause, and whether those before are text. */
  let last = { start: 0, isAfterText: false };
  const isMessage = (typed: string) => last.isAfterText || !areStrayKeys(typed.slice(last.start));
  return {
    isMessage,
    pause(typed: string): void {
      last = { start: typed.length, isAfterText: isMessage(typed) };
    },
    recordPaste(): void {
      last = { ...last, isAfterText: true };
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

/** Creates the output. The redrawing one is loaded on demand, as it loads Ink. */
async function openRenderer({ out, rendering }: FirstRunDeps, onResized: () => void): Promise<FirstRunRenderer> {
  if (rendering === 'lines') return createFirstRunLineRenderer(out);
  const { createFirstRunRenderer } = await import('./FirstRun.tsx');
  return createFirstRunRenderer(out, rendering, onResized);
}

function isNotEnter(event: InputEvent): boolean {
  return event.type !== 'key' || event.chord !== 'enter';
}
