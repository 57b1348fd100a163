import type { AgentEvent } from '../contracts/event.ts';
import type { Message } from '../contracts/message.ts';
import type { CompactionResult, ContextPort, QueryDeps, QueuePort } from '../contracts/query.ts';
import { messageOf } from '../lib/errors.ts';
import { cautiousModel } from './defaults.ts';
import { toRequestMessages } from './request.ts';

/** Nobody knows where the limit is, so nothing is done about it. */
const NO_LIMIT = Number.POSITIVE_INFINITY;

/** Callbacks from outside never throw into the loop: each has a safe answer, and its fault is told once. */
export type Guarded = {
  readonly deps: QueryDeps;
  /** Tells the faults since it was last asked. */
  readonly tellFaults: () => Generator<AgentEvent, void>;
};

export function guarded(deps: QueryDeps): Guarded {
  const known = new Set<string>();
  let faults: readonly string[] = [];

  function note(what: string, thrown: unknown): string {
    const why = messageOf(thrown);
    const words = `${what} broke and was passed over: ${why}`;
    if (!known.has(words)) faults = [...faults, words];
    known.add(words);
    return why;
  }

  function safe<Args extends readonly unknown[], Answer>(
    what: string,
    ask: (...args: Args) => Answer,
    otherwise: (...args: Args) => Answer,
  ): (...args: Args) => Answer {
    return (...args) => {
      try {
        return ask(...args);
      } catch (thrown) {
        note(what, thrown);
        return otherwise(...args);
      }
    };
  }

  function later<Args extends readonly unknown[], Answer>(
    what: string,
    ask: (...args: Args) => Promise<Answer>,
    otherwise: (why: string, ...args: Args) => Answer,
  ): (...args: Args) => Promise<Answer> {
    return async (...args) => {
      try {
        return await ask(...args);
      } catch (thrown) {
        return otherwise(note(what, thrown), ...args);
      }
    };
  }

  const { context, queues, shouldStopAfterTurn, summarizeCalls, onWait } = deps;
  const safeContext: ContextPort = {
    prepare: later(
      'Making the conversation smaller',
      (messages) => context.prepare(messages),
      (_why, messages) => ({ messages, view: messages, tokens: 0, freedTokens: 0 }),
    ),
    compact: later(
      'Compaction',
      (messages, trigger, signal, model) => context.compact(messages, trigger, signal, model),
      (why): CompactionResult => ({ ok: false, why }),
    ),
    drain: later(
      'Folding older calls',
      (messages: readonly Message[]) => context.drain(messages),
      () => false,
    ),
    limits: safe(
      'Asking for the limits of the context',
      (model: string) => context.limits(model),
      () => ({ compactAt: NO_LIMIT, blockAt: NO_LIMIT }),
    ),
    observe: safe(
      'Counting tokens',
      (view: readonly Message[], tokens: number) => context.observe(view, tokens),
      silent,
    ),
  };
  const { settle } = queues;
  const safeQueues: QueuePort = {
    ...(settle && { settle: later('The queue', settle, silent) }),
    takeSteering: safe('The queue', () => queues.takeSteering(), nothing),
    takeFollowUps: safe('The queue', () => queues.takeFollowUps(), nothing),
    hasSteering: safe(
      'The queue',
      () => queues.hasSteering(),
      () => false,
    ),
  };
  const own: QueryDeps = {
    ...deps,
    context: safeContext,
    queues: safeQueues,
    modelInfo: safe('Looking up the model', deps.modelInfo, cautiousModel),
    system: safe('The system prompt', deps.system, nothing),
    tools: safe('The list of tools', deps.tools, nothing),
    toolSpecs: safe('Describing the tools', deps.toolSpecs, (tools) => tools.map(({ spec }) => spec)),
    toRequestMessages: safe('Turning messages into a request', deps.toRequestMessages, toRequestMessages),
    transformRequest: safe('The last look at the request', deps.transformRequest, (request) => request),
    attachments: later('Looking for changes', deps.attachments, nothing),
    // What was spent is unknown, so a limit counts as reached.
    costUsd: safe('Counting the cost', deps.costUsd, () => NO_LIMIT),
    ...(onWait && { onWait: safe('Telling of the wait', onWait, silent) }),
    ...(summarizeCalls && { summarizeCalls: later('Summing up the calls', summarizeCalls, silent) }),
    ...(shouldStopAfterTurn && {
      shouldStopAfterTurn: safe('Asking whether to stop', shouldStopAfterTurn, () => false),
    }),
  };
  return {
    deps: own,
    *tellFaults() {
      const taken = faults;
      faults = [];
      for (const text of taken) yield { type: 'notice', level: 'warn', topic: 'fault', text };
    },
  };
}

function nothing(): readonly never[] {
  return [];
}

function silent(): undefined {
  return undefined;
}
