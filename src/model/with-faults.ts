import type { AssistantBlock, Usage } from '../contracts/message.ts';
import {
  type FailureKind,
  MODEL_FAILURE_KINDS,
  type ModelEvent,
  type ModelOutcome,
  type ModelPort,
} from '../contracts/model.ts';

/** A fault of a model port, for one request. The kinds of failures are those that providers report. */
export type Fault =
  | FailureKind
  /** Sends nothing, and ignores its signal. */
  | 'hangs'
  /** Sends the beginning of a reply and then nothing, and ignores its signal. */
  | 'hangs_midway'
  /** Throws before the first event. */
  | 'throws'
  /** Fails after the beginning of a reply. */
  | 'breaks_midway'
  /** Sends an empty reply. */
  | 'says_nothing'
  /** Calls a tool that does not exist. */
  | 'unknown_tool'
  /** Calls a tool with input that is not JSON. */
  | 'broken_input';

/** All faults. */
export const FAULTS: readonly Fault[] = [
  ...MODEL_FAILURE_KINDS,
  ...(['hangs', 'hangs_midway', 'throws', 'breaks_midway', 'says_nothing', 'unknown_tool', 'broken_input'] as const),
];

/** The faults by request: a list in order of the requests, or a function of the request number, from 1. */
export type FaultPlan = readonly (Fault | undefined)[] | ((request: number) => Fault | undefined);

const USAGE: Usage = { inputTokens: 10, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Wraps a port so that it fails as planned; requests without a fault reach the port. */
export function withFaults(port: ModelPort, plan: FaultPlan): ModelPort {
  if (typeof port?.stream !== 'function')
    throw new TypeError('withFaults: pass a port, which has a function stream().');
  if (typeof plan !== 'function' && !Array.isArray(plan))
    throw new TypeError('withFaults: the plan must be a list of faults, or a function of the request number.');
  const known = typeof plan === 'function' ? [] : plan;
  const unknown = known.find((fault) => fault !== undefined && !FAULTS.includes(fault));
  if (unknown !== undefined) throw new TypeError(`withFaults: unknown fault ${unknown}. Known: ${FAULTS.join(', ')}.`);
  let requests = 0;
  return {
    ...port,
    stream(request, options, signal) {
      requests += 1;
      const fault = typeof plan === 'function' ? plan(requests) : plan[requests - 1];
      return fault === undefined ? port.stream(request, options, signal) : playFault(fault, request.model);
    },
  };
}

async function* playFault(fault: Fault, model: string): AsyncGenerator<ModelEvent, ModelOutcome> {
  yield { type: 'request_sent', attempt: 1 };
  switch (fault) {
    case 'hangs':
      return waitForever();
    case 'hangs_midway':
      yield* beginReply(model);
      return waitForever();
    case 'throws':
      throw new Error('A fault that was asked for.');
    case 'breaks_midway':
      yield* beginReply(model);
      return fail('cut');
    case 'says_nothing':
      return yield* playBlocks(model, []);
    case 'unknown_tool':
      return yield* playBlocks(model, [{ type: 'tool_use', id: crypto.randomUUID(), name: 'NoSuchTool', input: {} }]);
    case 'broken_input': {
      const call = {
        type: 'tool_use',
        id: crypto.randomUUID(),
        name: 'NoSuchTool',
        input: '{"a":',
        unparsed: '{"a":',
      } as const;
      return yield* playBlocks(model, [call]);
    }
    default:
      return fail(fault);
  }
}

function waitForever(): Promise<never> {
  return new Promise(() => undefined);
}

function fail(kind: FailureKind): ModelOutcome {
  return { ok: false, failure: { kind, message: `A fault that was asked for: ${kind}.` } };
}

function* beginReply(model: string): Generator<ModelEvent> {
  yield { type: 'message_start', messageId: crypto.randomUUID(), model, usage: USAGE };
  yield { type: 'block_start', index: 0, kind: 'text' };
  yield { type: 'text_delta', index: 0, text: 'The beginning of' };
}

async function* playBlocks(model: string, blocks: readonly AssistantBlock[]): AsyncGenerator<ModelEvent, ModelOutcome> {
  const messageId = crypto.randomUUID();
  yield { type: 'message_start', messageId, model, usage: USAGE };
  for (const [index, block] of blocks.entries()) {
    yield { type: 'block_start', index, kind: block.type, ...(block.type === 'tool_use' ? { name: block.name } : {}) };
    yield { type: 'block_end', index, block };
  }
  const stopReason = blocks.length === 0 ? 'end_turn' : 'tool_use';
  return { ok: true, message: { role: 'assistant', id: messageId, model, blocks }, stopReason, usage: USAGE };
}

/** Creates a port that answers every request with the same blocks; it passes a new id for each reply. */
export function createFixedReplyPort(reply: (id: string) => readonly AssistantBlock[]): ModelPort {
  return { name: 'check', stream: ({ model }) => playBlocks(model, reply(crypto.randomUUID())) };
}
