import { describe, expect, test } from 'vitest';
import type { Message, UserMessage } from '../../../src/contracts/message.ts';
import { query } from '../../../src/engine/query.ts';
import { createModelRegistry, type ModelRegistry } from '../../../src/model/registry/model-registry.ts';
import { disconnectAt, errorAt, overloaded, refusalReply } from '../../support/api/faults.ts';
import {
  type ApiTurn,
  brokenToolUse,
  calls,
  hang,
  reply,
  reset,
  says,
  status,
  text,
  thinking,
  toolUse,
} from '../../support/api/reply.ts';
import { type ApiServer, startServer } from '../../support/api/server.ts';
import { drain } from '../../support/loop/drain.ts';
import { buildHistory, echoTool, type Overrides, scripted, userSays } from '../../support/loop/scripted.ts';
import { isWholeRun } from '../../support/runs.ts';
import { drain as drainPort, REQUEST } from '../support.ts';
import { PROTOCOLS, type Protocol } from './protocols.ts';

const NO_WAIT = { limits: () => ({ maxRetries: 3 }), clock: { now: Date.now, sleep: async () => undefined } };
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PICTURE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } } as const;

type Run = {
  readonly server: ApiServer;
  readonly choice: ModelRegistry;
  readonly turns: readonly ApiTurn[];
};

async function start(protocol: Protocol, turns: readonly ApiTurn[]): Promise<Run & AsyncDisposable> {
  const server = await startServer({ turns, after: says('Bye.') }, protocol.dialect);
  const choice = createModelRegistry({ ...protocol.config(server.url), retry: NO_WAIT });
  if (!choice.ok) throw new Error(choice.problem);
  return { server, choice, turns, [Symbol.asyncDispose]: () => server.close() };
}

/** The loop with the port of the protocol; then the same conversation goes on, which every server must take. */
async function converse(
  { server, choice }: Run,
  {
    first = userSays('Look into it'),
    signal = new AbortController().signal,
    ...overrides
  }: Overrides & {
    readonly first?: UserMessage;
    readonly signal?: AbortSignal;
  } = {},
) {
  const run = (messages: readonly Message[], until: AbortSignal) =>
    drain(
      query(
        messages,
        scripted([], {
          model: choice.port,
          modelInfo: choice.infoOf,
          ...overrides,
          config: { chain: [{ model: choice.model }], effort: 'auto', ...overrides.config },
        }),
        until,
      ),
    );
  const { events, result } = await run([first], signal);
  const history = buildHistory([first], events);
  const asked = server.requests().length;
  const resumed = await run([...history, userSays('Go on')], new AbortController().signal);
  const violations = server.requests().flatMap(({ violation }) => (violation === undefined ? [] : [violation]));
  expect(violations).toEqual([]);
  expect(resumed.result.reason).toBe('completed');
  const replies = history.filter((message) => message.role === 'assistant');
  return { events, result, history, asked, replies, blocks: replies.flatMap(({ blocks }) => blocks) };
}

/** Forms that have little in common. The others are tried in whole runs; what is their own has its tests beside it. */
const UNLIKE_FORMS = ['Anthropic', 'chat completions', 'Gemini'];

