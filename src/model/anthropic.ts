import { randomUUID } from 'node:crypto';
import type { Anthropic } from '@anthropic-ai/sdk/client';
import type { JsonObject } from '../contracts/json.ts';
import type { ModelEvent, ModelFailure, ModelInfo, ModelOutcome, ModelPort, ModelRequest } from '../contracts/model.ts';
import { type Attempt, DEFAULT_PATIENCE, type Patience, startAttempt } from './attempt.ts';
import { modelInfo } from './catalog.ts';
import { type Accumulator, createAccumulator } from './from-wire.ts';
import type { ServerEvent } from './server-events.ts';
import { ABORTED, CUT, failureOfErrorEvent, failureOfThrown } from './stream-failures.ts';
import { addressOf, streamResponse } from './stream-response.ts';
import { toWire } from './to-wire.ts';
import { numberOf, objectOf, parseJson } from './wire-json.ts';

/** What it takes to talk to the Messages API, or to a gateway that speaks it. */
export type AnthropicSettings = {
  readonly credentials: { readonly apiKey: string | (() => Promise<string>) } | { readonly authToken: string };
  readonly baseUrl?: string;
  readonly betas?: readonly string[];
  readonly patience?: Partial<Patience>;
  readonly fetch?: typeof fetch;
  readonly infoOf?: (model: string) => ModelInfo;
};

const DEFAULT_BASE_URL = 'https://api.anthropic.com';

/** The Messages API, one try per stream: repeating is the business of `withRetry`. */
export function createAnthropicPort(settings: AnthropicSettings): ModelPort {
  const baseUrl = settings.baseUrl ?? DEFAULT_BASE_URL;
  const patience = { ...DEFAULT_PATIENCE, ...settings.patience };
  const infoOf = settings.infoOf ?? modelInfo;
  let loading: Promise<Anthropic> | undefined;

  function client(): Promise<Anthropic> {
    loading ??= loadClient(settings, baseUrl);
    return loading;
  }

  async function post(path: string, body: JsonObject, request: ModelRequest, signal: AbortSignal) {
    const betas = [...new Set([...(settings.betas ?? []), ...(request.betas ?? [])])];
    const headers = betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {};
    return (await client()).post(path, { body, headers, signal, stream: body.stream === true }).asResponse();
  }

  async function open(request: ModelRequest, attempt: Attempt): Promise<Response | ModelFailure> {
    try {
      return await post('/v1/messages', toWire(request, infoOf(request.model)), request, attempt.signal);
    } catch (thrown) {
      return attempt.endedBy() ?? failureOfThrown(thrown, addressOf(baseUrl));
    }
  }

  return {
    name: 'anthropic',
    async *stream(request, options, signal) {
      if (signal.aborted) return { ok: false, failure: ABORTED };
      const limits = options.timeoutMs === undefined ? patience : { ...patience, totalTimeoutMs: options.timeoutMs };
      const attempt = startAttempt(limits, signal);
      try {
        const opening = open(request, attempt);
        yield { type: 'request_sent', attempt: 1 };
        const response = await opening;
        if (!(response instanceof Response)) return { ok: false, failure: response };
        const reply = createAccumulator(request.model, () => `msg_${randomUUID()}`);
        const events = streamResponse(response, attempt);
        return yield* readReply(events, { reply, attempt, raw: options.partial ? 'told' : 'kept' });
      } finally {
        attempt.close();
      }
    },
    async countTokens(request, signal) {
      const { max_tokens: _max, stream: _stream, metadata: _user, ...body } = toWire(request, infoOf(request.model));
      try {
        const response = await post('/v1/messages/count_tokens', body, request, signal);
        return numberOf(objectOf(parseJson(await response.text()))?.input_tokens);
      } catch {
        // A count is a convenience: whoever asked goes on with an estimate.
        return undefined;
      }
    },
  };
}

type Reading = { readonly reply: Accumulator; readonly attempt: Attempt; readonly raw: 'told' | 'kept' };

async function* readReply(
  events: AsyncGenerator<ServerEvent, ModelFailure | undefined>,
  { reply, attempt, raw }: Reading,
): AsyncGenerator<ModelEvent, ModelOutcome> {
  const fail = (failure: ModelFailure): ModelOutcome => {
    const partial = reply.message();
    return partial ? { ok: false, failure, partial } : { ok: false, failure };
  };
  try {
    while (true) {
      const next = await events.next();
      const ended = attempt.endedBy();
      if (ended) return fail(ended);
      if (next.done) return fail(next.value ?? CUT);
      const { name, data } = next.value;
      const event = objectOf(parseJson(data));
      if (name === 'error' || event?.type === 'error') return fail(failureOfErrorEvent(data));
      if (!event) continue;
      if (raw === 'told' && event.type !== 'ping') yield { type: 'raw', event };
      const step = reply.push(event);
      if (step.progress) attempt.progressed();
      yield* step.events;
      if (reply.isStopped()) return complete(reply);
    }
  } finally {
    // Also when the reader left early: the body must not be read on.
    await events.return(undefined);
  }
}

function complete(reply: Accumulator): ModelOutcome {
  const message = reply.message();
  if (!message) return { ok: false, failure: CUT };
  const stopReason = reply.stopReason() ?? 'end_turn';
  return { ok: true, message: { ...message, stopReason }, stopReason, usage: reply.usage() };
}

async function loadClient(settings: AnthropicSettings, baseUrl: string): Promise<Anthropic> {
  const { Anthropic } = await import('@anthropic-ai/sdk/client');
  return new Anthropic({
    ...settings.credentials,
    baseURL: baseUrl,
    maxRetries: 0,
    // The clocks are ours, and so is everything written to the terminal.
    timeout: 2_147_483_647,
    logLevel: 'off',
    openTelemetry: false,
    // A redirect would contact a host nobody configured.
    fetchOptions: { redirect: 'manual' },
    ...(settings.fetch && { fetch: settings.fetch }),
  });
}
