import {
  type ApiBlock,
  type ApiReply,
  type ApiTurn,
  reply,
  type StreamFault,
  type StreamPosition,
  status,
  text,
} from './reply.ts';

/** Too many requests; the headers contain the time to wait. */
export function rateLimited(retryAfterSeconds?: number): ApiTurn {
  const reset = new Date(Date.now() + (retryAfterSeconds ?? 60) * 1000).toISOString();
  return status(429, 'This request would exceed your rate limit', {
    'anthropic-ratelimit-requests-remaining': '0',
    'anthropic-ratelimit-requests-reset': reset,
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  });
}

export const overloaded = (): ApiTurn => status(529);
export const imageTooLarge = (): ApiTurn =>
  status(400, 'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes');
export const unreadableImage = (): ApiTurn =>
  status(400, 'messages.0.content.1.image.source.base64.data: Could not process image');

export const disconnectAt = (at: StreamPosition): StreamFault => ({ at, do: 'cut' });
/** The body ends cleanly, too early. */
export const endBodyAt = (at: StreamPosition): StreamFault => ({ at, do: 'end' });
export const stallAt = (at: StreamPosition, until: Promise<unknown>): StreamFault => ({
  at,
  do: 'wait',
  until,
  pings: 'silence',
});
export const sendPingsAt = (at: StreamPosition, until: Promise<unknown>): StreamFault => ({
  at,
  do: 'wait',
  until,
  pings: 'pings',
});
export const keepOpenAfterEnd = (): StreamFault => ({ at: 0, do: 'keep-open' });
/** Bytes that are not an event of this API. */
export const sendGarbageAt = (
  at: StreamPosition,
  bytes = 'event: content_block_delta\ndata: {"type":"content_\n\n',
): StreamFault => ({
  at,
  do: 'write',
  text: bytes,
});
/** An error in the middle of a stream, which ends there. */
export const errorAt = (
  at: StreamPosition,
  type = 'overloaded_error',
  message = 'Overloaded',
): readonly StreamFault[] => [
  { at, do: 'send', event: 'error', data: { type: 'error', error: { type, message } } },
  { at, do: 'end' },
];
/** An event and a delta of unknown types. */
export const sendUnknownEventsAt = (at: StreamPosition, index = 0): readonly StreamFault[] => [
  { at, do: 'send', event: 'weather_report', data: { type: 'weather_report', sky: 'clear' } },
  {
    at,
    do: 'send',
    event: 'content_block_delta',
    data: { type: 'content_block_delta', index, delta: { type: 'scent_delta', scent: 'pine' } },
  },
];

export const refusalReply = (words = ''): ApiReply => reply(words === '' ? [] : [text(words)], { stop: 'refusal' });
export const pausedReply = (...blocks: readonly ApiBlock[]): ApiReply => reply(blocks, { stop: 'pause_turn' });
export const maxTokensReply = (...blocks: readonly ApiBlock[]): ApiReply => reply(blocks, { stop: 'max_tokens' });
export const windowExceededReply = (...blocks: readonly ApiBlock[]): ApiReply =>
  reply(blocks, { stop: 'model_context_window_exceeded' });
export const emptyReply = (): ApiReply => reply([]);
