import { assembleAgent } from '../../agent/agent.ts';
import type { AgentPort } from '../../agent/agent-deps.ts';
import type { AgentListener } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { PermissionRequest } from '../../contracts/permission.ts';
import type { ContextPort } from '../../contracts/query.ts';
import { passthroughContext } from '../../engine/default-deps.ts';
import { getProcessVariables } from '../runtime.ts';
import { createSdkAgentCommands, type SdkAgent } from './agent-commands.ts';
import { createAgentRunRecords } from './agent-run-records.ts';
import { createBudget } from './budget.ts';
import { addContextLevels } from './context-levels.ts';
import { createDefaultContext } from './default-context.ts';
import type { AgentOptions } from './options.ts';
import { parseAppMessages } from './parse-app-messages.ts';
import { createRunDeps } from './run-deps.ts';
import { type AgentSetup, createAgentSetup, createModelChain } from './setup.ts';
import { createSpendingMeter, type SpendingMeter } from './spending.ts';
import { type CapsuleResumption, createCapsuleTurnRecorder } from './suspension.ts';
import { toAgentTools } from './tool-list.ts';
import { createToolUndoLog } from './undo-calls.ts';

/** The continuation of a suspended run: its reply is played again under a new id. */
type Continuation = { readonly resumption: CapsuleResumption; readonly voidMessageId: string };

/** Composes an agent from its parts. */
export function composeAgent(options: AgentOptions, continued: Continuation | undefined): SdkAgent {
  const { newId = () => crypto.randomUUID(), now = Date.now, sessionId = newId(), cwd = '/' } = options;
  const log = createSafeLogger(options.logger ?? (() => undefined));
  const answerers = new Set<AgentListener>();
  let emit: AgentPort['emit'] = async () => undefined;
  const undo = createToolUndoLog({
    report: (level, text) => void emit({ type: 'notice', level, topic: 'undo', text }),
    newId,
  });
  const setup = createAgentSetup(options, {
    createChain: (model) => createModelChain(model, options, getProcessVariables()),
    toTools: (tools) =>
      toAgentTools('createAgent', tools, async (call) => {
        return continued?.resumption.getOutcome(call.context.callId) ?? undo.run(call);
      }),
  });
  const meter = createSpendingMeter({
    budgets: [
      options.budget ?? [],
      options.maxBudgetUsd === undefined ? [] : createBudget(options.maxBudgetUsd),
    ].flat(),
    getModelInfo: (model) => setup.current().chain.getModelInfo(model),
    onSpent: (request, total) => void emit({ type: 'spending', request, total }),
  });
  const context = createContextPort(options, setup, meter, newId);
  const turn = createCapsuleTurnRecorder();
  const open = new Set<PermissionRequest>();
  let isSuspended = false;
  /** Nothing that happens after a suspension is recorded, because the run continues elsewhere. */
  const unlessSuspended =
    (listener: AgentListener): AgentListener =>
    (event) =>
      isSuspended ? undefined : listener(event);
  const captureTurn = async (request: PermissionRequest) => {
    await turn.whenComplete();
    return turn.capture(sessionId, agent.state().messages, request);
  };
  const runs = createAgentRunRecords(meter);
  const toDeps = (caller: string) => ({ caller, newId, now, model: setup.current().model });
  const agent = assembleAgent({
    sessionId,
    messages: structuredClone(parseAppMessages(options.messages ?? [], toDeps('createAgent'))),
    listeners: [
      runs.onEvent,
      turn.onEvent,
      ...[...(options.listeners ?? []), createLogListener(options, log)].map(unlessSuspended),
    ],
    deps: (port) =>
      createRunDeps({
        ...{ options, setup, context, port, cwd, newId, now, meter, runs, answerers, open },
        agent: () => agent,
        resumption: continued?.resumption,
        onOutcome: turn.addOutcome,
        async beforeAsking(request) {
          if (options.saveCapsule !== undefined) await options.saveCapsule(await captureTurn(request));
        },
      }),
    attach: (port) => {
      emit = port.emit;
    },
    ...(options.hooks === undefined ? {} : { onPrompt: options.hooks.onPrompt }),
    async beforeRun() {
      runs.start();
      undo.start();
      if (runs.isStopped()) agent.abort();
      // The calls of the reply get their results from this run.
      if (continued !== undefined && runs.isFirst())
        await emit({ type: 'tombstone', messageId: continued.voidMessageId, why: 'The run continues.' });
      await setup.current().chain.waitUntilReady();
    },
    afterRun: async (terminal) => (isSuspended ? [] : undo.finish(terminal)),
    describeFault: (message) => `Internal error: ${message}.`,
    describe: () => ({ model: setup.current().model, effort: setup.current().thinking, mode: 'default', cwd }),
    onListenerError: (thrown) => log('error', `A listener threw: ${String(thrown)}`),
    newId,
    now,
  });
  agent.setQueueMode('next', options.queueModes?.steering ?? 'one-at-a-time');
  agent.setQueueMode('after', options.queueModes?.followUp ?? 'one-at-a-time');
  options.signal?.addEventListener('abort', () => agent.abort(), { once: true });
  return createSdkAgentCommands({
    ...{ options, agent, setup, meter, context, runs, answerers, open, captureTurn, toDeps },
    emit: (event) => emit(event),
    suspension: {
      isSuspended: () => isSuspended,
      start() {
        isSuspended = true;
      },
    },
  });
}

function createContextPort(
  options: AgentOptions,
  setup: AgentSetup,
  meter: SpendingMeter,
  newId: () => string,
): ContextPort {
  const { context = createDefaultContext({ options, setup, meter, newId }), contextLevels = [] } = options;
  const port = context === 'off' ? passthroughContext : context;
  return addContextLevels(port, contextLevels, () => setup.current().chain.getModelInfo(setup.current().model));
}

type Logger = NonNullable<AgentOptions['logger']>;

/** Wraps a logger so that its own errors are ignored. */
function createSafeLogger(logger: Logger): Logger {
  const write = async (...line: Parameters<Logger>) => logger(...line);
  return (level, text) => {
    write(level, text).catch(() => undefined);
  };
}

/** Creates the listener that logs notices and reports the end of each turn. */
function createLogListener({ onResponse }: AgentOptions, log: Logger) {
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
