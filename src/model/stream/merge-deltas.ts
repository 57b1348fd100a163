import type { ModelEvent, ModelOutcome, ModelPort } from '../../contracts/model.ts';
import { ABORTED_FAILURE } from './failures.ts';

/** Wraps a port so that the deltas of a reply are merged: what handles an event costs far more than its text. */
export function withMergedDeltas(port: ModelPort, intervalMs: number): ModelPort {
  return {
    ...port,
    stream: (request, options, signal) => mergeDeltas(port.stream(request, options, signal), intervalMs),
  };
}

/** Passes deltas on at most once per interval; any other event at once, with the deltas before it. */
async function* mergeDeltas(
  source: AsyncGenerator<ModelEvent, ModelOutcome>,
  intervalMs: number,
): AsyncGenerator<ModelEvent, ModelOutcome> {
  let waiting: ModelEvent[] = [];
  let isDue = false;
  let hasEnded = false;
  let passedAt = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wakeReader = () => {};
  const release = () => {
    isDue = true;
    wakeReader();
  };

  async function readSource(): Promise<ModelOutcome> {
    for (;;) {
      const step = await source.next();
      if (step.done === true) return step.value;
      const merged = mergeDelta(waiting.at(-1), step.value);
      if (merged === undefined) waiting.push(step.value);
      else waiting[waiting.length - 1] = merged;
      if (isDelta(step.value)) timer ??= setTimeout(release, Math.max(0, passedAt + intervalMs - performance.now()));
      else release();
    }
  }

  const reading = readSource().finally(() => {
    hasEnded = true;
    release();
  });
  // Awaited below, after the events before the error.
  reading.catch(() => undefined);
  try {
    while (!hasEnded || waiting.length > 0) {
      if (!isDue) {
        await new Promise<void>((resolve) => {
          wakeReader = resolve;
        });
      }
      isDue = false;
      clearTimeout(timer);
      timer = undefined;
      passedAt = performance.now();
      const events = waiting;
      waiting = [];
      for (const event of events) yield event;
    }
    return await reading;
  } finally {
    clearTimeout(timer);
    // Not awaited: it resolves after the next event, for which nothing waits any more.
    void source.return({ ok: false, failure: ABORTED_FAILURE });
  }
}

function isDelta({ type }: ModelEvent): boolean {
  return type === 'text_delta' || type === 'thinking_delta' || type === 'input_delta';
}

/** Appends a delta to the event before it; `undefined` unless both are deltas of the same kind and block. */
export function mergeDelta(last: ModelEvent | undefined, event: ModelEvent): ModelEvent | undefined {
  if (event.type === 'input_delta' && last?.type === 'input_delta' && last.index === event.index)
    return { ...last, json: last.json + event.json };
  if (event.type === 'text_delta' && last?.type === 'text_delta' && last.index === event.index)
    return { ...last, text: last.text + event.text };
  if (event.type === 'thinking_delta' && last?.type === 'thinking_delta' && last.index === event.index)
    return { ...last, text: last.text + event.text };
  return undefined;
}
