import type { AgentPort } from '../../agent/agent-deps.ts';
import type { AgentRunRecords } from '../../agent/agent-run-records.ts';
import type { SpendingMeter } from '../../agent/spending.ts';
import { bindContextPortMethods } from '../../context/context-levels.ts';
import type { Agent } from '../../contracts/agent.ts';
import { describeRefusal } from '../../contracts/denial.ts';
import type { Feature } from '../../contracts/feature.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { ModelFailure } from '../../contracts/model.ts';
import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { BeforeCall, ContextPort, QueryDeps } from '../../contracts/query.ts';
import type { CallRequest, GateVerdict } from '../../contracts/tool.ts';
import { completeQueryDeps } from '../../engine/default-deps.ts';
import { composeApprover } from '../../engine/features.ts';
import { toRequestMessages } from '../../engine/request/build-model-request.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { omitUndefined } from '../../lib/json.ts';
import type { AgentTool } from '../../tools/definition/application-tool.ts';
import { type AgentQuestionPort, createAgentQuestions } from './agent-questions.ts';
import type { AgentOptions } from './options.ts';
import type { AgentSetup } from './setup.ts';
import type { CapsuleResumption } from './suspension.ts';

/** The default for `maxTurns`. */
const DEFAULT_MAX_TURNS = 200;

type RunDepsInput = {
  readonly options: AgentOptions;
  readonly setup: AgentSetup;
  readonly context: ContextPort;
  readonly port: AgentPort;
  readonly features: readonly Feature[];
  readonly cwd: string;
  readonly meter: SpendingMeter;
  readonly runs: AgentRunRecords;
  /** Listeners that answer questions. */
  readonly answerers: ReadonlySet<unknown>;
  readonly agent: () => Pick<Agent, 'answerPermission' | 'answerQuestion'>;
  readonly open: Set<PermissionRequest>;
  readonly beforeAsking: (request: PermissionRequest) => Promise<void>;
  readonly resumption: CapsuleResumption | undefined;
  readonly newId: () => string;
  readonly now: () => number;
};

/** Creates the dependencies of one run of the loop. */
export function createRunDeps(input: RunDepsInput): QueryDeps {
  const { options, setup, context, port, cwd, meter, runs, newId, now } = input;
  const { maxTurns = DEFAULT_MAX_TURNS } = options;
  const questions = createAgentQuestions({ ...input, hasAnswerer: () => input.answerers.size > 0 });
  // Changes take effect at the start of a turn, when the loop selects the models.
  let turn = setup.current();
  /** The reason not to send the present request: what a broken transformation should have removed is still in it. */
  let withheld: string | undefined;
  const withhold = (callback: string, thrown: unknown) => {
    withheld = `${callback} failed, so nothing was sent: ${getErrorMessage(thrown)}`;
  };
  const deps = completeQueryDeps({
    ...createCallbackDeps(options, questions, () => turn.tools, { ...input, withhold }),
    model: {
      name: turn.chain.port.name,
      retries: true,
      async *stream(request, streamOptions, signal) {
        const stored = input.resumption?.takeReply();
        if (stored !== undefined) return yield* stored;
        if (withheld !== undefined) return { ok: false, failure: { kind: 'invalid', message: withheld } };
        if (runs.countRequest() > maxTurns) return { ok: false, failure: createTurnLimitFailure(maxTurns) };
        return yield* meter.wrap(turn.chain.port.stream)(request, streamOptions, signal);
      },
    },
    modelInfo: (model) => turn.chain.getModelInfo(model),
    selectModels() {
      turn = setup.current();
      return setup.selectModels();
    },
    config: {
      ...setup.selectModels(),
      ...omitUndefined({
        toolExecution: options.toolExecution,
        parallelCalls: options.parallelCalls,
        maxRetryDelayMs: options.maxRetryDelayMs,
      }),
    },
    cwd: () => cwd,
    queues: port.queues,
    onWait: port.onWait,
    newId,
    now,
  });
  return {
    ...deps,
    system: () => turn.systemPrompt,
    tools: () => turn.tools,
    context: wrapContext(context, options.transformContext, withhold),
  };
}

function createTurnLimitFailure(maxTurns: number): ModelFailure {
  return { kind: 'aborted', limit: 'max_turns', message: `The limit of ${maxTurns} turns is reached.` };
}

type Withhold = (callback: string, thrown: unknown) => void;

function wrapContext(
  context: ContextPort,
  transform: AgentOptions['transformContext'],
  withhold: Withhold,
): ContextPort {
  if (transform === undefined) return context;
  return {
    ...bindContextPortMethods(context),
    async prepare(messages) {
      const prepared = await context.prepare(messages);
      try {
        const view = await transform(prepared.view);
        if (!Array.isArray(view)) throw new TypeError('it must return the list of messages to send.');
        return { ...prepared, view };
      } catch (thrown) {
        withhold('transformContext', thrown);
        return prepared;
      }
    },
  };
}

