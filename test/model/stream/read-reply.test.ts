import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/contracts/model.ts';
import { withRetry } from '../../../src/model/retry.ts';
import { ANTHROPIC, OPENAI } from '../dialects.ts';
import { startFaultServer, stream, streamThenRepeat } from '../fault-server.ts';
import { drain, REQUEST } from '../support.ts';

const NO_WAIT = { clock: { now: Date.now, sleep: async () => undefined } };

describe.each([ANTHROPIC, OPENAI])('the $name port', (dialect) => {
  const hello = [dialect.open, ...dialect.text(0, 'Hel', 'lo'), ...dialect.done('text')];
  const half = [dialect.open, ...dialect.text(0, 'Hel', 'lo').slice(0, 2)];

  test('streams text and returns the whole reply with its usage', async () => {
    await using server = await startFaultServer(stream(hello));
    const { events, outcome } = await drain(dialect.create(server.url));
    expect(events.filter((event) => event.type === 'text_delta').map((event) => event.text)).toEqual(['Hel', 'lo']);
    const usage = {
      inputTokens: 10,
      outputTokens: 7,
      cacheReadTokens: 90,
      cacheWriteTokens: dialect.cacheWrites ? 5 : 0,
    };
    const message = {
      role: 'assistant',
      id: 'msg_1',
      model: REQUEST.model,
      blocks: [{ type: 'text', text: 'Hello' }],
      stopReason: 'end_turn',
      usage,
    };
    expect(outcome).toEqual({ ok: true, message, stopReason: 'end_turn', usage });
    expect(events.map((event) => event.type)).toEqual([
      'request_sent',
      'message_start',
      'block_start',
      'text_delta',
      'text_delta',
      'block_end',
    ]);
  });

  test('a reply that stops for a call but has none is cut off, and requested again', async () => {
    const stopped = [dialect.open, ...dialect.text(0, 'I look.'), ...dialect.done('calls')];
    await using server = await startFaultServer(stream(stopped));
    expect((await drain(dialect.create(server.url))).outcome).toMatchObject({ ok: false, failure: { kind: 'cut' } });
    await using twice = await startFaultServer(stream(stopped), stream(hello));
    const { outcome } = await drain(withRetry(dialect.create(twice.url), NO_WAIT));
    expect([outcome, twice.seen.length]).toMatchObject([{ ok: true, stopReason: 'end_turn' }, 2]);
  });

  test('deltas without content do not keep a reply alive', async () => {
    const empty = dialect.text(0, '').slice(0, 2).at(-1) ?? '';
    await using server = await startFaultServer(streamThenRepeat(half, empty));
    const { outcome } = await drain(dialect.create(server.url, { idleTimeoutMs: 80 }));
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'stalled' } });
  });

  test('sends one request, with the key, to the configured address', async () => {
    await using server = await startFaultServer(stream(hello));
    await drain(dialect.create(server.url));
    expect(server.seen).toMatchObject([{ path: dialect.path, headers: { authorization: 'Bearer test-key' } }]);
  });

  test('one connection serves several replies', async () => {
    await using server = await startFaultServer(stream(hello));
    const port = dialect.create(server.url);
    for (let turn = 0; turn < 3; turn += 1) await drain(port);
    expect(new Set(server.seen.map(({ fromPort }) => fromPort)).size).toBe(1);
  });

  test('the same request is the same bytes', async () => {
    await using server = await startFaultServer(stream(hello));
    const port = dialect.create(server.url);
    await drain(port);
    await drain(port);
    expect(server.seen[1]?.body).toBe(server.seen[0]?.body);
  });

  test('assembles calls from input chunks, an invalid one as it was written', async () => {
    await using server = await startFaultServer(
      stream([
        dialect.open,
        ...dialect.text(0, 'Look:'),
        ...dialect.call(1, 'c1', 'Read', '{"path":', '"a.ts"}'),
        ...dialect.call(2, 'c2', 'Bash', '{"command": "ec'),
        ...dialect.done('calls'),
      ]),
    );
    const { events, outcome } = await drain(dialect.create(server.url));
    expect(outcome).toMatchObject({
      ok: true,
      stopReason: 'tool_use',
      message: {
        blocks: [
          { type: 'text', text: 'Look:' },
          { type: 'tool_use', id: 'c1', name: 'Read', input: { path: 'a.ts' } },
          { type: 'tool_use', id: 'c2', name: 'Bash', input: {}, unparsed: '{"command": "ec' },
        ],
      },
    });
    expect(events.filter((event) => event.type === 'block_end').map((event) => event.index)).toEqual([0, 1, 2]);
  });

  test('separates reasoning from the answer', async () => {
    await using server = await startFaultServer(
      stream([dialect.open, ...dialect.thinking(0, 'Hm.'), ...dialect.text(1, 'Yes.'), ...dialect.done('text')]),
    );
    const { outcome } = await drain(dialect.create(server.url));
    expect(outcome).toMatchObject({
      message: {
        blocks: [
          { type: 'thinking', thinking: 'Hm.', signature: dialect.signature },
          { type: 'text', text: 'Yes.' },
        ],
      },
    });
  });

  test('reports that the reply was cut by its length', async () => {
    await using server = await startFaultServer(stream([...half, ...dialect.done('length')]));
    expect(await drain(dialect.create(server.url))).toMatchObject({ outcome: { ok: true, stopReason: 'max_tokens' } });
  });

  test('unknown events change nothing', async () => {
    await using server = await startFaultServer(stream(hello.flatMap((part) => [part, dialect.unknown, dialect.ping])));
    expect(await drain(dialect.create(server.url))).toMatchObject({
      outcome: { message: { blocks: [{ text: 'Hello' }] } },
    });
  });

  test('a socket that stays open after the end does not delay the turn', async () => {
    await using server = await startFaultServer(stream(hello, 'open'));
    expect((await drain(dialect.create(server.url))).outcome.ok).toBe(true);
    await server.seen[0]?.closed;
  });

  test('raw events of the provider are returned only on request', async () => {
    await using server = await startFaultServer(stream(hello));
    const asked = await drain(dialect.create(server.url), { options: { partial: true } });
    const raw = asked.events.filter((event) => event.type === 'raw').map((event) => event.event.type);
    expect(raw).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  test('images, results and calls are sent, opaque blocks are not', async () => {
    await using server = await startFaultServer(stream(hello));
    const request: ModelRequest = {
      ...REQUEST,
      tools: [{ name: 'Read', description: 'reads', input_schema: { type: 'object' } }],
      messages: [
        {
          role: 'user',
          blocks: [
            { type: 'text', text: 'See' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'PICTURE' } },
            { type: 'image', source: { type: 'url', url: 'https://ADDRESS/' } },
          ],
        },
        {
          role: 'assistant',
          blocks: [
            { type: 'opaque', raw: { type: 'HOLOGRAM' } },
            { type: 'tool_use', id: 'c1', name: 'Read', input: { path: 'x' } },
          ],
        },
        { role: 'user', blocks: [{ type: 'tool_result', tool_use_id: 'c1', content: 'CONTENT' }] },
      ],
    };
    await drain(dialect.create(server.url), { request });
    const body = server.seen[0]?.body ?? '';
    for (const part of ['PICTURE', 'https://ADDRESS/', 'CONTENT', '"c1"', 'Read']) expect(body).toContain(part);
    expect(body).not.toContain('HOLOGRAM');
  });
});

