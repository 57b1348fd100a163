import { assembleAgent } from '../../agent/agent.ts';
import type { AgentPort } from '../../agent/parts.ts';
import type { Agent } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Usage } from '../../contracts/message.ts';
import { EFFORTS } from '../../contracts/model.ts';
import type { CompactionResult, ContextPort } from '../../contracts/query.ts';
import { wholeConversation } from '../../engine/defaults.ts';
import { untilAborted } from '../../lib/abort.ts';
import { deepFreeze } from '../../lib/deep-freeze.ts';
import { createUsageMeter } from '../../model/usage-meter.ts';
import { processVariables } from '../surroundings.ts';
import { defaultContext } from './default-context.ts';
import { modelChain } from './model-chain.ts';
import type { AgentChange, AgentOptions, AgentSnapshot } from './options.ts';
import { depsOfRun } from './run-deps.ts';
import { createSetup, type Setup } from './setup.ts';

/** A control panel around one conversation: words and answers go in, events come out. */
export type LibraryAgent = Omit<Agent, 'state' | 'setQueueMode'> & {
  /** Where it stands now, frozen. */
  state(): AgentSnapshot;
  /** Another model, system prompt, thinking or set of tools, from the next turn on. */
  change(change: AgentChange): void;
  /** Makes room now, between two runs: a summary takes the place of what is old. */
  compact(): Promise<CompactionResult>;
  /** How many waiting words are taken at once, of those that steer (`next`) and those that follow (`after`). */
  setQueueMode: Agent['setQueueMode'];
};

/** Makes an agent. Without options it answers with the default model, by the key of the environment, without tools. */
export function createAgent(options: AgentOptions = {}): LibraryAgent {
  const { newId = () => crypto.randomUUID(), now = Date.now, sessionId = newId(), cwd = '/' } = options;
  const log = unbreakable(options.logger ?? (() => undefined));
  const audience = new Set(options.listeners);
  const setup = createSetup(options, (model) => modelChain(model, options, processVariables()));
  const meter = createUsageMeter((model) => setup.now().chain.infoOf(model));
  const context = contextOf(options, setup, meter.add, newId);
  let tell: AgentPort['tell'] = async () => undefined;
  const agent = assembleAgent({
    sessionId,
    messages: structuredClone(options.messages ?? []),
    listeners: [meter.count, ...(options.listeners ?? []), watcher(options, log)],
    deps: (port) =>
      depsOfRun({
        options,
        setup,
        context,
        port,
        cwd,
        isHeard: () => audience.size > 0,
        spent: meter.costUsd,
        newId,
        now,
      }),
    attach: (port) => {
      tell = port.tell;
    },
    ...(options.hooks === undefined ? {} : { onPrompt: options.hooks.onPrompt }),
    describe: () => ({
      model: setup.now().model,
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
    compact: () =>
      agent.between('compacting', async (signal) => {
        const compacting = context.compact(agent.state().messages, 'manual', signal);
        const result = (await untilAborted(compacting, signal)) ?? STOPPED;
        const boundary = result.ok ? result.messages.find((message) => message.role === 'boundary') : undefined;
        if (result.ok && boundary !== undefined)
          await tell({ type: 'compacted', boundary, messages: result.messages, postTokens: result.postTokens });
        return result;
      }),
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

const STOPPED: CompactionResult = { ok: false, why: 'it was stopped' };

function contextOf(
  options: AgentOptions,
  setup: Setup,
  onUsage: (model: string, usage: Usage) => void,
  newId: () => string,
): ContextPort {
  if (options.context === 'off') return wholeConversation;
  return options.context ?? defaultContext({ options, setup, onUsage, newId });
}

type Logger = NonNullable<AgentOptions['logger']>;

/** The same logger, whose own faults have nobody left to be told to. */
function unbreakable(logger: Logger): Logger {
  const said = async (...line: Parameters<Logger>) => logger(...line);
  return (level, text) => {
    said(level, text).catch(() => undefined);
  };
}

/** Notices and faults become lines of the log, the end of a turn the facts of a response. */
function watcher({ onResponse }: AgentOptions, log: Logger) {
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