type CallbackDeps = Partial<
  Pick<QueryDeps, 'gate' | 'ask' | 'transformRequest' | 'toRequestMessages' | 'shouldStopAfterTurn'>
>;

/** Creates the loop dependencies that call the callbacks of the application. */
function createCallbackDeps(
  options: AgentOptions,
  questions: AgentQuestionPort,
  tools: () => readonly AgentTool[],
  { features, resumption, withhold }: Pick<RunDepsInput, 'features' | 'resumption'> & { readonly withhold: Withhold },
): CallbackDeps {
  const { onPayload, shouldStopAfterTurn } = options;
  const approve = composeApprover(features);
  /** A call that ended before the run was suspended has passed its checks. */
  const isDone = ({ callId }: CallRequest) => resumption?.getOutcome(callId) !== undefined;
  return {
    async gate(call, hint, signal) {
      if (isDone(call)) return { behavior: 'allow', input: call.input };
      const given = resumption?.getAnswer(call.callId);
      if (given !== undefined) return toVerdict(call, given.answer, given.request.facts.input);
      const hintOrApproval = { ...hint, ...requireApproval(call, hint, tools(), options) };
      return decideCall(call, hintOrApproval, signal, { approve, askPermission: questions.askPermission });
    },
    ask: questions.ask,
    ...(onPayload && {
      transformRequest(request) {
        try {
          return onPayload(request) ?? request;
        } catch (thrown) {
          withhold('onPayload', thrown);
          return request;
        }
      },
    }),
    toRequestMessages: createMessageConversion(options),
    ...(shouldStopAfterTurn && { shouldStopAfterTurn: ({ messages }) => shouldStopAfterTurn(messages) }),
  };
}

/** Creates the conversion of messages for requests. */
export function createMessageConversion({
  convertToLlm,
}: Pick<AgentOptions, 'convertToLlm'>): QueryDeps['toRequestMessages'] {
  return convertToLlm === undefined ? toRequestMessages : (messages) => toRequestMessages(convertToLlm(messages));
}

/** Those who may approve a call: the features, then whoever answers questions. */
type Approvers = Pick<AgentPort, 'askPermission'> & { readonly approve: ReturnType<typeof composeApprover> };

/** Decides about a call. The application's own tools may run, unless `beforeToolCall` wants the user to be asked. */
async function decideCall(
  call: CallRequest,
  { ask }: BeforeCall,
  signal: AbortSignal,
  { approve, askPermission }: Approvers,
): Promise<GateVerdict> {
  if (ask === undefined) return { behavior: 'allow', input: call.input };
  const request = createPermissionRequest(call, ask);
  return toVerdict(call, (await approve(call, signal)) ?? (await askPermission(request, signal)), call.input);
}

function toVerdict(call: CallRequest, answer: PermissionAnswer, asked: JsonObject): GateVerdict {
  if (answer.behavior === 'allow') return { behavior: 'allow', input: answer.updatedInput ?? asked };
  const { by = 'user', note, message: reason, interrupt = false } = answer;
  if (by === 'unattended') {
    const message = `${call.tool} was not run: ${note ?? 'this run cannot ask for approval.'}`;
    return { behavior: 'deny', message, interrupt, denial: { by } };
  }
  const denial = { by, ...(reason === undefined ? {} : { reason }) };
  return { behavior: 'deny', message: describeRefusal(denial, note), interrupt, denial };
}

/**
 * Asks about a call whose tool requires approval, unless a hook has allowed it. A tool of the application that says
 * nothing about itself asks as well, unless `beforeToolCall` looks at its calls.
 */
function requireApproval(
  { tool: name, input, isReadOnly }: CallRequest,
  { ask, allow }: BeforeCall,
  tools: readonly AgentTool[],
  { beforeToolCall }: Pick<AgentOptions, 'beforeToolCall'>,
): Pick<BeforeCall, 'ask'> {
  if (ask !== undefined || allow !== undefined) return {};
  const tool = tools.find((one) => one.name === name || one.aliases.includes(name));
  const isSilent = tool?.source === 'host' && tool.requiresApproval === undefined && beforeToolCall === undefined;
  const reason = isSilent && !isReadOnly ? describeSilentTool(tool.name) : tool?.requiresApproval?.(input);
  return reason === undefined ? {} : { ask: reason };
}

const describeSilentTool = (name: string) =>
  `${name} says neither isReadOnly nor requiresApproval, so its calls may change anything.`;

function createPermissionRequest({ callId, tool, title, input }: CallRequest, why: string): PermissionRequest {
  return {
    id: `ask-${callId}`,
    callId,
    toolName: tool,
    title,
    facts: { tool, input, kind: 'other' },
    reasons: [why],
    targets: [],
    suggestions: [],
    trace: [],
    danger: 'none',
    concealed: 'none',
  };
}
