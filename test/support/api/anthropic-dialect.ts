import type { Dialect } from './dialect.ts';
import { eventsOf, messageOf } from './events.ts';
import { refusedCredentials, violationOf } from './validate-request.ts';

const MODELS = ['claude-opus-4-6', 'claude-sonnet-4-6', 'claude-haiku-4-5'];

/** The Messages API. */
export const ANTHROPIC_DIALECT: Dialect = {
  isConversation: (method, path) => method === 'POST' && /\/v1\/messages(\?|$)/.test(path),
  lookUp(method, path, raw) {
    if (method === 'POST' && /\/v1\/messages\/count_tokens(\?|$)/.test(path))
      return { input_tokens: Math.ceil(raw.length / 4) };
    if (method !== 'GET') return undefined;
    const [, rest] = /\/v1\/models(\/[^?]+)?(?:\?|$)/.exec(path) ?? [undefined, undefined];
    if (rest !== undefined) return MODELS.includes(rest.slice(1)) ? modelCard(rest.slice(1)) : undefined;
    return /\/v1\/models(\?|$)/.test(path)
      ? { data: MODELS.map(modelCard), has_more: false, first_id: MODELS[0], last_id: MODELS.at(-1) }
      : undefined;
  },
  refusedCredentials,
  violationOf,
  eventsOf: (reply, id, body) => eventsOf(reply, id, String(body.model)),
  frame: ({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
  ping: 'event: ping\ndata: {"type":"ping"}\n\n',
  messageOf: (reply, id, body) => messageOf(reply, id, String(body.model)),
  errorBody: ({ type, message }, requestId) => ({ type: 'error', error: { type, message }, request_id: requestId }),
};

const modelCard = (id: string) => ({ type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' });
