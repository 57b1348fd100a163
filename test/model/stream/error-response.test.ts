import { describe, expect, test } from 'vitest';
import { MODEL_FAILURE_KINDS } from '../../../src/contracts/model.ts';
import { classifyErrorResponse, isRetryable } from '../../../src/model/stream/error-response.ts';
import { classifyErrorEvent, classifyThrown } from '../../../src/model/stream/failures.ts';

function answer(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return classifyErrorResponse({ status, body: text, header: (name) => headers[name] });
}

function apiError(type: string, message = 'words') {
  return { type: 'error', error: { type, message } };
}

describe('classifyResponse', () => {
  test.each([
    [400, apiError('invalid_request_error'), 'invalid'],
    [400, apiError('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'), 'too_long'],
    [400, apiError('invalid_request_error', 'input length and `max_tokens` exceed context limit'), 'too_long'],
    [400, apiError('invalid_request_error', 'image exceeds 5 MB maximum: 6 MB > 5 MB'), 'media_too_large'],
    [400, apiError('invalid_request_error', 'A maximum of 100 PDF pages may be provided'), 'media_too_large'],
    [400, apiError('invalid_request_error', 'max_tokens: 90000 > 64000, which is the maximum allowed'), 'output_limit'],
    [401, apiError('authentication_error', 'invalid x-api-key'), 'auth'],
    [401, { error: { type: 'invalid_request_error', code: 'invalid_api_key', message: 'no' } }, 'auth'],
    [402, apiError('billing_error'), 'no_credit'],
    [402, 'Payment Required', 'no_credit'],
    [400, apiError('invalid_request_error', 'Your credit balance is too low to access the API.'), 'no_credit'],
    [403, apiError('billing_error'), 'no_credit'],
    [403, apiError('permission_error'), 'auth'],
    [404, apiError('not_found_error', 'model: gpt'), 'not_found'],
    [408, '', 'server'],
    [421, '', 'server'],
    [409, '', 'server'],
    [413, apiError('request_too_large'), 'too_long'],
    [429, apiError('rate_limit_error'), 'rate_limited'],
    [429, { error: { code: 'insufficient_quota', message: 'pay' } }, 'no_credit'],
    [500, apiError('api_error'), 'server'],
    [502, '<html><title>Bad Gateway</title></html>', 'server'],
    [500, { error: { message: 'image input is not supported' } }, 'invalid'],
    [503, '', 'server'],
    [529, apiError('overloaded_error'), 'overloaded'],
    [400, { error: { code: 'context_length_exceeded', message: 'This model has a limit' } }, 'too_long'],
    [400, { error: { type: 'exceed_context_size_error', message: 'the request exceeds' } }, 'too_long'],
    [400, { error: 'something plain' }, 'invalid'],
    [429, { error: { type: 'engine_overloaded_error', message: 'busy' } }, 'overloaded'],
    [429, { error: { type: 'exceeded_current_quota_error', message: 'pay' } }, 'no_credit'],
    [400, [{ error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } }], 'auth'],
    [503, { error: { code: 503, message: 'Try later.', status: 'UNAVAILABLE' } }, 'overloaded'],
    [403, { message: 'no access', type: 'not_found_error', code: 'model_not_found' }, 'not_found'],
    [410, { message: 'The model is gone' }, 'not_found'],
  ])('%i %j is %s', (status, body, kind) => {
    expect(answer(status, body).kind).toBe(kind);
  });

  test.each([400, 401, 402, 403, 404, 405, 410, 413, 415, 422])(
    'a final status (%i) is never retried, whatever its type',
    (status) => {
      const types = [
        'api_error',
        'server_error',
        'overloaded_error',
        'rate_limit_error',
        'timeout_error',
        'UNAVAILABLE',
      ];
      for (const type of types) {
        for (const body of [apiError(type), { error: { code: type, message: '' } }, { type, message: 'words' }]) {
          expect(isRetryable(answer(status, body))).toBe(false);
        }
      }
    },
  );

  test.each([
    [400, 'Bad Request', true],
    [400, '', true],
    [404, '<html><title>Not Found</title></html>', true],
    [405, 'Method Not Allowed', true],
    [404, { error: { message: 'model "x" not found' } }, undefined],
    [400, 'Failed to load image', undefined],
    [400, 'the prompt exceeds n_ctx', undefined],
    [502, '<html><title>Bad Gateway</title></html>', undefined],
  ])('%i %j is foreign: %s', (status, body, isForeign) => {
    expect(answer(status, body).isForeign).toBe(isForeign);
  });

  test('the message inside an envelope is shown', () => {
    const metadata = { raw: '{"error":"tokenizer is missing"}', provider_name: 'p' };
    expect([
      answer(404, { error: { message: 'model "x" not found', type: 'api_error', param: null, code: null } }).message,
      answer(502, { error: { message: 'Provider returned error', code: 502, metadata } }).message,
      answer(401, { detail: 'Unauthorized' }).message,
      answer(422, { object: 'error', message: { detail: [{ loc: ['body', 'top_k'], msg: 'Extra inputs' }] } }).message,
    ]).toEqual([
      'The API has no such model or address (404): model "x" not found. Check the model name and the base URL.',
      'The API had an internal error (502): Provider returned error: {"error":"tokenizer is missing"}.',
      'The API refused the credentials (401): Unauthorized. Check the API key and its permissions.',
      'The API refused the request (422): body.top_k: Extra inputs.',
    ]);
  });

  test('a refused signature and a refused image are identified for recovery', () => {
    const signature = answer(
      400,
      apiError('invalid_request_error', 'messages.1.content.0: Invalid `signature` in `thinking` block'),
    );
    const image = answer(400, apiError('invalid_request_error', 'Could not process image'));
    expect([signature.refusedPart, image.refusedPart]).toEqual(['signature', 'image']);
  });

  test.each([
    [422, '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens', 'too_long'],
    [500, 'the prompt exceeds n_ctx', 'too_long'],
    [400, 'Please reduce the length of the messages.', 'too_long'],
    [400, 'Range of input length should be [1, 129024]', 'too_long'],
    [400, 'Your request exceeded model token limit: 131072 (requested: 140000)', 'too_long'],
    [400, 'Input length 40000 exceeds the maximum length 32768', 'too_long'],
    [400, 'tokens in the prompt exceed the limit', 'too_long'],
    [400, 'The request body is too large', 'too_long'],
    [403, 'You have run out of credits', 'no_credit'],
    [429, 'insufficient balance (1008)', 'no_credit'],
    [400, 'Your account is not active, please check your billing details.', 'no_credit'],
    [429, 'You exceeded your current quota, please check your plan and billing details.', 'rate_limited'],
    [400, 'Unable to process input image. Please retry or report.', 'image'],
    [400, 'Failed to load image: cannot identify image file', 'image'],
    [400, 'Provided image is not valid.', 'image'],
    [500, 'failed to process inputs: image: unknown format', 'image'],
    [404, 'No endpoints found that support image input', 'image'],
    [400, 'this model does not support multimodal requests', 'image'],
    [400, 'At most 1 image(s) may be provided in one request.', 'image'],
  ])('%i %s is known by its text: %s', (status, message, meaning) => {
    const { kind, refusedPart } = answer(status, { error: { message } });
    expect(refusedPart ?? kind).toBe(meaning);
  });

  test.each([
    ['messages.3.content.0: no', { message: 3, blocks: [0] }],
    ['messages.3.content.2.tool_result.content.1.image.source.base64.data: no', { message: 3, blocks: [2], part: 1 }],
    ['messages.3: all messages must have non-empty content', { message: 3 }],
    [
      'litellm.BadRequestError: AnthropicException - {"message":"messages.12.content.4: no"}',
      { message: 12, blocks: [4] },
    ],
    ["Invalid 'messages[7].tool_calls[1].function.name': too long", { message: 7, blocks: [1] }],
    ["Invalid type for 'messages.[2].content'", { message: 2 }],
    ['tools.5.custom.input_schema: JSON schema is invalid', { tool: 5 }],
    ["Invalid 'tools[0].function.name': no", { tool: 0 }],
    ['messages: roles must alternate', undefined],
  ])('%s names a place', (message, place) => {
    expect(answer(400, apiError('invalid_request_error', message)).refusedAt).toEqual(place);
  });

  test('a list of validation errors is shown with locations', () => {
    const loc = ['body', 'messages', 3, 'content', 0, 'text'];
    expect(answer(422, { detail: [{ loc, msg: 'Input should be a string' }] })).toMatchObject({
      kind: 'invalid',
      message: 'The API refused the request (422): body.messages.3.content.0.text: Input should be a string.',
      refusedAt: { message: 3, blocks: [0] },
    });
  });

  test('the requested delay is read in milliseconds, seconds and as a date', () => {
    const inAMinute = new Date(Date.now() + 60_000).toUTCString();
    expect(answer(429, '', { 'retry-after-ms': '250' }).retryAfterMs).toBe(250);
    expect(answer(429, '', { 'retry-after': '7' }).retryAfterMs).toBe(7000);
    expect(answer(429, '', { 'retry-after': inAMinute }).retryAfterMs).toBeGreaterThan(50_000);
    expect(answer(429, '', { 'retry-after': 'soon' }).retryAfterMs).toBeUndefined();
  });

  test.each(['-5', 'NaN', 'Infinity', '1e400', '99999999999999', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'a delay of %s is a mistake of the server',
    (delay) => {
      expect(answer(429, '', { 'retry-after': delay }).retryAfterMs).toBeUndefined();
      expect(answer(429, '', { 'retry-after-ms': delay }).retryAfterMs).toBeUndefined();
      expect(answer(429, '', { 'x-ratelimit-reset': delay }).resetsAfterMs).toBeUndefined();
    },
  );

  test.each([
    [400, 'The API refused the request (400). It gave no reason. Check the model name and the base URL.'],
    [407, 'The API refused the request (407). Add a user name and password to the address of the proxy.'],
    [
      413,
      'The conversation is too long for the model (413). Shorten the message, use /compact, or start a new session.',
    ],
    [500, 'The API had an internal error (500).'],
  ])('an empty answer with status %d is told in sentences', (status, message) => {
    expect(answer(status, '').message).toBe(message);
  });

  test('the reset time is read where there is no delay, and only of a usage limit', () => {
    const headers = { 'anthropic-ratelimit-tokens-remaining': '0', 'anthropic-ratelimit-tokens-reset': '7' };
    expect(answer(429, '', headers)).toMatchObject({ kind: 'rate_limited', resetsAfterMs: 7000 });
    expect(answer(429, '', { ...headers, 'retry-after': '1' }).resetsAfterMs).toBeUndefined();
    expect(answer(500, '', headers).resetsAfterMs).toBeUndefined();
  });

  test('the message says what happened and what to do, with the request id', () => {
    expect(answer(401, apiError('authentication_error', 'invalid x-api-key'), { 'request-id': 'req_1' })).toEqual({
      kind: 'auth',
      status: 401,
      requestId: 'req_1',
      message: 'The API refused the credentials (401): invalid x-api-key. Check the API key and its permissions.',
    });
    expect(answer(502, '<html><head><title>Bad Gateway</title></head><body>…</body></html>').message).toBe(
      'The API had an internal error (502): Bad Gateway.',
    );
  });

  test('a redirect is refused, naming its target', () => {
    expect(answer(307, '', { location: 'https://elsewhere.test/' }).message).toContain('https://elsewhere.test/');
  });
});