describe('a reply of the Messages API', () => {
  const ended = (reason: string) =>
    `event: message_delta\ndata: ${JSON.stringify({ type: 'message_delta', delta: { stop_reason: reason } })}\n\n`;
  const stop = 'data: {"type":"message_stop"}\n\n';

  test.each(['refusal', 'pause_turn', 'model_context_window_exceeded', 'a_reason_of_tomorrow'])(
    'may end with %s',
    async (reason) => {
      await using server = await startFaultServer(stream([ANTHROPIC.open, ended(reason), stop]));
      expect(await drain(ANTHROPIC.create(server.url))).toMatchObject({
        outcome: { ok: true, stopReason: reason, message: { blocks: [] } },
      });
    },
  );

  test('may be empty', async () => {
    await using server = await startFaultServer(stream([ANTHROPIC.open, ended('end_turn'), stop]));
    expect(await drain(ANTHROPIC.create(server.url))).toMatchObject({ outcome: { ok: true, message: { blocks: [] } } });
  });
});

describe('a reply of chat completions', () => {
  const chunk = (delta: object) => `data: ${JSON.stringify({ id: 'r1', choices: [{ delta }] })}\n\n`;
  const part = (index: number, more: object, args: string) =>
    chunk({ tool_calls: [{ index, ...more, function: { ...more, arguments: args } }] });
  const head = (name: string) => ({ id: name.toLowerCase(), name });

  test('may interleave several calls, and each is assembled', async () => {
    await using server = await startFaultServer(
      stream([
        part(0, head('Read'), ''),
        part(1, head('Grep'), '{"b":'),
        part(2, head('Glob'), ''),
        part(0, {}, '{"a":'),
        part(1, {}, '2}'),
        part(0, {}, '1}'),
        part(2, {}, '{}'),
        part(3, head('Bash'), '{"c":'),
        ...OPENAI.done('calls'),
      ]),
    );
    const { outcome } = await drain(OPENAI.create(server.url));
    expect(outcome).toMatchObject({
      message: {
        blocks: [
          { type: 'tool_use', id: 'read', name: 'Read', input: { a: 1 } },
          { type: 'tool_use', id: 'grep', name: 'Grep', input: { b: 2 } },
          { type: 'tool_use', id: 'glob', name: 'Glob', input: {} },
          { type: 'tool_use', id: 'bash', name: 'Bash', unparsed: '{"c":' },
        ],
      },
    });
  });

  test('may contain only [DONE]', async () => {
    await using server = await startFaultServer(stream([chunk({ content: 'Yes.' }), 'data: [DONE]\n\n']));
    expect(await drain(OPENAI.create(server.url))).toMatchObject({
      outcome: { ok: true, stopReason: 'end_turn', message: { blocks: [{ type: 'text', text: 'Yes.' }] } },
    });
  });
});

