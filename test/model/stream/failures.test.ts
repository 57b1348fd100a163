import { describe, expect, test } from 'vitest';
import { withRetry } from '../../../src/model/retry.ts';
import { someOf } from '../../support/runs.ts';
import { ANTHROPIC, OPENAI } from '../dialects.ts';
import { reset, silence, startFaultServer, status, stream, streamThenRepeat } from '../fault-server.ts';
import { drain, REQUEST } from '../support.ts';

const NO_WAIT = { clock: { now: Date.now, sleep: async () => undefined } };

describe.each(someOf([ANTHROPIC, OPENAI]))('faults of the $name server', (dialect) => {
  const hello = [dialect.open, ...dialect.text(0, 'Hel', 'lo'), ...dialect.done('text')];
  const half = [dialect.open, ...dialect.text(0, 'Hel', 'lo').slice(0, 2)];

  test.each([
    [400, 'invalid_request_error', 'Nonsense', 'invalid'],
    [400, 'invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum', 'too_long'],
    [400, 'invalid_request_error', 'image exceeds 5 MB maximum', 'media_too_large'],
    [401, 'authentication_error', 'invalid key', 'auth'],
    [403, 'permission_error', 'not yours', 'auth'],
    [404, 'not_found_error', 'no such model', 'not_found'],
  ])('%i %s (%s) is %s: one request, one clear sentence', async (code, type, message, kind) => {
    await using server = await startFaultServer(status(code, dialect.errorBody(type, message)));
    const { outcome } = await drain(withRetry(dialect.create(server.url), NO_WAIT));
    expect(outcome).toMatchObject({
      ok: false,
      failure: { kind, status: code, message: expect.stringContaining(message) },
    });
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    ['500', status(500, dialect.errorBody('api_error', 'oops'))],
    ['502 with a web page', status(502, '<html><title>Bad Gateway</title></html>', { 'content-type': 'text/html' })],
    ['503', status(503, '')],
    ['529', status(529, dialect.errorBody('overloaded_error', 'busy'))],
    ['429', status(429, dialect.errorBody('rate_limit_error', 'slow'), { 'retry-after': '1' })],
    ['a reset before headers', reset],
    ['a cut', stream(half, 'cut')],
    ['a clean end too early', stream(half)],
    ['nothing at all', stream([])],
    ['an error event', stream([...half, dialect.error('overloaded_error', 'busy')])],
  ])('%s is retried, and what was shown is taken back', async (_what, fault) => {
    await using server = await startFaultServer(fault, fault, stream(hello));
    const { events, outcome } = await drain(withRetry(dialect.create(server.url), NO_WAIT));
    expect(outcome).toMatchObject({ ok: true, message: { blocks: [{ type: 'text', text: 'Hello' }] } });
    const starts = events.filter((event) => event.type === 'message_start').length;
    expect(events.filter((event) => event.type === 'retry')).toHaveLength(2);
    expect(events.filter((event) => event.type === 'discarded')).toHaveLength(starts - 1);
  });

  test('an overload inside the stream is recognized by its type', async () => {
    await using server = await startFaultServer(stream([...half, dialect.error('overloaded_error', 'busy')]));
    expect(await drain(dialect.create(server.url))).toMatchObject({ outcome: { failure: { kind: 'overloaded' } } });
  });

  test('the requested delay is in the failure; above a minute nothing is retried', async () => {
    const slow = status(429, dialect.errorBody('rate_limit_error', 'slow'), { 'retry-after': '3600' });
    await using server = await startFaultServer(slow);
    const { outcome } = await drain(withRetry(dialect.create(server.url), NO_WAIT));
    expect(outcome).toMatchObject({
      failure: { kind: 'rate_limited', retryAfterMs: 3_600_000, message: expect.stringContaining('Try again after') },
    });
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    ['no headers', silence],
    ['silence after the first words', stream(half, 'open')],
    ['unknown events only', streamThenRepeat(half, dialect.unknown)],
  ])('%s: the idle limit ends it and closes the socket', async (_what, fault) => {
    await using server = await startFaultServer(fault);
    const port = dialect.create(server.url, { headerTimeoutMs: 40, idleTimeoutMs: 40 });
    expect(await drain(port)).toMatchObject({ outcome: { ok: false, failure: { kind: 'stalled' } } });
    await server.seen[0]?.closed;
  });

  test('pings keep a reply alive, up to their own limit', async () => {
    await using server = await startFaultServer(streamThenRepeat(half, dialect.ping));
    const port = dialect.create(server.url, { idleTimeoutMs: 10_000, pingTimeoutMs: 60 });
    expect(await drain(port)).toMatchObject({
      outcome: {
        ok: false,
        failure: { kind: 'stalled', message: 'The reply stalled: only pings or empty parts for 60 ms.' },
      },
    });
  });

  test.each([
    ['blanks', dialect === ANTHROPIC ? (dialect.text(0, ' ')[1] ?? '') : dialect.text(0, ' ').join('')],
    ...(dialect === ANTHROPIC ? [['empty blocks', dialect.text(0).join('')]] : []),
  ])('%s keep a reply alive up to the limit of pings', async (_, repeated = '') => {
    await using server = await startFaultServer(streamThenRepeat(half, repeated));
    const port = dialect.create(server.url, { idleTimeoutMs: 10_000, pingTimeoutMs: 60 });
    expect(await drain(port)).toMatchObject({ outcome: { ok: false, failure: { kind: 'stalled' } } });
  });

  test('an attempt may have a total time limit', async () => {
    await using server = await startFaultServer(
      streamThenRepeat(half, dialect.text(0, 'more')[dialect === ANTHROPIC ? 1 : 0] ?? ''),
    );
    expect(await drain(dialect.create(server.url), { options: { timeoutMs: 40 } })).toMatchObject({
      outcome: { failure: { kind: 'stalled' } },
    });
  });

  test('completed blocks of a broken reply are returned with the failure', async () => {
    const parts = [dialect.open, ...dialect.text(0, 'Done.'), ...dialect.call(1, 'c1', 'Read', '{}').slice(0, -1)];
    await using server = await startFaultServer(stream(parts));
    const { outcome } = await drain(withRetry(dialect.create(server.url), NO_WAIT), {
      options: { restartable: () => false },
    });
    expect(outcome).toMatchObject({
      ok: false,
      failure: { kind: 'cut' },
      partial: { id: 'msg_1', blocks: [{ type: 'text', text: 'Done.' }] },
    });
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    ['a web page', '<html></html>', 'text/html', 'a web page'],
    ['JSON', '{"hello":1}', 'application/json', 'plain data'],
  ])('200 with %s is a clear error, not retried', async (_what, body, type, words) => {
    await using server = await startFaultServer(status(200, body, { 'content-type': type }));
    const { outcome } = await drain(withRetry(dialect.create(server.url), NO_WAIT));
    expect(outcome).toMatchObject({ failure: { kind: 'invalid', message: expect.stringContaining(words) } });
    expect(server.seen).toHaveLength(1);
  });

  test('a redirect is not followed: no other host is contacted', async () => {
    await using other = await startFaultServer(stream(hello));
    await using server = await startFaultServer(status(307, '', { location: other.url }));
    expect(await drain(dialect.create(server.url))).toMatchObject({ outcome: { failure: { kind: 'invalid' } } });
    expect(other.seen).toEqual([]);
  });

  test('a refused connection is reported with the address', async () => {
    const server = await startFaultServer(silence);
    await server[Symbol.asyncDispose]();
    expect(await drain(dialect.create(server.url))).toMatchObject({
      outcome: { failure: { kind: 'network', message: expect.stringContaining(server.url) } },
    });
  });

  test('an abort before the headers closes the socket', async () => {
    const controller = new AbortController();
    await using server = await startFaultServer(() => controller.abort());
    const { outcome } = await drain(dialect.create(server.url), { signal: controller.signal });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'aborted' } });
    await server.seen[0]?.closed;
  });

  test('an abort during the reply closes the socket and keeps completed blocks', async () => {
    const controller = new AbortController();
    const parts = [dialect.open, ...dialect.thinking(0, 'Hm.'), ...dialect.text(1, 'Hel', 'lo').slice(0, 2)];
    await using server = await startFaultServer(stream(parts, 'open'));
    const { outcome } = await drain(dialect.create(server.url), {
      signal: controller.signal,
      onEvent: (event) => event.type === 'text_delta' && controller.abort(),
    });
    expect(outcome).toMatchObject({
      ok: false,
      failure: { kind: 'aborted' },
      partial: { blocks: [{ type: 'thinking' }] },
    });
    await server.seen[0]?.closed;
  });

  test('an abort before the start sends nothing', async () => {
    await using server = await startFaultServer(stream(hello));
    expect(await drain(dialect.create(server.url), { signal: AbortSignal.abort() })).toMatchObject({
      outcome: { failure: { kind: 'aborted' } },
    });
    expect(server.seen).toEqual([]);
  });

  test('a consumer that stops early closes the socket', async () => {
    await using server = await startFaultServer(stream(half, 'open'));
    const port = withRetry(dialect.create(server.url));
    for await (const event of port.stream(
      REQUEST,
      { restartable: () => true, overloadLimit: 3 },
      new AbortController().signal,
    )) {
      if (event.type === 'text_delta') break;
    }
    await server.seen[0]?.closed;
  });
});