describe('isRetryable', () => {
  test('only temporary failures are retried', () => {
    const healing = MODEL_FAILURE_KINDS.filter((kind) => isRetryable({ kind, message: '' }));
    expect(healing).toEqual(['stalled', 'cut', 'overloaded', 'rate_limited', 'server', 'network']);
  });
});

describe('failures without an HTTP answer', () => {
  test('an overload inside the stream has no status and is recognized by its type', () => {
    expect(classifyErrorEvent(JSON.stringify(apiError('overloaded_error', 'Overloaded')))).toEqual({
      kind: 'overloaded',
      message: 'The model is overloaded: Overloaded.',
    });
    expect(classifyErrorEvent('gibberish').kind).toBe('server');
    expect(classifyErrorEvent('{"error":{"code":429,"message":"slow down"}}')).toMatchObject({ kind: 'rate_limited' });
    expect(classifyErrorEvent('{"error":{"code":401,"message":"no","type":"api_error"}}').kind).toBe('auth');
  });

  test('a failed connection names the address and the cause', () => {
    const refused = Object.assign(new Error('Connection error.'), { cause: { code: 'ECONNREFUSED' } });
    expect(classifyThrown(refused, 'http://gateway.test')).toEqual({
      kind: 'network',
      message: 'No connection to http://gateway.test (ECONNREFUSED). Check the network and the base URL.',
    });
    expect(classifyThrown(refused, 'http://127.0.0.1:1').message).toBe(
      'No connection to http://127.0.0.1:1 (ECONNREFUSED). Start the server that should answer there, or correct the base URL.',
    );
  });

  test('an untrusted certificate is final and names the variable to set', () => {
    const untrusted = Object.assign(new Error('x'), { cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } });
    const failure = classifyThrown(untrusted, 'https://gateway.test');
    expect(failure.kind).toBe('invalid');
    expect(failure.message).toContain('NODE_EXTRA_CA_CERTS');
  });

  test.each([
    ['CERT_HAS_EXPIRED', 'has expired (CERT_HAS_EXPIRED). Renew it on the server.'],
    ['CERT_NOT_YET_VALID', 'is not valid yet (CERT_NOT_YET_VALID). Correct the clock'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another host (ERR_TLS_CERT_ALTNAME_INVALID). Use a host name'],
  ])('a certificate with %s is final, and no CA file is suggested', (code, text) => {
    const failure = classifyThrown(Object.assign(new Error('x'), { cause: { code } }), 'https://gateway.test');
    expect(failure.kind).toBe('invalid');
    expect(failure.message).toContain(`The certificate of https://gateway.test ${text}`);
    expect(failure.message).not.toContain('NODE_EXTRA_CA_CERTS');
  });

  test.each([
    ['https://gateway.test', 'http://'],
    ['http://gateway.test', 'https://'],
  ])('a connection that %s resets suggests the other scheme', (address, scheme) => {
    const reset = Object.assign(new Error('x'), { cause: { code: 'ECONNRESET' } });
    expect(classifyThrown(reset, address)).toEqual({
      kind: 'network',
      message: `${address} closed the connection without an answer (ECONNRESET). Check the network, and whether the base URL should start with ${scheme}.`,
    });
  });
});
