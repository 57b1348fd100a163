import type { Agent } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import { isTypedByUser } from '../../contracts/message.ts';
import type { ShellRegistry } from '../../tools/bash/shell-registry.ts';
import type { Core } from '../core.ts';

/** Maximum number of automatic turns in a row without a prompt of the user. */
const MAX_AUTOMATIC_TURNS = 20;

const CONTINUE_PROMPT =
  'Background work has produced results, which come with this message; nobody typed it. Continue with what depends on them. If nothing does, say so in one sentence.';

type AutoContinueDeps = { readonly agent: Agent; readonly shells: Pick<ShellRegistry, 'hasReminders'> };

/** The automatic turns, which start when background work ends. */
export type AutoContinue = ReturnType<typeof createAutoContinue>;

/**
 * Creates the automatic turns of a conversation. They run no prompt hook and create no checkpoint: the changes belong
 * to the prompt that started the work. A queued message instead would look like the user's.
 */
export function createAutoContinue(core: Core, { agent, shells }: AutoContinueDeps) {
  let state = INITIAL_STATE;
  let pending: Promise<void> = Promise.resolve();
  // Print mode waits for what it needs itself, and then exits.
  const isEnabled = core.options.frontend !== 'print';

  async function continueIfDue(): Promise<void> {
    await agent.waitForIdle();
    if (!state.isDue || agent.state().status !== 'idle') return;
    if (core.inbox.isEmpty() && !shells.hasReminders()) {
      state = { ...state, isDue: false };
      return;
    }
    if (!state.isAtRest || core.settings.current().wakeOnBackground === false) return;
    state = { ...state, isDue: false };
    const blocker = findBlocker(core, state);
    if (blocker === undefined) await agent.startBackgroundTurn(CONTINUE_PROMPT);
    else await core.bus.emit({ type: 'notice', level: 'warn', topic: 'background', text: blocker });
  }

  agent.subscribe((event) => {
    state = reduceAutoContinue(state, event);
    if (event.type === 'background' && event.state !== 'started' && event.words !== undefined)
      void core.bus.emit({ type: 'notice', level: 'info', topic: 'background', text: event.words });
    if (!isEnabled || !state.isDue || agent.state().status !== 'idle') return;
    // Deferred: a listener cannot wait until the agent is idle, because the agent waits for the listener.
    const delivered = new Promise((resolve) => setImmediate(resolve));
    pending = Promise.all([pending, delivered]).then(continueIfDue);
  });

  return {
    /** Resolves when no automatic turn is pending or running. */
    waitUntilSettled: () => pending,
    /** Prevents further automatic turns. */
    close() {
      state = { ...state, isDue: false, isAtRest: false };
    },
  };
}

/** The state that decides whether an automatic turn starts. */
type AutoContinueState = {
  /** Background work has ended since the last check. */
  readonly isDue: boolean;
  /** Automatic turns since the last prompt of the user. */
  readonly inARow: number;
  /** The last run completed. After an abort or a failure the user decides how to continue. */
  readonly isAtRest: boolean;
};

const INITIAL_STATE: AutoContinueState = { isDue: false, inARow: 0, isAtRest: true };

/** @internal Exported for tests. */
export function reduceAutoContinue(state: AutoContinueState, event: AgentEvent): AutoContinueState {
  switch (event.type) {
    case 'background':
      // Work that was stopped on purpose needs no automatic turn.
      return event.state === 'started' || event.state === 'stopped' ? state : { ...state, isDue: true };
    case 'message_end':
      if (event.message.role !== 'user') return state;
      if (event.message.origin === 'background') return { ...state, inARow: state.inARow + 1 };
      return isTypedByUser(event.message) ? { ...state, inARow: 0 } : state;
    case 'agent_end':
      return { ...state, isAtRest: event.terminal.reason === 'completed' };
    default:
      return state;
  }
}

/** Returns why an automatic turn cannot start, for the user. */
function findBlocker({ options, meter }: Core, { inARow }: AutoContinueState): string | undefined {
  const { maxBudgetUsd } = options;
  if (maxBudgetUsd !== undefined && meter.getCostUsd() >= maxBudgetUsd)
    return `The budget of $${maxBudgetUsd} is used up, so ouro does not continue after background work has ended.`;
  if (inARow < MAX_AUTOMATIC_TURNS) return undefined;
  return `ouro has continued ${MAX_AUTOMATIC_TURNS} times in a row. Send a message to continue after background work.`;
}
