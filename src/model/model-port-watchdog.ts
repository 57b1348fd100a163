import type { AssistantBlock, AssistantMessage, Usage } from '../contracts/message.ts';
import type { ModelEvent, ModelFailure, ModelOutcome, ModelPort, ModelRequest } from '../contracts/model.ts';

/** An attempt of a custom port ends when it yields nothing for this long, unless the model has its own `timeoutMs`. */
const DEFAULT_IDLE_MS = 300_000;
/** Time an aborted port has to return what it has. */
const ABORT_GRACE_MS = 100;

const INTERRUPTED: ModelFailure = { kind: 'aborted', message: 'Interrupted.' };

/**
 * Wraps a custom port so that no run waits for it forever: it is abandoned after an abort, and when it is silent for
 * too long. Fields that its outcome lacks are filled in.
 */
export function guardModelPort(port: ModelPort): ModelPort {
  return {
    ...port,
    async *stream(request, options, signal) {
      const name = nameOf(port, request);
      const stop = new AbortController();
      const events = port.stream(request, options, AbortSignal.any([signal, stop.signal]));
      if (typeof events?.next !== 'function') return invalid(name, 'stream() must be an async generator');
      const idleMs = options.timeoutMs ?? DEFAULT_IDLE_MS;
      const grace = createAbortGrace(signal);
      const blocks: AssistantBlock[] = [];
      let hasStarted = false;
      try {
        for (;;) {
          const step = await waitForStep(events.next(), idleMs, grace);
          if (step === 'aborted') return { ok: false, failure: INTERRUPTED };
          if (step === 'silent') {
            const message = `${name} sent nothing for ${idleMs / 1_000} s.`;
            return { ok: false, failure: { kind: 'stalled', message } };
          }
          if (step.done === true) {
            const outcome = completeOutcome(step.value, name, request, blocks);
            if (outcome.ok && blocks.length === 0) yield* emitBlocks(outcome.message, hasStarted);
            return outcome;
          }
          const event: unknown = step.value;
          if (!isEvent(event)) return invalid(name, `stream() yielded ${describeValue(event)}, which is not an event`);
          if (event.type === 'block_end') blocks.push(event.block);
          if (event.type === 'message_start') hasStarted = true;
          if (event.type === 'discarded') blocks.length = 0;
          yield event.type === 'message_start' ? { ...NO_START, ...event } : event;
        }
      } finally {
        grace.end();
        stop.abort();
        // Not awaited: a generator that waits for something else cannot return yet.
        void events.return?.({ ok: false, failure: INTERRUPTED })?.catch(() => undefined);
      }
    },
  };
}

/** Wraps a port so that it is abandoned after an abort, whatever it waits for. */
export function abandonPortOnAbort(port: ModelPort): ModelPort {
  return {
    ...port,
    async *stream(request, options, signal) {
      const events = port.stream(request, options, signal);
      const grace = createAbortGrace(signal);
      try {
        for (;;) {
          const step = await waitForStep(events.next(), undefined, grace);
          if (step === 'aborted' || step === 'silent') return { ok: false, failure: INTERRUPTED };
          if (step.done === true) return step.value;
          yield step.value;
        }
      } finally {
        grace.end();
      }
    },
  };
}

type Step = IteratorResult<ModelEvent, ModelOutcome>;

/** The time after an abort, which begins once however many events a port goes on to yield. */
type AbortGrace = {
  hasEnded(): boolean;
  /** Called when the time is over; replaces the earlier listener. */
  onEnd: () => void;
  end(): void;
};

function createAbortGrace(signal: AbortSignal): AbortGrace {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let endsAt = Number.POSITIVE_INFINITY;
  const grace: AbortGrace = {
    // A port that never waits leaves the timer no time.
    hasEnded: () => performance.now() >= endsAt,
    onEnd: () => undefined,
    end() {
      clearTimeout(timer);
      signal.removeEventListener('abort', begin);
    },
  };
  function begin(): void {
    endsAt = performance.now() + ABORT_GRACE_MS;
    timer = setTimeout(() => grace.onEnd(), ABORT_GRACE_MS);
  }
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return grace;
}

