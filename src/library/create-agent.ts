import { assembleAgent } from '../agent/agent.ts';
import type { AgentPort } from '../agent/parts.ts';
import type { Agent } from '../contracts/agent.ts';
import type { AgentEvent } from '../contracts/event.ts';
import { EFFORTS } from '../contracts/model.ts';
import type { QueryDeps } from '../contracts/query.ts';
import { queryDeps } from '../engine/defaults.ts';
import { deepFreeze } from '../lib/deep-freeze.ts';
import { createUsageMeter } from '../model/usage-meter.ts';
import { opinions } from './callbacks.ts';
import { modelChain } from './model-chain.ts';
import type { AgentChange, AgentOptions, AgentSnapshot } from './options.ts';
import { createSetup, type Setup } from './setup.ts';
import { processVariables } from './surroundings.ts';

/** A control panel around one conversation: words and answers go in, events come out. */
export type LibraryAgent = Omit<Agent, 'state' | 'setQueueMode'> & {
  /** Where it stands now, frozen. */
  state(): AgentSnapshot;
  /** Another model, system prompt, thinking or set of tools, from the next turn on. */
  change(change: AgentChange): void;
  /** How many waiting words are taken at once, of those that steer (`next`) and those that follow (`after`). */
  setQueueMode: Agent['setQueueMode'];
};

/** How long it goes on without a person when nothing else is said. */
const MAX_TURNS = 200;

/** Makes an agent. Without options it answers with the default model, by the key of the environment, without tools. */
export function createAgent(options: AgentOptions = {}): LibraryAgent {
  const { newId = () => crypto.randomUUID(), now = Date.now, sessionId = newId(), cwd = '/' } = options;
  const log = options.logger ?? (() => undefined);
  const audience = new Set(options.listeners);
  const setup = createSetup(options, (model) => modelChain(model, options, processVariables()));
  const meter = createUsageMeter((model) => setup.now().chain.infoOf(model));
  const agent = assembleAgent({
    sessionId,
    messages: structuredClone(options.messages ?? []),
    listeners: [meter.count, ...(options.listeners ?? []), watcher(options, log)],
    deps: (port) =>
      depsOf({ options, setup, port, cwd, isHeard: () => audience.size > 0, spent: meter.costUsd, newId, now }),
    describe: () => ({
      model: setup.now().chain.links[0]?.model ?? '',
      effort: setup.now().thinking,
      mode: 'default',
      cwd,
    }),
    onListenerError: (thrown) => log('error', `A listener threw: ${String(thrown)}`),
    newId,
    now,
  });
  agent.setQueueMode('next', options.queueModes?.steering ?? 'one-at-a-time');
  agent.setQueueMode('after', options.queueModes?.followUp ?? 'one-at-a-time');
  return {
    ...agent,
    state: () => snapshotOf(agent, setup.now()),
    change: setup.change,
    subscribe(listener) {
      const leave = agent.subscribe(listener);
      audience.add(listener);
      return () => {
        leave();
        audience.delete(listener);
      };
    },
    async prompt(said) {
      if (said === '' || (Array.isArray(said) && said.length === 0))
        throw new Error('There is nothing in this prompt. Say something, or call continue().');
      await setup.now().chain.ready();
      return agent.prompt(said);
    },
  };
}

type Needs = {
  readonly options: AgentOptions;
  readonly setup: Setup;
  readonly port: AgentPort;
  readonly cwd: string;
  /** Is anybody there to hear a question? */
  readonly isHeard: () => boolean;
  readonly spent: () => number;
  readonly newId: () => string;
  readonly now: () => number;
};

/** What one run of the loop goes by. */
function depsOf({ options, setup, port, cwd, isHeard, spent, newId, now }: Needs): QueryDeps {
  const { chain, thinking } = setup.now();
  const budget = options.thinkingBudgets?.[thinking];
  const deps = queryDeps({
    ...opinions(options, port, isHeard),
    model: chain.port,
    modelInfo: chain.infoOf,
    config: {
      chain: chain.links,
      effort: thinking,
      maxTurns: options.maxTurns ?? MAX_TURNS,
      ...(budget === undefined ? {} : { thinkingBudgetTokens: budget }),
      ...(options.maxBudgetUsd === undefined ? {} : { maxBudgetUsd: options.maxBudgetUsd }),
      ...(options.toolExecution === undefined ? {} : { toolExecution: options.toolExecution }),
      ...(options.parallelCalls === undefined ? {} : { parallelCalls: options.parallelCalls }),
      ...(options.maxRetryDelayMs === undefined ? {} : { maxRetryDelayMs: options.maxRetryDelayMs }),
    },
    cwd: () => cwd,
    queues: port.queues,
    onWait: port.onWait,
    costUsd: spent,
    newId,
    now,
  });
  const { context } = deps;
  // A change counts from the next turn: each turn begins with a look at the conversation.
  let turn = setup.now();
  const prepare: typeof context.prepare = async (messages) => {
    turn = setup.now();
    const prepared = await context.prepare(messages);
    const { transformContext } = options;
    if (transformContext === undefined) return prepared;
    return { ...prepared, view: await transformContext(prepared.view) };
  };
  return { ...deps, system: () => turn.systemPrompt, tools: () => turn.tools, context: { ...context, prepare } };
}

/** Notices and faults become lines of the log, the end of a turn the facts of a response. */
function watcher({ onResponse }: AgentOptions, log: NonNullable<AgentOptions['logger']>) {
  return (event: AgentEvent): void => {
    if (event.type === 'notice') log(event.level, event.text);
    if (event.type !== 'turn_end') return;
    const { model, durationMs, stopReason, failure } = event;
    onResponse?.({
      model,
      durationMs,
      ...(stopReason === undefined ? {} : { stopReason }),
      ...(failure === undefined ? {} : { failure }),
    });
  };
}

function snapshotOf(agent: Agent, { systemPrompt, tools, thinking }: ReturnType<Setup['now']>): AgentSnapshot {
  const { mode: _mode, effort: _effort, ...state } = agent.state();
  const listed = tools.map(({ name, label, spec }) => ({ name, label, description: spec.description }));
  return deepFreeze({ ...state, sessionId: agent.sessionId, systemPrompt, thinking, tools: listed });
}

/** The levels of thinking, from none to the most. */
export const THINKING_LEVELS = EFFORTS;
