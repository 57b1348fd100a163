import { createAgentContext } from '../../agent/agent-context.ts';
import type { AgentPort } from '../../agent/agent-deps.ts';
import { createAgentRunRecords, type RunEnd } from '../../agent/agent-run-records.ts';
import { createBudget } from '../../agent/budget.ts';
import { composeAgent } from '../../agent/compose-agent.ts';
import { createSpendingMeter, type SpendingMeter } from '../../agent/spending.ts';
import { createToolUndoLog } from '../../agent/undo-calls.ts';
import { addContextReductionLevels } from '../../context/context-levels.ts';
import type { AgentListener } from '../../contracts/agent.ts';
import { EFFORTS } from '../../contracts/model.ts';
import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { ContextPort } from '../../contracts/query.ts';
import { passthroughContext } from '../../engine/default-deps.ts';
import { createModelChain } from '../../model/model-chain.ts';
import { getEnvironmentVariables } from '../runtime.ts';
import { createSdkAgentMethods, type SdkAgent } from './agent-commands.ts';
import { checkAgentOptions } from './check-agent-options.ts';
import { listFeatures } from './list-features.ts';
import type { AgentOptions } from './options.ts';
import { parseAppMessages } from './parse-app-messages.ts';
import { createMessageConversion, createRunDeps } from './run-deps.ts';
import { type AgentSetup, createAgentSetup } from './setup.ts';
import {
  type AgentCapsule,
  type CapsuleResumption,
  createCapsuleResumption,
  createCapsuleTurnRecorder,
  limitToOpenCalls,
  parseAgentCapsule,
  parsePermissionAnswer,
} from './suspension.ts';

/** Creates an agent. Without options it uses the default model, the key from the environment, and no tools. */
export function createAgent(options: AgentOptions = {}): SdkAgent {
  checkAgentOptions('createAgent', options);
  return createFromOptions(options, undefined);
}

/** The options of `resumeAgent`: those of the agent, and the answer to the open question. */
export type ResumeOptions = Omit<AgentOptions, 'sessionId' | 'messages'> & {
  readonly answer: PermissionAnswer | boolean;
};

/** Continues a suspended run with the answer to its question. `end` resolves when the run has ended. */
export function resumeAgent(
  capsule: AgentCapsule | string,
  resumeOptions: ResumeOptions,
): { readonly agent: SdkAgent; readonly end: Promise<RunEnd> } {
  const { answer, ...options } = resumeOptions ?? {};
  checkAgentOptions('resumeAgent', options);
  const parsed = parseAgentCapsule(capsule);
  const resumption = createCapsuleResumption(parsed, parsePermissionAnswer('resumeAgent', answer));
  const { sessionId, messages, reply } = parsed;
  const agent = createFromOptions({ ...options, sessionId, messages }, { resumption, voidMessageId: reply.id });
  return { agent, end: agent.continue() };
}

/** The thinking levels, lowest first. */
export const THINKING_LEVELS = EFFORTS;

/** The continuation of a suspended run: its reply is played again under a new id. */
type Continuation = { readonly resumption: CapsuleResumption; readonly voidMessageId: string };

/** Composes an agent from the features and parts that its options describe. */
function createFromOptions(options: AgentOptions, continued: Continuation | undefined): SdkAgent {
  const { newId = () => crypto.randomUUID(), now = Date.now, sessionId = newId(), cwd = '/' } = options;
  const log = createSafeLogger(options.logger ?? (() => undefined));
  const answerers = new Set<AgentListener>();
  let emit: AgentPort['emit'] = async () => undefined;
  const undo = createToolUndoLog({
    report: (level, text) => void emit({ type: 'notice', level, topic: 'undo', text }),
    newId,
  });
  const setup = createAgentSetup(options, {
    createChain: (model) => createModelChain(model, options, getEnvironmentVariables()),
    runCall: async (call) => continued?.resumption.getOutcome(call.context.callId) ?? undo.run(call),
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
  const captureTurn = async (request: PermissionRequest) => {
    await turn.whenComplete();
    return turn.capture(sessionId, agent.state().messages, request);
  };
  const runs = createAgentRunRecords(meter);
  const features = listFeatures(options, (event) => emit(event), log).map((feature) =>
    limitToOpenCalls(feature, continued?.resumption, () => isSuspended),
  );
  const toDeps = (caller: string) => ({ caller, newId, now, model: setup.current().model });
  const agent = composeAgent([...features, { name: 'capsule', afterCall: turn.afterCall }], {
    sessionId,
    messages: structuredClone(parseAppMessages(options.messages ?? [], toDeps('createAgent'))),
    listeners: [runs.onEvent, turn.onEvent],
    deps: (port) =>
      createRunDeps({
        ...{ options, setup, context, port, features, cwd, newId, now, meter, runs, answerers, open },
        agent: () => agent,
        resumption: continued?.resumption,
        async beforeAsking(request) {
          if (options.saveCapsule !== undefined) await options.saveCapsule(await captureTurn(request));
        },
      }),
    attach: (port) => {
      emit = port.emit;
    },
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
  return createSdkAgentMethods({
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
  return addContextReductionLevels(port, contextLevels, () =>
    setup.current().chain.getModelInfo(setup.current().model),
  );
}

type Logger = NonNullable<AgentOptions['logger']>;

/** Wraps a logger so that its own errors are ignored. */
function createSafeLogger(logger: Logger): Logger {
  const write = async (...line: Parameters<Logger>) => logger(...line);
  return (level, text) => {
    write(level, text).catch(() => undefined);
  };
}

type DefaultContextDeps = {
  readonly options: Pick<
    AgentOptions,
    'compactAtPercent' | 'hooks' | 'convertToLlm' | 'transformContext' | 'onPayload'
  >;
  readonly setup: AgentSetup;
  readonly meter: SpendingMeter;
  readonly newId: () => string;
};

/**
 * Creates the default context pipeline: it excludes old results, then summarizes with the current model. It stores
 * nothing.
 */
function createDefaultContext({ options, setup, meter, newId }: DefaultContextDeps): ContextPort {
  const { transformContext } = options;
  const tools = () => setup.current().tools;
  const findTool = (name: string) => tools().find((tool) => tool.name === name || tool.aliases.includes(name));
  return createAgentContext({
    model: () => setup.current().model,
    chain: (model) => [
      model,
      ...setup
        .current()
        .chain.links.slice(1)
        .map((link) => link.model),
    ],
    getModelInfo: (model) => setup.current().chain.getModelInfo(model),
    port: {
      name: 'summary',
      stream(request, streamOptions, signal) {
        const { port } = setup.current().chain;
        return meter.wrap(port.stream)(options.onPayload?.(request) ?? request, streamOptions, signal);
      },
    },
    // The application's transformation also applies to summaries.
    transformMessages: async (messages) => (await transformContext?.(messages)) ?? messages,
    toRequestMessages: createMessageConversion(options),
    system: () => setup.current().systemPrompt,
    tools,
    listSpecs: () => tools().map(({ spec }) => spec),
    thinking() {
      const { effort, thinkingBudgetTokens } = setup.selectModels();
      return { effort, thinkingBudgetTokens };
    },
    compactAtPercent: () => options.compactAtPercent,
    store: async () => undefined,
    storedAt: () => undefined,
    // The metered port counts the usage.
    onUsage: () => undefined,
    carried: () => ({ todos: [], filesRead: [], filesChanged: [], skills: [] }),
    ...(options.hooks === undefined ? {} : { beforeCompact: options.hooks.beforeCompact }),
    toolNamed: (name) => findTool(name)?.traits,
    newId,
  });
}