describe.each(PROTOCOLS.filter(({ name }) => isWholeRun || UNLIKE_FORMS.includes(name)))('$name', (protocol) => {
  test('text is reported as it streams, and usage includes the cache', async () => {
    const usage = { input_tokens: 100, output_tokens: 12, cache_read_input_tokens: 900 };
    await using run = await start(protocol, [says('Grüße from 東京.', { chunk: 4, usage })]);
    const { result, replies, events } = await converse(run);
    expect(result.reason).toBe('completed');
    expect(replies).toMatchObject([
      {
        model: run.choice.model,
        blocks: [{ type: 'text', text: 'Grüße from 東京.' }],
        usage: { inputTokens: 100, outputTokens: 12, cacheReadTokens: 900 },
      },
    ]);
    expect(events.filter(({ type }) => type === 'message_update').length).toBeGreaterThan(2);
  });

  test('thinking is sent back with its call', async () => {
    const thought = thinking('Let me think.');
    await using run = await start(protocol, [calls(thought, toolUse('Echo', { a: 1 })), says('Done.')]);
    const { blocks } = await converse(run);
    expect(blocks.map(({ type }) => type)).toEqual(['thinking', 'tool_use', 'text']);
    expect(blocks[0]).toMatchObject({ thinking: 'Let me think.' });
    expect(run.server.requests()[1]?.raw.replaceAll('\\"', '"')).toContain(
      protocol.thoughtsBack(String(thought.signature)),
    );
  });

  test('a call is run, and its result is sent with the next request', async () => {
    await using run = await start(protocol, [calls(toolUse('Echo', { path: 'a"b\n' })), says('Done.')]);
    const { events, blocks } = await converse(run);
    expect(blocks[0]).toMatchObject({ type: 'tool_use', name: 'Echo', input: { path: 'a"b\n' } });
    expect(events.filter(({ type }) => type === 'tool_end')).toMatchObject([{ tool: 'Echo', status: 'done' }]);
    expect(run.server.requests()[1]?.raw).toContain('echo {');
  });

  test('text and several calls of one reply are all reported, turn after turn', async () => {
    const both = calls(text('Two at once.'), toolUse('Echo', { n: 1 }), toolUse('Echo', { n: 2 }));
    await using run = await start(protocol, [both, calls(toolUse('Echo', { n: 3 })), says('Done.')]);
    const { events, blocks, result } = await converse(run);
    expect(result.reason).toBe('completed');
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'tool_use', 'tool_use', 'tool_use', 'text']);
    expect(events.filter(({ type }) => type === 'tool_end')).toHaveLength(3);
  });

  test('a failing tool, and one that returns an image', async () => {
    const tools = () => [
      echoTool({ name: 'Fail', call: async () => ({ content: 'no such file', isError: true }) }),
      echoTool({ name: 'Look', call: async () => ({ content: [{ type: 'text', text: 'seen' }, PICTURE] }) }),
    ];
    await using run = await start(protocol, [calls(toolUse('Fail', {}), toolUse('Look', {})), says('Done.')]);
    await converse(run, { tools });
    const sent = run.server.requests()[1]?.raw;
    expect(sent).toContain('no such file');
    expect(sent).toContain(PIXEL);
  });

  test('an image of the prompt is sent', async () => {
    await using run = await start(protocol, [says('A pixel.')]);
    const first: UserMessage = {
      ...userSays('What is this?'),
      blocks: [{ type: 'text', text: 'What is this?' }, PICTURE],
    };
    await converse(run, { first });
    expect(run.server.requests()[0]?.raw).toContain(PIXEL);
  });

  test('a refusal is reported as one', async () => {
    await using run = await start(protocol, [refusalReply('I will not.')]);
    const { result } = await converse(run);
    expect(result.reason).toBe('refusal');
  });

  test('a reply at its limit is continued; an incomplete call is not run', async () => {
    const half = reply([text('Half of'), brokenToolUse('Echo', '{"a":')], { stop: 'max_tokens' });
    await using run = await start(protocol, [half, says(' it.')]);
    const { result, events, asked } = await converse(run);
    expect(result.reason).toBe('completed');
    expect(asked).toBe(2);
    expect(events.some(({ type }) => type === 'tool_end')).toBe(false);
  });

  test('a prompt that is too long is reduced and sent again', async () => {
    await using run = await start(protocol, [protocol.tooLong, says('Fits now.')]);
    const { result, events } = await converse(run);
    expect(result.reason).toBe('completed');
    expect(events.some(({ type }) => type === 'compacted')).toBe(true);
  });

  test.each([
    ['busy', overloaded()],
    ['a rate limit', status(429, 'Slow down.')],
    ['a fault of the server', status(500)],
    ['a connection that breaks', reset()],
    ['an error in the middle', says('Half of it is here', { chunk: 4, faults: errorAt(3) })],
    ['a stream that breaks off', says('Half of it is here', { chunk: 4, faults: [disconnectAt(3)] })],
  ])('%s is tried again', async (_what, turn) => {
    await using run = await start(protocol, [turn, says('Better.')]);
    const { result, blocks } = await converse(run);
    expect(result.reason).toBe('completed');
    expect(blocks).toEqual([{ type: 'text', text: 'Better.' }]);
  });

  test.each([
    ['auth', status(401, 'That key is not valid.')],
    ['auth', status(403, 'You may not use this model.')],
    ['not_found', status(404, 'No such model.')],
    ['invalid', status(400, 'Something is wrong with it.')],
  ])('what is final (%s) is told after one request', async (kind, turn) => {
    await using run = await start(protocol, [turn]);
    const { outcome } = await drainPort(run.choice.port, { request: { ...REQUEST, model: run.choice.model } });
    expect(outcome).toMatchObject({ ok: false, failure: { kind } });
    expect(run.server.requests()).toHaveLength(1);
  });

  test('an abort closes the connection at once', async () => {
    await using run = await start(protocol, [hang()]);
    const stop = new AbortController();
    const asked = run.server.waitForRequest(1).then(() => stop.abort());
    const { result } = await converse(run, { signal: stop.signal });
    await asked;
    await run.server.waitForSocketClosed(1);
    expect(result.reason).toMatch(/^aborted/);
  });

  test('an abort during a reply closes the connection and keeps the text', async () => {
    const never = new Promise<void>(() => undefined);
    const half = says('Half of it is here', {
      chunk: 4,
      faults: [{ at: 5, do: 'wait', until: never, pings: 'pings' }],
    });
    await using run = await start(protocol, [half]);
    const stop = new AbortController();
    const stream = run.choice.port.stream(
      { ...REQUEST, model: run.choice.model },
      { restartable: () => true, overloadLimit: 3 },
      stop.signal,
    );
    let step = await stream.next();
    while (!step.done) {
      if (step.value.type === 'text_delta') stop.abort();
      step = await stream.next();
    }
    expect(step.value).toMatchObject({ ok: false, failure: { kind: 'aborted' } });
    await run.server.waitForSocketClosed(1);
  });

  test('a forced tool is called', async () => {
    const answer = toolUse('Answer', { ok: true });
    await using run = await start(protocol, [calls(answer)]);
    const tools = [{ name: 'Answer', description: 'Says it.', input_schema: { type: 'object' } }];
    const request = { ...REQUEST, model: run.choice.model, tools, forcedTool: 'Answer' };
    const { outcome } = await drainPort(run.choice.port, { request });
    expect(outcome).toMatchObject({ ok: true, message: { blocks: [{ name: 'Answer', input: { ok: true } }] } });
    expect(run.server.requests()[0]?.raw).toMatch(/tool_choice|allowedFunctionNames/);
  });

  test('the key of a run overrides the usual one', async () => {
    await using run = await start(protocol, [says('Hello.')]);
    const options = { getApiKey: async () => 'another-key-altogether' };
    const request = { ...REQUEST, model: run.choice.model };
    const { outcome } = await drainPort(run.choice.port, { request, options });
    expect(outcome.ok).toBe(true);
    expect(JSON.stringify(run.server.requests()[0]?.headers)).toContain('another-key-altogether');
  });
});
