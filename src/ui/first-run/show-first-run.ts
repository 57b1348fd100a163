import type { FirstRunAnswer, FirstRunQuestion, LocalModels } from '../../contracts/face/first-run.ts';
import { messageOf } from '../../lib/errors.ts';
import type { InputEvent } from '../keys/input-event.ts';
import type { TerminalIn } from '../keys/terminal-in.ts';
import { createKeyboard } from '../terminal/keyboard.ts';
import type { TerminalOut } from '../terminal/stage.ts';
import { addedStage, type FirstRunStage } from './first-run-stage.ts';
import { ENDLESS, type FirstRunState, firstRunState, settledAnswer } from './first-run-state.ts';
import { withSeen } from './plan-first-run.ts';
import { beginsWord, offered, pressFirstRun, typedAhead } from './press-first-run.ts';
import type { StageLook } from './redrawn-stage.ts';

/** What the first screen needs of the world. */
export type FirstRunParts = {
  readonly out: TerminalOut;
  readonly in: TerminalIn;
  /** `lines`: nothing is ever redrawn. */
  readonly look: StageLook | 'lines';
  /** Asks the usual loopback ports. */
  readonly findLocal: () => Promise<readonly LocalModels[]>;
  /** The models of one server, named as `--model` takes them. */
  readonly modelsOf: (address: string) => Promise<readonly string[]>;
  readonly now: () => number;
};

/** The first screen while it is open. */
export type FirstRunScreen = {
  readonly answered: Promise<FirstRunAnswer | 'leave'>;
  close(): void;
};

/** Long enough to empty the keyboard's buffer: what was in it before anything could be read was not meant for us. */
const DRAIN_MS = 10;
/** Whoever writes words presses the next key sooner. */
const TYPING_MS = 400;
const TYPED = 'What you type is kept for your first message.';

/** Asks what has to be settled before the first question, on a few lines that go away again. */
export function showFirstRun(question: FirstRunQuestion, parts: FirstRunParts): FirstRunScreen {
  const { promise: answered, resolve } = Promise.withResolvers<FirstRunAnswer | 'leave'>();
  const size = () => (parts.look === 'lines' ? ENDLESS : { columns: parts.out.columns, rows: parts.out.rows });
  let state = withSeen(firstRunState(question, size()));
  let stage: FirstRunStage | undefined;
  let isOpen = true;
  let isShown = false;

  function draw(next: FirstRunState): void {
    state = next;
    const answer = settledAnswer(state);
    if (answer !== undefined) resolve(answer);
    if (isOpen && isShown) stage?.show(state);
  }

  function hear(given: readonly InputEvent[]): void {
    // A terminal that sends whole lines sends the key with its enter.
    const events = parts.look === 'lines' && state.page.kind === 'choices' ? given.filter(isNoEnter) : given;
    const isChoosing = state.page.kind === 'choices' && parts.look !== 'lines';
    // Several keys in one go were typed ahead; one alone is an answer.
    const isAhead = !isShown || (isChoosing && typing.isOn()) || (state.page.kind === 'choices' && events.length > 1);
    for (const event of events) {
      const isLeaving = event.type === 'key' && event.chord === 'ctrl+c';
      if ((isAhead || (isChoosing && beginsWord(event))) && !isLeaving) {
        if (isChoosing && event.type === 'key') typing.goesOn();
        draw({ ...typedAhead(state, event), ...(typing.isOn() ? { note: TYPED } : {}) });
        continue;
      }
      const pressed = pressFirstRun(state, event);
      if (pressed.kind === 'leave') {
        resolve('leave');
        return;
      }
      draw(pressed.state);
      if (pressed.kind === 'ask_server') void askServer(pressed.address); // It tells its own failures.
    }
  }

  async function askServer(address: string): Promise<void> {
    try {
      const models = await parts.modelsOf(address);
      draw(offered(state, models));
    } catch (thrown) {
      draw({ ...state, note: messageOf(thrown) });
    }
  }

  // Until a letter is an answer again, it is said where they go.
  const typing = watchTyping(parts.now, () => draw({ ...state, note: state.note === TYPED ? '' : state.note }));
  // What was seen before stood in other rows.
  const onResize = () => draw(withSeen({ ...state, size: size(), top: 0, seen: 0 }));
  const keyboard = createKeyboard(parts.in, hear);
  keyboard.open();
  void openStage(parts, onResize).then((opened) => {
    if (!isOpen) return opened.close();
    stage = opened;
    setTimeout(() => {
      isShown = true;
      draw(withSeen({ ...state, size: size() }));
    }, DRAIN_MS);
  });
  if (question.key === 'missing') {
    // Nobody waits: the line changes when somebody answers.
    void parts.findLocal().then((servers) => draw({ ...state, servers }));
  }

  return {
    answered,
    close() {
      if (!isOpen) return;
      isOpen = false;
      typing.stop();
      keyboard.close();
      stage?.close();
    },
  };
}

/** Whether somebody types on: letters right behind one another are words, not answers. */
function watchTyping(now: () => number, onEnd: () => void) {
  let lastMs = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    isOn: () => now() - lastMs < TYPING_MS,
    goesOn() {
      lastMs = now();
      clearTimeout(timer);
      timer = setTimeout(onEnd, TYPING_MS);
    },
    stop: () => clearTimeout(timer),
  };
}

/** What redraws is loaded where something is redrawn. */
async function openStage({ out, look }: FirstRunParts, onResized: () => void): Promise<FirstRunStage> {
  if (look === 'lines') return addedStage(out);
  const { redrawnStage } = await import('./redrawn-stage.ts');
  return redrawnStage(out, look, onResized);
}

function isNoEnter(event: InputEvent): boolean {
  return event.type !== 'key' || event.chord !== 'enter';
}
