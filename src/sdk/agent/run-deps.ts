import type { AgentPort } from '../../agent/agent-deps.ts';
import { bindContextPortMethods } from '../../context/context-levels.ts';
import type { Feature } from '../../contracts/feature.ts';
import type { ModelFailure } from '../../contracts/model.ts';
import type { ContextPort, QueryDeps } from '../../contracts/query.ts';
import { completeQueryDeps } from '../../engine/default-deps.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { omitUndefined } from '../../lib/json.ts';
import type { AgentParts } from './agent-parts.ts';
import { createAgentQuestions } from './agent-questions.ts';
import { createCallGate } from './call-gate.ts';
import { createMessageConversion } from './default-context.ts';
import type { AgentOptions } from './options.ts';

/** The default for `maxTurns`. */
const DEFAULT_MAX_TURNS = 200;

/** Creates the dependencies of one run of the loop. */
export function createRunDeps(parts: AgentParts, port: AgentPort, features: readonly Feature[]): QueryDeps {
  const { options, setup, context, cwd, meter, runs, resumption, newId, now } = parts;
  const { maxTurns = DEFAULT_MAX_TURNS, onPayload, shouldStopAfterTurn } = options;
  const questions = createAgentQuestions(parts, port);
  // Changes take effect at the start of a turn, when the loop selects the models.
  let turn = setup.current();
  /** The reason not to send the present request: what a broken transformation should have removed is still in it. */
  let withheld: string | undefined;
  const withhold = (callback: string, thrown: unknown) => {
    withheld = `${callback} failed, so nothing was sent: ${getErrorMessage(thrown)}`;
  };
  const deps = completeQueryDeps({
    model: {
      name: turn.chain.port.name,
      retries: true,
      async *stream(request, streamOptions, signal) {
        const stored = resumption?.takeReply();
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
    gate: createCallGate(parts, features, () => turn.tools, questions.askPermission),
    ask: questions.ask,
    toRequestMessages: createMessageConversion(options),
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
    ...(shouldStopAfterTurn && { shouldStopAfterTurn: ({ messages }) => shouldStopAfterTurn(messages) }),
    context: wrapContext(context, options.transformContext, withhold),
    cwd: () => cwd,
    queues: port.queues,
    onWait: port.onWait,
    newId,
    now,
  });
  return { ...deps, system: () => turn.systemPrompt, tools: () => turn.tools };
}

function createTurnLimitFailure(maxTurns: number): ModelFailure {
  return { kind: 'aborted', limit: 'max_turns', message: `The limit of ${maxTurns} turns is reached.` };
}

function wrapContext(
  context: ContextPort,
  transform: AgentOptions['transformContext'],
  withhold: (callback: string, thrown: unknown) => void,
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
