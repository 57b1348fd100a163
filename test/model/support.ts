import type { ModelEvent, ModelOutcome, ModelPort, ModelRequest, StreamOptions } from '../../src/contracts/model.ts';

/** A request that asks for one word. */
export const REQUEST: ModelRequest = {
  model: 'claude-sonnet-4-5',
  maxOutputTokens: 1000,
  system: [{ name: 'base', text: 'You help.' }],
  tools: [],
  messages: [{ role: 'user', blocks: [{ type: 'text', text: 'Hello' }] }],
  breakpoints: [],
  effort: 'off',
};

const USAGE = { inputTokens: 3, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** A finished reply of one text. */
export function reply(text: string): Extract<ModelOutcome, { ok: true }> {
  const message = { role: 'assistant', id: 'm', model: 'x', blocks: [{ type: 'text', text }] } as const;
  return { ok: true, message, stopReason: 'end_turn', usage: USAGE };
}

type How = {
  readonly request?: ModelRequest;
  readonly options?: Partial<StreamOptions>;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: ModelEvent) => void;
};

/** Reads a stream to its end. */
export async function drain(port: ModelPort, how: How = {}) {
  const options: StreamOptions = { restartable: () => true, overloadLimit: 3, ...how.options };
  const stream = port.stream(how.request ?? REQUEST, options, how.signal ?? new AbortController().signal);
  const events: ModelEvent[] = [];
  while (true) {
    const next = await stream.next();
    if (next.done) return { events, outcome: next.value };
    events.push(next.value);
    how.onEvent?.(next.value);
  }
}
