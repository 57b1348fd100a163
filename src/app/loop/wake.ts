import type { Agent } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import { isTypedByPerson } from '../../contracts/message.ts';
import type { Core } from '../core.ts';
import type { Loop } from './loop.ts';

/** Turns that may begin by themselves before somebody has to say something. */
const MOST_IN_A_ROW = 20;

const WAKING_WORDS =
  'Work in the background has news; it comes with this message, which nobody typed. Go on with what depends on it. If nothing does, say so in a sentence.';

type Needs = { readonly agent: Agent; readonly loop: Pick<Loop, 'hasNews'> };

/** When work in the background ends, the next turn begins by itself. */
export type Wake = {
  /** Resolves when no turn is about to begin by itself, and none that did is still on. */
  readonly settled: () => Promise<void>;
  readonly close: () => void;
};

export function createWake(core: Core, { agent, loop }: Needs): Wake {
  let waking = ASLEEP;
  let looking: Promise<void> = Promise.resolve();
  // Printing waits for what it needs, and leaves.
  const isHeard = core.options.face !== 'print';

  async function look(): Promise<void> {
    await agent.waitForIdle();
    if (!waking.isDue || agent.state().status !== 'idle') return;
    if (!loop.hasNews()) {
      waking = { ...waking, isDue: false };
      return;
    }
    if (!waking.isAtRest || core.settings.now().wakeOnBackground === false) return;
    waking = { ...waking, isDue: false };
    const why = obstacle(core, waking);
    if (why === undefined) await agent.wake(WAKING_WORDS);
    else await core.bus.tell({ type: 'notice', level: 'warn', topic: 'background', text: why });
  }

  agent.subscribe((event) => {
    waking = reduceWaking(waking, event);
    if (event.type === 'background' && event.state !== 'started' && event.words !== undefined)
      void core.bus.tell({ type: 'notice', level: 'info', topic: 'background', text: event.words });
    if (!isHeard || !waking.isDue || agent.state().status !== 'idle') return;
    // A listener cannot wait until the agent is idle: the agent waits for it.
    const told = new Promise((resolve) => setImmediate(resolve));
    looking = Promise.all([looking, told]).then(look);
  });

  return {
    settled: () => looking,
    close() {
      waking = { ...waking, isDue: false, isAtRest: false };
    },
  };
}

/** Nobody has typed, but there may be something to go on with. */
type Waking = {
  /** Something ended since the last look. */
  readonly isDue: boolean;
  /** Turns that began by themselves since somebody said something. */
  readonly inARow: number;
  /** The last run came to its end. After a stop or a failure the person decides. */
  readonly isAtRest: boolean;
};

const ASLEEP: Waking = { isDue: false, inARow: 0, isAtRest: true };

/** @internal Exported for tests. */
export function reduceWaking(waking: Waking, event: AgentEvent): Waking {
  switch (event.type) {
    case 'background':
      // Who stops something knows that it ended.
      return event.state === 'started' || event.state === 'stopped' ? waking : { ...waking, isDue: true };
    case 'message_end':
      if (event.message.role !== 'user') return waking;
      if (event.message.origin === 'background') return { ...waking, inARow: waking.inARow + 1 };
      return isTypedByPerson(event.message) ? { ...waking, inARow: 0 } : waking;
    case 'agent_end':
      return { ...waking, isAtRest: event.terminal.reason === 'completed' };
    default:
      return waking;
  }
}

function obstacle({ options, meter }: Core, { inARow }: Waking): string | undefined {
  const { maxBudgetUsd } = options;
  if (maxBudgetUsd !== undefined && meter.costUsd() >= maxBudgetUsd)
    return `The budget of $${maxBudgetUsd} is used up, so nothing goes on by itself with what ended in the background.`;
  if (inARow < MOST_IN_A_ROW) return undefined;
  return `${MOST_IN_A_ROW} turns in a row began by themselves. Say something to go on with what ended in the background.`;
}
