import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../../../src/contracts/event.ts';
import type { ModelPort } from '../../../../src/contracts/model.ts';
import { query } from '../../../../src/engine/query.ts';
import { createDemoPort } from '../../../../src/model/providers/demo/demo-port.ts';
import { createReplayPort, type Exchange, withRecord } from '../../../../src/model/record-replay.ts';
import { withRetry } from '../../../../src/model/retry.ts';
import { drain } from '../../../support/loop/drain.ts';
import { echoTool, type Overrides, scripted, userSays } from '../../../support/loop/scripted.ts';
import { ANTHROPIC, OPENAI } from '../../dialects.ts';
import { type Answer, startFaultServer, status, stream } from '../../fault-server.ts';

const NO_WAIT = { clock: { now: Date.now, sleep: async () => undefined } };

function run(model: ModelPort, overrides: Overrides = {}) {
  const deps = scripted([], { model, ...overrides });
  return drain(query([userSays('Look into it')], deps, new AbortController().signal));
}

function toolsOf(events: readonly AgentEvent[]) {
  return events.flatMap((event) => (event.type === 'tool_end' ? [`${event.tool} ${event.status}`] : []));
}

describe.each([ANTHROPIC, OPENAI])('the $name port in the loop', (dialect) => {
  const call = [dialect.open, ...dialect.call(0, 'c1', 'Echo', '{"a":1}')];
  const goodbye = [dialect.open, ...dialect.text(0, 'Bye.'), ...dialect.done('text')];

  test('a call is run and its result sent with the next request', async () => {
    await using server = await startFaultServer(stream([...call, ...dialect.done('calls')]), stream(goodbye));
    const { events, result } = await run(dialect.create(server.url));
    expect(result.reason).toBe('completed');
    expect(toolsOf(events)).toEqual(['Echo done']);
    expect(server.seen[1]?.body).toContain('echo {\\"a\\":1}');
  });

  test('a stream that is cut after a call has run keeps its result, and the loop continues', async () => {
    const ran = Promise.withResolvers<void>();
    const cutAfterTheCall: Answer = (response, request) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write([...call, ...dialect.text(1, 'and').slice(0, 2)].join(''));
      void ran.promise.then(() => request.socket.destroy());
    };
    const runs = async () => {
      ran.resolve();
      return { content: 'it ran' };
    };
    await using server = await startFaultServer(cutAfterTheCall, stream(goodbye));
    const tools = () => [echoTool({ call: runs })];
    const { events, result } = await run(withRetry(dialect.create(server.url), NO_WAIT), { tools });
    expect(result.reason).toBe('completed');
    expect(toolsOf(events)).toEqual(['Echo done']);
    expect(server.seen).toHaveLength(2);
    expect(server.seen[1]?.body).toContain('it ran');
  });

  test('the key of a run is requested before each request; without it nothing is sent', async () => {
    await using server = await startFaultServer(stream([...call, ...dialect.done('calls')]), stream(goodbye));
    const keys = ['first', 'second'];
    const getApiKey = async () => keys.shift() ?? Promise.reject(new Error('the safe is shut'));
    expect((await run(dialect.create(server.url), { config: { getApiKey } })).result.reason).toBe('completed');
    const sent = server.seen.map(({ headers }) => headers['x-api-key'] ?? headers.authorization);
    expect(sent).toEqual([expect.stringMatching(/first$/), expect.stringMatching(/second$/)]);
    const { result } = await run(dialect.create(server.url), { config: { getApiKey } });
    expect(result).toMatchObject({ reason: 'api_error', words: expect.stringContaining('the safe is shut') });
    expect(server.seen).toHaveLength(2);
  });

  test('an overloaded model is replaced by the fallback', async () => {
    const busy = status(529, dialect.errorBody('overloaded_error', 'busy'));
    await using server = await startFaultServer(busy, busy, busy, stream(goodbye));
    const chain = [{ model: 'model-a' }, { model: 'model-b' }];
    const { result } = await run(withRetry(dialect.create(server.url), NO_WAIT), { config: { chain } });
    expect(result.reason).toBe('completed');
    expect(server.seen.map(({ body }) => JSON.parse(body).model)).toEqual(['model-a', 'model-a', 'model-a', 'model-b']);
  });

  test('a refused key ends the run with one request', async () => {
    await using server = await startFaultServer(status(401, dialect.errorBody('authentication_error', 'no')));
    const { result } = await run(withRetry(dialect.create(server.url), NO_WAIT));
    expect(result).toMatchObject({ reason: 'api_error', failure: { kind: 'auth' } });
    expect(server.seen).toHaveLength(1);
  });
});

describe('a refused thinking signature', () => {
  test('is recovered once by omitting thinking', async () => {
    const thought = [
      ANTHROPIC.open,
      ...ANTHROPIC.thinking(0, 'Hm.'),
      ...ANTHROPIC.call(1, 'c1', 'Echo', '{}'),
      ...ANTHROPIC.done('calls'),
    ];
    const refused = status(
      400,
      ANTHROPIC.errorBody('invalid_request_error', 'messages.1.content.0: Invalid `signature` in `thinking` block'),
    );
    const goodbye = [ANTHROPIC.open, ...ANTHROPIC.text(0, 'Bye.'), ...ANTHROPIC.done('text')];
    await using server = await startFaultServer(stream(thought), refused, stream(goodbye));
    const { result } = await run(withRetry(ANTHROPIC.create(server.url), NO_WAIT));
    expect(result.reason).toBe('completed');
    expect(server.seen.map(({ body }) => body.includes('"thinking":"Hm."'))).toEqual([false, true, false]);
  });
});

describe('the demo in the loop', () => {
  const demo = createDemoPort({ project: { projectDir: '/shop', cwd: '/shop' }, sleep: async () => undefined });
  const tools = () => ['Grep', 'Read', 'Bash', 'Edit'].map((name) => echoTool({ name }));

  test('runs real calls to the end of the tour', async () => {
    const { events, result } = await run(demo, { tools });
    expect(result.reason).toBe('completed');
    expect(toolsOf(events)).toEqual(['Grep done', 'Read done', 'Bash done', 'Edit done', 'Bash done', 'Bash done']);
  });

  test('a denied edit ends it with text', async () => {
    const gate: Overrides['gate'] = async ({ tool, input }) =>
      tool === 'Edit'
        ? { behavior: 'deny', message: 'The user said no.', interrupt: false }
        : { behavior: 'allow', input };
    const { events, result } = await run(demo, { tools, gate });
    expect(result.reason).toBe('completed');
    expect(toolsOf(events).at(-1)).toBe('Edit denied');
  });

  test('a recorded run replays with byte-identical requests', async () => {
    const record: Exchange[] = [];
    const first = await run(
      withRecord(demo, (exchange) => record.push(exchange)),
      { tools },
    );
    const second = await run(createReplayPort(record), { tools });
    expect(record).toHaveLength(7);
    expect(second.result).toEqual(first.result);
    expect(toolsOf(second.events)).toEqual(toolsOf(first.events));
  });
});
