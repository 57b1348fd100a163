import type { AgentPort } from '../../agent/parts.ts';
import type { ContextPort, QueryDeps } from '../../contracts/query.ts';
import { queryDeps } from '../../engine/defaults.ts';
import { opinions } from './callbacks.ts';
import type { AgentOptions } from './options.ts';
import type { Setup } from './setup.ts';

/** How long it goes on without a person when nothing else is said. */
const MAX_TURNS = 200;

type RunNeeds = {
  readonly options: AgentOptions;
  readonly setup: Setup;
  readonly context: ContextPort;
  readonly port: AgentPort;
  readonly cwd: string;
  /** Is anybody there to hear a question? */
  readonly isHeard: () => boolean;
  readonly spent: () => number;
  readonly newId: () => string;
  readonly now: () => number;
};

/** What one run of the loop goes by. */
export function depsOfRun({ options, setup, context, port, cwd, isHeard, spent, newId, now }: RunNeeds): QueryDeps {
  // A change counts from the next turn: each turn begins with the question who answers.
  let turn = setup.now();
  const deps = queryDeps({
    ...opinions(options, port, isHeard),
    model: {
      name: turn.chain.port.name,
      retries: true,
      stream: (request, how, signal) => turn.chain.port.stream(request, how, signal),
    },
    modelInfo: (model) => turn.chain.infoOf(model),
    answering() {
      turn = setup.now();
      return setup.answering();
    },
    config: {
      ...setup.answering(),
      maxTurns: options.maxTurns ?? MAX_TURNS,
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
  return {
    ...deps,
    system: () => turn.systemPrompt,
    tools: () => turn.tools,
    context: withLastLook(context, options.transformContext),
  };
}

function withLastLook(context: ContextPort, transform: AgentOptions['transformContext']): ContextPort {
  if (transform === undefined) return context;
  return {
    async prepare(messages) {
      const prepared = await context.prepare(messages);
      return { ...prepared, view: await transform(prepared.view) };
    },
    compact: (messages, trigger, signal, model) => context.compact(messages, trigger, signal, model),
    drain: (messages) => context.drain(messages),
    limits: (model) => context.limits(model),
    calibrate: (view, tokens, cleared) => context.calibrate(view, tokens, cleared),
  };
}
