import type { AgentEvent } from '../contracts/event.ts';
import type { Message } from '../contracts/message.ts';
import type { CompactionResult, ContextPort, QueryDeps, QueuePort } from '../contracts/query.ts';
import { messageOf } from '../lib/errors.ts';
import { cautiousModel } from './defaults.ts';
import { toRequestMessages } from './request.ts';

/** The dependencies, each with a safe answer in place of an exception, and the faults that were caught. */
export type Guarded = {
  readonly deps: QueryDeps;
  /** Tells the faults since it was last asked. */
  readonly tellFaults: () => Generator<AgentEvent, void>;
};

/** What callbacks from outside throw never reaches the loop: each has a safe answer, and its fault is told once. */
export function guarded(deps: QueryDeps): Guarded {
  const faults = createFaults();
  const { safe, later } = faults;
  const { answering, shouldStopAfterTurn, summarizeCalls, onWait } = deps;
  return {
    deps: {
      ...deps,
      context: guardContext(deps.context, faults),
      queues: guardQueues(deps.queues, faults),
      ...(answering && { answering: safe('Asking who answers', answering, () => deps.config) }),
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
      ...(shouldStopAfterTurn && { shouldStopAfterTurn: safe('Asking whether to stop', shouldStopAfterTurn, no) }),
    },
    *tellFaults() {
      for (const text of faults.takeAll()) yield { type: 'notice', level: 'warn', topic: 'fault', text };
    },
  };
}

/** The limit is unknown, so nothing is done about it. */
const NO_LIMIT = Number.POSITIVE_INFINITY;

function guardContext(context: ContextPort, { safe, later }: Faults): ContextPort {
  return {
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
    drain: later('Folding older calls', (messages: readonly Message[]) => context.drain(messages), no),
    limits: safe(
      'Asking for the limits of the context',
      (model: string) => context.limits(model),
      () => ({ compactAt: NO_LIMIT, blockAt: NO_LIMIT }),
    ),
    calibrate: safe(
      'Counting tokens',
      (view: readonly Message[], tokens: number, cleared?: number) => context.calibrate(view, tokens, cleared),
      silent,
    ),
  };
}

function guardQueues(queues: QueuePort, { safe, later }: Faults): QueuePort {
  return {
    ...(queues.settle && { settle: later('The queue', queues.settle, silent) }),
    takeSteering: safe('The queue', () => queues.takeSteering(), nothing),
    takeFollowUps: safe('The queue', () => queues.takeFollowUps(), nothing),
    hasSteering: safe('The queue', () => queues.hasSteering(), no),
  };
}

type Faults = {
  /** The same function; when it throws, the fault is noted and `otherwise` answers. */
  safe<Args extends readonly unknown[], Answer>(
    what: string,
    ask: (...args: Args) => Answer,
    otherwise: (...args: Args) => Answer,
  ): (...args: Args) => Answer;
  /** The same for a promise. */
  later<Args extends readonly unknown[], Answer>(
    what: string,
    ask: (...args: Args) => Promise<Answer>,
    otherwise: (why: string, ...args: Args) => Answer,
  ): (...args: Args) => Promise<Answer>;
  /** What was caught since the last time; never the same words twice. */
  takeAll(): readonly string[];
};

function createFaults(): Faults {
  const known = new Set<string>();
  let faults: readonly string[] = [];

  function note(what: string, thrown: unknown): string {
    const why = messageOf(thrown);
    const words = `${what} broke and was passed over: ${why}`;
    if (!known.has(words)) faults = [...faults, words];
    known.add(words);
    return why;
  }

  return {
    safe:
      (what, ask, otherwise) =>
      (...args) => {
        try {
          return ask(...args);
        } catch (thrown) {
          note(what, thrown);
          return otherwise(...args);
        }
      },
    later:
      (what, ask, otherwise) =>
      async (...args) => {
        try {
          return await ask(...args);
        } catch (thrown) {
          return otherwise(note(what, thrown), ...args);
        }
      },
    takeAll() {
      const taken = faults;
      faults = [];
      return taken;
    },
  };
}

const nothing = (): readonly never[] => [];
const silent = (): undefined => undefined;
const no = (): boolean => false;