/** Waits for a step, at most until the time after an abort is over, or for so many milliseconds. */
function waitForStep(
  next: Promise<Step>,
  idleMs: number | undefined,
  grace: AbortGrace,
): Promise<Step | 'aborted' | 'silent'> {
  return new Promise((resolve, reject) => {
    const idle = idleMs === undefined ? undefined : setTimeout(() => end('silent'), idleMs);
    const end = (result: Step | 'aborted' | 'silent') => {
      clearTimeout(idle);
      resolve(result);
    };
    grace.onEnd = () => end('aborted');
    if (grace.hasEnded()) end('aborted');
    next.then(end, (thrown) => {
      clearTimeout(idle);
      reject(thrown);
    });
  });
}

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const NO_START = { usage: NO_USAGE, messageId: '', model: '' };

/** Fills in what the outcome of a port lacks: the usage, the stop reason, and the message from the blocks it sent. */
function completeOutcome(
  outcome: unknown,
  name: string,
  { model }: ModelRequest,
  sent: readonly AssistantBlock[],
): ModelOutcome {
  if (!isPartialOutcome(outcome)) return invalid(name, `stream() returned ${describeValue(outcome)}, not { ok, … }`);
  if (!outcome.ok) {
    const given = typeof outcome.failure === 'string' ? { message: outcome.failure } : outcome.failure;
    if (typeof given !== 'object' || given === null)
      return invalid(name, 'a failed outcome needs failure: { kind, message }');
    const failure: ModelFailure = { kind: 'server', message: `${name} failed.`, ...given };
    return { ...outcome, ok: false, failure };
  }
  const given = typeof outcome.message === 'string' ? toTextMessage(outcome.message) : outcome.message;
  const { blocks = sent, ...rest } = given ?? {};
  if (!Array.isArray(blocks)) return invalid(name, 'the blocks of its message are not a list');
  const unknown = blocks.findIndex((block) => typeof block?.type !== 'string');
  if (unknown !== -1) return invalid(name, `block ${unknown} of its message is not a { type, … }`);
  const message: AssistantMessage = { id: '', model, ...rest, role: 'assistant', blocks };
  const hasCalls = blocks.some(({ type }) => type === 'tool_use');
  const { stopReason = hasCalls ? 'tool_use' : 'end_turn' } = outcome;
  return { ok: true, message, stopReason, usage: { ...NO_USAGE, ...outcome.usage } };
}

/** Emits the blocks of a reply that came as a whole. */
function* emitBlocks({ blocks, model }: AssistantMessage, hasStarted: boolean): Generator<ModelEvent> {
  if (!hasStarted) yield { type: 'message_start', ...NO_START, model };
  for (const [index, block] of blocks.entries()) {
    yield { type: 'block_start', index, kind: block.type };
    if (block.type === 'text') yield { type: 'text_delta', index, text: block.text };
    yield { type: 'block_end', index, block };
  }
}

type PartialOutcome =
  | {
      readonly ok: true;
      /** A text counts as a message with one block. */
      readonly message?: Partial<AssistantMessage> | string;
      readonly stopReason?: string;
      readonly usage?: Partial<Usage>;
    }
  | { readonly ok: false; readonly failure?: Partial<ModelFailure> | string; readonly partial?: AssistantMessage };

function isPartialOutcome(outcome: unknown): outcome is PartialOutcome {
  return typeof outcome === 'object' && outcome !== null && 'ok' in outcome && typeof outcome.ok === 'boolean';
}

function isEvent(event: unknown): event is ModelEvent {
  return typeof event === 'object' && event !== null && 'type' in event && typeof event.type === 'string';
}

function toTextMessage(text: string): Partial<AssistantMessage> {
  return { blocks: [{ type: 'text', text }] };
}

/** Returns the name of a port; one of an untyped caller may have none. */
function nameOf({ name }: Partial<ModelPort>, { model }: ModelRequest): string {
  return name ?? model;
}

function invalid(name: string, problem: string): ModelOutcome {
  return { ok: false, failure: { kind: 'invalid', message: `The port ${name} is not usable: ${problem}.` } };
}

function describeValue(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'another object' : `a ${typeof value}`;
}
