import { expect, test } from 'vitest';
import type { ModelConfig } from '../../../src/model/registry/model-config.ts';
import { createModelRegistry } from '../../../src/model/registry/model-registry.ts';
import { ANTHROPIC, OPENAI } from '../dialects.ts';
import { startFaultServer, status, stream } from '../fault-server.ts';
import { drain, REQUEST } from '../support.ts';

const QUICK = { retry: { limits: () => ({ maxRetries: 0 }) } };
const FINE = stream([OPENAI.open, ...OPENAI.text(0, 'Yes'), ...OPENAI.done('text')]);
const REFUSED = status(401, JSON.stringify({ error: { message: 'no key key-number-one here' } }));

function chosen(config: ModelConfig) {
  const choice = createModelRegistry({ ...QUICK, ...config });
  if (!choice.ok) throw new Error(choice.problem);
  return choice;
}

test('a refused key of a command is fetched again, once, and never shown', async () => {
  await using server = await startFaultServer(REFUSED, FINE, REFUSED, REFUSED);
  let key = 'key-number-one';
  const work = {
    baseUrl: `${server.url}/v1`,
    fetchKey: async () => key,
    onRefusedKey: () => {
      key = 'key-number-two';
    },
  };
  const { port } = chosen({ model: 'work/m', providers: { work } });
  const request = { ...REQUEST, model: 'work/m' };
  expect((await drain(port, { request })).outcome.ok).toBe(true);
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer key-number-one',
    'Bearer key-number-two',
  ]);
  key = 'key-number-one';
  const { outcome } = await drain(port, { request });
  expect(outcome).toMatchObject({ ok: false, failure: { kind: 'auth' } });
  expect(JSON.stringify(outcome)).not.toContain('key-number-one');
});

test('a key given later is used from then on, also for Anthropic', async () => {
  await using openai = await startFaultServer(FINE);
  await using anthropic = await startFaultServer(
    stream([ANTHROPIC.open, ...ANTHROPIC.text(0, 'hi'), ...ANTHROPIC.done('text')]),
  );
  const providers = { work: { baseUrl: `${openai.url}/v1` } };
  const { port, setApiKey, findModel } = chosen({ model: 'work/m', baseUrl: anthropic.url, providers });
  expect(findModel('sonnet').ok).toBe(false);
  setApiKey('work', 'later-key');
  setApiKey('anthropic', 'sk-later');
  expect(findModel('sonnet')).toEqual({ ok: true, model: 'claude-sonnet-5-5' });
  expect((await drain(port, { request: { ...REQUEST, model: 'work/m' } })).outcome.ok).toBe(true);
  expect((await drain(port, { request: { ...REQUEST, model: 'claude-sonnet-5-5' } })).outcome.ok).toBe(true);
  expect(openai.seen[0]?.headers.authorization).toBe('Bearer later-key');
  expect(anthropic.seen[0]?.headers['x-api-key']).toBe('sk-later');
});

test('an unsupported effort becomes the nearest supported one', async () => {
  await using server = await startFaultServer(FINE);
  const providers = { groq: { baseUrl: server.url, apiKey: 'k' } };
  const { port } = chosen({ model: 'groq/x', providers });
  await drain(port, { request: { ...REQUEST, model: 'groq/x', effort: 'max' } });
  expect(JSON.parse(server.seen[0]?.body ?? '{}')).toMatchObject({ reasoning_effort: 'high' });
});

const MODEL = 'claude-sonnet-5-5';
const startOf = (abort: () => void) => async (): Promise<never> => {
  abort();
  return new Promise(() => undefined);
};

test.each<[string, (abort: () => void) => ModelConfig]>([
  ['a key', (abort) => ({ model: MODEL, apiKey: startOf(abort) })],
  ['a request', (abort) => ({ model: MODEL, apiKey: 'key', fetch: Object.assign(startOf(abort), fetch) })],
  [
    'a body',
    (abort) => {
      const send = async () => new Response(new ReadableStream({ pull: startOf(abort) }, { highWaterMark: 0 }));
      return { model: MODEL, apiKey: 'key', fetch: Object.assign(send, fetch) };
    },
  ],
])('an abort does not wait for %s that ignores it', async (_, configure) => {
  const abort = new AbortController();
  const { port } = chosen(configure(() => abort.abort()));
  const { outcome } = await drain(port, { request: { ...REQUEST, model: MODEL }, signal: abort.signal });
  expect(outcome).toMatchObject({ ok: false, failure: { kind: 'aborted' } });
});
