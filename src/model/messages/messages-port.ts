import type { JsonObject } from '../../contracts/json.ts';
import type { ModelFailure, ModelPort, ModelRequest } from '../../contracts/model.ts';
import { modelInfo } from '../catalog.ts';
import type { ModelAttempt, Patience } from '../wire/attempt.ts';
import type { WireReader } from '../wire/read-reply.ts';
import { failureOfThrown } from '../wire/stream-failures.ts';
import { toWire } from '../wire/to-wire.ts';
import { numberOf, objectOf, parseJson } from '../wire/wire-json.ts';
import { createWirePort } from '../wire/wire-port.ts';
import { createLessons, type Lesson } from './lessons.ts';
import type { MessagesService, MessagesSettings } from './messages-service.ts';

const EDITING_BETA = 'context-management-2025-06-27';
const DEFAULT_PATIENCE: Patience = { headerTimeoutMs: 120_000, idleTimeoutMs: 60_000 };

/** The Messages API of a place, one try per stream: repeating is the business of `withRetry`. */
export function createMessagesPort(service: MessagesService, settings: MessagesSettings): ModelPort {
  const sender = createSender(service, settings);
  return {
    ...createWirePort(
      {
        name: service.name,
        patience: DEFAULT_PATIENCE,
        prepare: () => service.client(''),
        open: sender.open,
        readerFor: () => READER,
      },
      settings.patience,
    ),
    ...(service.countsTokens && { countTokens: sender.count }),
  };
}

/** Sends requests as the place takes them, and learns from what it refuses. */
function createSender(service: MessagesService, settings: MessagesSettings) {
  const { infoOf = modelInfo } = settings;
  const { bodyFor = (body) => body } = service;
  const lessons = createLessons(service, settings);

  async function post(path: string, body: JsonObject, request: ModelRequest, signal: AbortSignal, key?: string) {
    const own = body.context_management === undefined ? [] : [EDITING_BETA];
    const asked = lessons.betas([...(settings.betas ?? []), ...(request.betas ?? [])]);
    const betas = [...new Set([...asked, ...own])];
    const client = await service.client(request.model, key);
    const headers = {
      ...(betas.length > 0 && { 'anthropic-beta': betas.join(',') }),
      ...(await service.headers(key)),
    };
    const taken = bodyFor(lessons.body(body));
    return client.post(path, { body: taken, headers, signal, stream: body.stream === true }).asResponse();
  }

  async function send(
    request: ModelRequest,
    key: string | undefined,
    attempt: ModelAttempt,
  ): Promise<Response | ModelFailure> {
    try {
      return await post('/v1/messages', toWire(request, infoOf(request.model)), request, attempt.signal, key);
    } catch (thrown) {
      return attempt.endedBy() ?? failureOfThrown(thrown, service.address(request.model));
    }
  }

  /** Sends the request once more after each lesson that is new. */
  async function open(...[request, key, attempt]: Parameters<typeof send>): ReturnType<typeof send> {
    const learnt = new Set<Lesson>();
    while (true) {
      const response = await send(request, key, attempt);
      try {
        const lesson = attempt.endedBy() ? undefined : await lessons.learn(response);
        if (lesson === undefined || learnt.has(lesson)) return response;
        learnt.add(lesson);
      } catch (thrown) {
        // Why there are no other credentials says more than that these are refused.
        return failureOfThrown(thrown, service.address(request.model));
      }
    }
  }

  async function count(request: ModelRequest, signal: AbortSignal): Promise<number | undefined> {
    const {
      max_tokens: _max,
      stream: _stream,
      metadata: _user,
      context_management: _edits,
      ...body
    } = toWire(request, infoOf(request.model));
    try {
      const response = await post('/v1/messages/count_tokens', body, request, signal);
      return numberOf(objectOf(parseJson(await response.text()))?.input_tokens);
    } catch {
      // A count is a convenience: whoever asked goes on with an estimate.
      return undefined;
    }
  }

  return { open, count };
}

/** The Messages API speaks our language already; an `error` event may be no JSON at all. */
const READER: WireReader = {
  read({ name, data }) {
    const event = objectOf(parseJson(data));
    if (name === 'error') return [{ ...event, type: 'error' }];
    return event ? [event] : [];
  },
  end: () => [],
};
