/** One content block as the API would send it. */
export type ApiBlock = { readonly type: string; readonly [key: string]: unknown };

/** The scripted response to a request. */
export type ApiReply = {
  readonly kind: 'reply';
  readonly blocks: readonly ApiBlock[];
  readonly stop: string | undefined;
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cache_read_input_tokens: number;
    readonly cache_creation_input_tokens: number;
  };
  /** Characters per delta; absent: 20, and more in a text that would be over a hundred deltas. */
  readonly chunk: number | undefined;
  /** Pause before each event. */
  readonly delayMs: number;
  readonly faults: readonly StreamFault[];
  /** The content the provider removed from the request. */
  readonly cleared?: { readonly cleared_tool_uses: number; readonly cleared_input_tokens: number };
};

/** A position in a stream: a number of events, or the name of the event before which it is. */
export type StreamPosition = number | string;

/** Something that goes wrong, or is merely odd, while a reply streams. */
export type StreamFault =
  /** The socket is destroyed, or the body ends. */
  | { readonly at: StreamPosition; readonly do: 'cut' | 'end' }
  /** Waits for the gate; pings meanwhile when asked. */
  | {
      readonly at: StreamPosition;
      readonly do: 'wait';
      readonly until: Promise<unknown>;
      readonly pings: 'pings' | 'silence';
    }
  | { readonly at: StreamPosition; readonly do: 'send'; readonly event: string; readonly data: unknown }
  /** Bytes that are no event. */
  | { readonly at: StreamPosition; readonly do: 'write'; readonly text: string }
  /** The socket stays open after the last event. */
  | { readonly at: StreamPosition; readonly do: 'keep-open' };

export type ApiTurn =
  | ApiReply
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly type: string;
      readonly message: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'raw'; readonly status: number; readonly contentType: string; readonly body: string }
  /** Comes when the promise is kept or the milliseconds are over; no byte before. */
  | { readonly kind: 'later'; readonly until: Promise<unknown> | number; readonly turn: ApiTurn }
  | { readonly kind: 'reset' }
  | { readonly kind: 'hang' };

const USAGE = { input_tokens: 25, output_tokens: 12, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };

export type ReplyOptions = Partial<Pick<ApiReply, 'stop' | 'chunk' | 'delayMs' | 'faults' | 'cleared'>> & {
  readonly usage?: Partial<ApiReply['usage']>;
};

export function reply(blocks: readonly ApiBlock[], options: ReplyOptions = {}): ApiReply {
  const calls = blocks.some((block) => block.type === 'tool_use');
  return {
    kind: 'reply',
    blocks,
    stop: 'stop' in options ? options.stop : calls ? 'tool_use' : 'end_turn',
    usage: { ...USAGE, ...options.usage },
    chunk: options.chunk,
    delayMs: options.delayMs ?? 0,
    faults: options.faults ?? [],
    ...(options.cleared && { cleared: options.cleared }),
  };
}

/** A reply with one text. */
export const says = (words: string, options?: ReplyOptions) => reply([text(words)], options);
export const calls = (...blocks: readonly ApiBlock[]) => reply(blocks);

export const text = (words: string): ApiBlock => ({ type: 'text', text: words });
export const thinking = (words: string, signature = btoa(encodeURIComponent(words))): ApiBlock => ({
  type: 'thinking',
  thinking: words,
  signature,
});
export const redactedThinking = (data = 'opaque'): ApiBlock => ({ type: 'redacted_thinking', data });
export const toolUse = (
  name: string,
  input: object,
  id = `toolu_${crypto.randomUUID().replaceAll('-', '')}`,
): ApiBlock => ({ type: 'tool_use', id, name, input });
/** A call with truncated input. */
export const brokenToolUse = (
  name: string,
  json: string,
  id = `toolu_${crypto.randomUUID().replaceAll('-', '')}`,
): ApiBlock => ({ type: 'tool_use', id, name, input: {}, json });

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'api_error',
  529: 'overloaded_error',
};

const WORDS: Readonly<Record<number, string>> = {
  401: 'invalid x-api-key',
  403: 'Your API key does not have permission to use the specified resource.',
  404: 'model: no-such-model',
  413: 'Request exceeds the maximum size',
  429: 'This request would exceed your rate limit',
  500: 'Internal server error',
  503: 'Service unavailable',
  529: 'Overloaded',
};

/** An error response with the body of the API. */
export function status(
  code: number,
  message = WORDS[code] ?? 'bad request',
  headers: Readonly<Record<string, string>> = {},
): ApiTurn {
  return { kind: 'error', status: code, type: TYPES[code] ?? 'api_error', message, headers };
}

/** A response that is delayed, headers included. */
export const delayed = (until: Promise<unknown> | number, turn: ApiTurn): ApiTurn => ({ kind: 'later', until, turn });

export const promptTooLong = (tokens = 210_000, limit = 200_000) =>
  status(400, `prompt is too long: ${tokens} tokens > ${limit} maximum`);
export const refusedSignature = () => status(400, 'messages.1.content.0: Invalid `signature` in `thinking` block');
export const htmlError = (code = 502): ApiTurn => ({
  kind: 'raw',
  status: code,
  contentType: 'text/html',
  body: '<html><body><h1>Bad Gateway</h1></body></html>',
});
export const plainError = (code: number, body = 'Bad Request'): ApiTurn => ({
  kind: 'raw',
  status: code,
  contentType: 'text/plain',
  body,
});
export const json = (body: object, code = 200): ApiTurn => ({
  kind: 'raw',
  status: code,
  contentType: 'application/json',
  body: JSON.stringify(body),
});
export const reset = (): ApiTurn => ({ kind: 'reset' });
export const hang = (): ApiTurn => ({ kind: 'hang' });
