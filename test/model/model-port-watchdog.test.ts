import { expect, test } from 'vitest';
import type { ModelPort } from '../../src/contracts/model.ts';
import { createAgent } from '../../src/sdk/agent/create-agent.ts';
import type { AgentOptions } from '../../src/sdk/agent/options.ts';

const never = () => new Promise<never>(() => undefined);

/** A stream that yields events and returns an outcome, whatever they are. */
const streamOf = (events: readonly unknown[], outcome: () => unknown) =>
  async function* () {
    for (const event of events) yield event;
    return await outcome();
  };

/** A port as an application without types may write it. */
const portOf = (stream: unknown, name = 'mine'): ModelPort =>
  Object.assign(JSON.parse(JSON.stringify({ name })), { stream });

/** An agent with such a port. */
const agentOf = (stream: unknown, more: object = {}) => {
  const options: AgentOptions = { model: { port: portOf(stream), maxRetries: 0, ...more } };
  return createAgent(options);
};

const sent = { type: 'request_sent', attempt: 1 };

test.each([
  ['waits before its first event', streamOf([], never)],
  ['waits after an event', streamOf([sent], never)],
  [
    'goes on yielding',
    async function* () {
      for (;;) {
        yield sent;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  ],
  [
    'waits while it cleans up',
    async function* () {
      try {
        yield sent;
        await never();
      } finally {
        await never();
      }
    },
  ],
])('a port that ignores its signal and %s is abandoned on abort', { timeout: 10_000 }, async (_, stream) => {
  const agent = agentOf(stream);
  const run = agent.prompt('hi');
  await expect.poll(() => agent.state().status).toBe('requesting');
  agent.abort();
  expect((await run).reason).toBe('aborted_streaming');
  await agent.waitForIdle();
});

test('a port that is silent for timeoutMs is abandoned', async () => {
  const end = await agentOf(streamOf([sent], never), { timeoutMs: 30 }).prompt('hi');
  expect(end).toMatchObject({
    reason: 'api_error',
    failure: { kind: 'stalled' },
    words: 'mine sent nothing for 0.03 s.',
  });
});

const block = { type: 'text', text: 'hello' };

test('a silent port is left for the next model', async () => {
  const other = portOf(
    streamOf([], () => ({ ok: true, message: { blocks: [block] } })),
    'other',
  );
  const agent = createAgent({ model: [{ port: portOf(streamOf([], never)), timeoutMs: 30, maxRetries: 0 }, other] });
  expect(await agent.prompt('hi')).toMatchObject({ reason: 'completed', text: 'hello' });
});

test.each([
  ['without a message', streamOf([{ type: 'block_end', index: 0, block }], () => ({ ok: true }))],
  ['with a text', streamOf([], () => ({ ok: true, message: 'hello' }))],
  ['without events', streamOf([], () => ({ ok: true, message: { blocks: [block] } }))],
  ['without an id', streamOf([{ type: 'message_start' }], () => ({ ok: true, message: { blocks: [block] } }))],
])('an outcome %s is completed', async (_, stream) => {
  const agent = agentOf(stream);
  let shown = '';
  agent.subscribe((event) => {
    if (event.type === 'block_end' && event.block.type === 'text') shown += event.block.text;
  });
  expect(await agent.prompt('hi')).toMatchObject({ reason: 'completed', text: 'hello' });
  expect(shown).toBe('hello');
});

test.each([
  ['returns nothing', streamOf([], () => undefined), 'stream() returned undefined'],
  ['returns a text', streamOf([], () => 'hello'), 'stream() returned a string'],
  ['yields a text', streamOf(['hello'], never), 'stream() yielded a string'],
  ['yields nothing', streamOf([undefined], never), 'stream() yielded undefined'],
  ['is no generator', async () => 'hello', 'must be an async generator'],
  ['has a message without blocks', streamOf([], () => ({ ok: true, message: { blocks: 'hello' } })), 'blocks'],
  [
    'has a message with null',
    streamOf([], () => ({ ok: true, message: { blocks: [block, null] } })),
    'block 1 of its message',
  ],
  ['fails without a failure', streamOf([], () => ({ ok: false })), 'needs failure: { kind, message }'],
  ['fails with a text', streamOf([], () => ({ ok: false, failure: 'no luck' })), 'no luck'],
  ['rejects', streamOf([], () => Promise.reject(new Error('no network'))), 'no network'],
])('a port that %s ends the run with a reason', async (_, stream, words) => {
  const end = await agentOf(stream).prompt('hi');
  expect(end.reason).toMatch(/api_error|model_error/);
  expect(end.words).toContain(words);
});

test('a port without a name is named after its model, and an outcome without a failure is not retried', async () => {
  const stream = streamOf([], () => ({ ok: false }));
  const options: object = { model: { model: 'small', port: { stream } } };
  expect((await createAgent(options).prompt('hi')).words).toContain('The port small is not usable');
});
