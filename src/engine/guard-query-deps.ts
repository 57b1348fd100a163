import type { AgentEvent } from '../contracts/event.ts';
import type { Message } from '../contracts/message.ts';
import type { CompactionResult, ContextPort, QueryDeps, QueuePort } from '../contracts/query.ts';
import { getErrorMessage } from '../lib/errors.ts';
import { createFallbackModelInfo } from './default-deps.ts';
import { toRequestMessages } from './request/build-model-request.ts';

/** Wraps the callbacks of a query, so that they return a fallback instead of throwing; each fault is reported once. */
export function guardQueryDeps(deps: QueryDeps) {
  const faults = createFaultLog();
  const { guardSync, guardAsync } = faults;
  const { selectModels, shouldStopAfterTurn, summarizeCalls, onWait } = deps;
  return {
    deps: {
      ...deps,
      context: guardContext(deps.context, faults),
      queues: guardQueues(deps.queues, faults),
      ...(selectModels && { selectModels: guardSync('Selecting the model', selectModels, () => deps.config) }),
      modelInfo: guardSync('Looking up the model', deps.modelInfo, createFallbackModelInfo),
      system: guardSync('Building the system prompt', deps.system, returnEmpty),
      tools: guardSync('Listing the tools', deps.tools, returnEmpty),
      toolSpecs: guardSync('Describing the tools', deps.toolSpecs, (tools) => tools.map(({ spec }) => spec)),
      toRequestMessages: guardSync('Building the request messages', deps.toRequestMessages, toRequestMessages),
      transformRequest: guardSync('Transforming the request', deps.transformRequest, (request) => request),
      attachments: guardAsync('Collecting attachments', deps.attachments, returnEmpty),
      // The cost so far is unknown, so a limit counts as reached.
      costUsd: guardSync('Computing the cost', deps.costUsd, () => Number.POSITIVE_INFINITY),
      ...(onWait && { onWait: guardSync('Reporting a wait', onWait, returnNothing) }),
      ...(summarizeCalls && { summarizeCalls: guardAsync('Summarizing the calls', summarizeCalls, returnNothing) }),
      ...(shouldStopAfterTurn && {
        shouldStopAfterTurn: guardSync('Asking whether to stop', shouldStopAfterTurn, returnFalse),
      }),
    },
    /** Emits a notice for each fault since the last call. */
    *emitFaults(): Generator<AgentEvent, void> {
      for (const text of faults.takeAll()) yield { type: 'notice', level: 'warn', topic: 'fault', text };
    },
  };
}

function guardContext(context: ContextPort, { guardSync, guardAsync }: FaultLog): ContextPort {
  const { findSent } = context;
  return {
    ...(findSent && { findSent: guardSync('Looking up an earlier result', findSent, returnNothing) }),
    prepare: guardAsync(
      'Preparing the context',
      (messages) => context.prepare(messages),
      (_reason, messages) => ({ messages, view: messages, tokens: 0, freedTokens: 0 }),
    ),
    compact: guardAsync(
      'Compaction',
      (messages, trigger, signal, model) => context.compact(messages, trigger, signal, model),
      (reason): CompactionResult => ({ ok: false, why: reason }),
    ),
    drain: guardAsync('Collapsing older calls', (messages: readonly Message[]) => context.drain(messages), returnFalse),
    limits: guardSync(
      'Reading the context limits',
      (model: string) => context.limits(model),
      // Unknown limits are not enforced.
      () => ({ compactAt: Number.POSITIVE_INFINITY, blockAt: Number.POSITIVE_INFINITY }),
    ),
    calibrate: guardSync(
      'Counting tokens',
      (view: readonly Message[], tokens: number, cleared?: number) => context.calibrate(view, tokens, cleared),
      returnNothing,
    ),
  };
}

function guardQueues(queues: QueuePort, { guardSync, guardAsync }: FaultLog): QueuePort {
  return {
    ...(queues.admitQueued && { admitQueued: guardAsync('Reading the queue', queues.admitQueued, returnNothing) }),
    takeSteering: guardSync('Reading the queue', () => queues.takeSteering(), returnEmpty),
    takeFollowUps: guardSync('Reading the queue', () => queues.takeFollowUps(), returnEmpty),
    hasSteering: guardSync('Reading the queue', () => queues.hasSteering(), returnFalse),
  };
}

type FaultLog = {
  /** Wraps a function: if it throws, the fault is logged and the result of `fallback` is returned. */
  guardSync<Args extends readonly unknown[], Result>(
    action: string,
    callback: (...args: Args) => Result,
    fallback: (...args: Args) => Result,
  ): (...args: Args) => Result;
  /** Wraps an async function in the same way. */
  guardAsync<Args extends readonly unknown[], Result>(
    action: string,
    callback: (...args: Args) => Promise<Result>,
    fallback: (reason: string, ...args: Args) => Result,
  ): (...args: Args) => Promise<Result>;
  /** Returns the messages of the faults since the last call, each message only once. */
  takeAll(): readonly string[];
};

function createFaultLog(): FaultLog {
  const reported = new Set<string>();
  let faults: readonly string[] = [];

  function addFault(action: string, thrown: unknown): string {
    const reason = getErrorMessage(thrown);
    const message = `${action} failed and was skipped: ${reason}`;
    if (!reported.has(message)) faults = [...faults, message];
    reported.add(message);
    return reason;
  }

  return {
    guardSync:
      (action, callback, fallback) =>
      (...args) => {
        try {
          return callback(...args);
        } catch (thrown) {
          addFault(action, thrown);
          return fallback(...args);
        }
      },
    guardAsync:
      (action, callback, fallback) =>
      async (...args) => {
        try {
          return await callback(...args);
        } catch (thrown) {
          return fallback(addFault(action, thrown), ...args);
        }
      },
    takeAll() {
      const taken = faults;
      faults = [];
      return taken;
    },
  };
}

const returnEmpty = (): readonly never[] => [];
const returnNothing = (): undefined => undefined;
const returnFalse = (): boolean => false;