describe('end events of gateways', () => {
  const said = [ANTHROPIC.open, ...ANTHROPIC.text(0, 'Hel', 'lo')];
  const call = ANTHROPIC.call(1, 'c1', 'Read', '{"path":', '"a.ts"}');
  const half = ANTHROPIC.call(1, 'c1', 'Read', '{"path":');
  const [delta = '', stop = ''] = ANTHROPIC.done('text');
  const done = 'data: [DONE]\n\n';
  const TEXT = { type: 'text', text: 'Hello' };
  const READ = { type: 'tool_use', id: 'c1', name: 'Read', input: { path: 'a.ts' } };

  test.each([
    ['no last event', [...said, delta], [TEXT]],
    ['[DONE] for the last event', [...said, delta, done], [TEXT]],
    ['[DONE] alone', [...said, ...call, done], [TEXT, READ]],
    ['words that never end', [...said.slice(0, -1), delta, stop], [TEXT]],
    ['words and a call that never end', [...said.slice(0, -1), ...call.slice(0, -1), delta, stop], [TEXT, READ]],
    ['words that never end, and no last event', [...said.slice(0, -1), delta], [TEXT]],
    ['a repeated start', [...said.slice(0, 3), ...said.slice(0, 2), ...said.slice(3), delta, stop], [TEXT]],
    [
      'ends that come twice',
      [...said, ...said.slice(-1), ...call, ...call.slice(-1), delta, delta, stop, stop],
      [TEXT, READ],
    ],
    [
      'one number for all blocks',
      [...said, ...ANTHROPIC.call(0, 'c1', 'Read', '{"path":"a.ts"}'), delta, stop],
      [TEXT, READ],
    ],
    [
      'one number for all blocks, none of which ends',
      [...said.slice(0, -1), ...ANTHROPIC.call(0, 'c1', 'Read', '{"path":"a.ts"}').slice(0, -1), delta, stop],
      [TEXT, READ],
    ],
    ['carriage returns alone', [...said, delta, stop].map((part) => part.replaceAll('\n', '\r')), [TEXT]],
    [
      'comments before, between and after',
      [': hi\n\n', ...said.flatMap((part) => [part, ': still here\n\n']), delta, stop],
      [TEXT],
    ],
  ])('%s: the reply is whole, and asked for once', async (_, parts, blocks) => {
    for (const then of ['end', 'open'] as const) {
      await using server = await startFaultServer(stream(parts, then));
      const port = withRetry(ANTHROPIC.create(server.url, { idleTimeoutMs: 60 }));
      const { outcome, events } = await drain(port);
      expect(outcome).toMatchObject({ ok: true, message: { blocks } });
      expect(events.filter(({ type }) => type === 'block_end')).toHaveLength(blocks.length);
      expect(server.seen).toHaveLength(1);
    }
  });

  test.each([
    ['a call that breaks off', [...said, ...half.slice(0, -1), delta, stop]],
    ['a call that breaks off before [DONE]', [...said, ...half.slice(0, -1), done]],
    ['[DONE] and nothing else', [ANTHROPIC.open, done]],
  ])('%s is asked for again', async (_, parts) => {
    await using server = await startFaultServer(stream(parts), stream([...said, delta, stop]));
    const { outcome } = await drain(withRetry(ANTHROPIC.create(server.url), NO_WAIT));
    expect(outcome).toMatchObject({ ok: true, message: { blocks: [TEXT] } });
    expect(server.seen).toHaveLength(2);
  });

  test('a server without end events is accepted the second time', async () => {
    await using server = await startFaultServer(stream([...said, ...call]));
    const { outcome } = await drain(withRetry(ANTHROPIC.create(server.url), NO_WAIT));
    expect(outcome).toMatchObject({ ok: true, stopReason: 'tool_use', message: { blocks: [TEXT, READ] } });
    expect(server.seen).toHaveLength(2);
  });

  test.each(['text/plain; charset=utf-8', 'application/json', 'application/octet-stream', 'text/html'])(
    'a stream with content type %s is read as one',
    async (type) => {
      await using server = await startFaultServer((response) =>
        response.writeHead(200, { 'content-type': type }).end([': hi\n', ...said, delta, stop].join('')),
      );
      const { outcome } = await drain(ANTHROPIC.create(server.url));
      expect(outcome).toMatchObject({ ok: true, message: { blocks: [TEXT] } });
    },
  );
});
