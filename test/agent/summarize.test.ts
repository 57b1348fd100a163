import { expect, test } from 'vitest';
import { createSummarizer } from '../../src/agent/summarize.ts';
import type { Message } from '../../src/contracts/message.ts';
import { fails, INFO, overloaded, type ScriptedReply, says, scripted, userSays } from '../support/loop/scripted.ts';

const thinking = { type: 'thinking', thinking: 'hm', signature: 'sig' } as const;
const thought = (model: string): Message => ({
  role: 'assistant',
  id: model,
  model,
  blocks: [thinking, { type: 'text', text: 'so' }],
});
const NEVER = new AbortController().signal;
const ORDER = { instructions: 'Sum up.', sentTokens: 1_000 };

function summarizer(replies: readonly ScriptedReply[], others: readonly string[] = []) {
  const { model, requests } = scripted(replies);
  const switches: string[] = [];
  const summarize = createSummarizer({
    chain: () => ['model-a', ...others],
    getModelInfo: (id) => ({ ...INFO, id }),
    port: model,
    system: () => [{ name: 'base', text: 'You help.' }],
    listSpecs: () => [],
    thinking: () => ({ effort: 'high', thinkingBudgetTokens: 5_000 }),
    onUsage: () => undefined,
    onFallback: (to, cause) => void switches.push(`${to}: ${cause}`),
  });
  return { summarize, requests, switches };
}

test('the summary request uses the thinking settings of the conversation and omits thinking of other models', async () => {
  const { summarize, requests } = summarizer([says('<summary>x</summary>')]);
  const history = [userSays('one'), thought('model-b'), userSays('two'), thought('model-a'), userSays('three')];
  expect(await summarize(history, ORDER, NEVER)).toMatchObject({ ok: true });
  expect(requests()[0]).toMatchObject({ effort: 'high', thinkingBudgetTokens: 5_000, maxOutputTokens: 32_000 });
  expect(requests()[0]?.messages.map((message) => message.blocks.length)).toEqual([1, 1, 1, 2, 2]);
});

test('thinking that the API refuses is removed from the summary request once', async () => {
  const refused = fails('invalid', { refusedPart: 'signature' });
  const history = [userSays('one'), thought('model-a'), userSays('two')];
  const once = summarizer([refused, says('<summary>x</summary>')]);
  expect(await once.summarize(history, ORDER, NEVER)).toMatchObject({ ok: true });
  expect(JSON.stringify(once.requests()[1]?.messages)).not.toContain('thinking');
  const always = summarizer([refused, refused, says('never asked')]);
  expect(await always.summarize(history, ORDER, NEVER)).toEqual({ ok: false, why: 'scripted invalid' });
});

test('in a nearly full window the summary gets the remaining tokens, never zero', async () => {
  const { summarize, requests } = summarizer([says('<summary>x</summary>'), says('<summary>x</summary>')]);
  await summarize([userSays('one')], { ...ORDER, sentTokens: 175_000 }, NEVER);
  await summarize([userSays('one')], { ...ORDER, sentTokens: 199_999 }, NEVER);
  expect(requests().map((request) => request.maxOutputTokens)).toEqual([22_000, 2_000]);
});

const OTHERS = ['model-b', 'model-c'];

test('when the model is unavailable the next of the fallback chain summarizes; skipped models are not tried again', async () => {
  const { summarize, requests, switches } = summarizer(
    [overloaded(), fails('not_found'), says('<summary>x</summary>')],
    OTHERS,
  );
  const history = [userSays('one'), thought('model-a'), userSays('two')];
  expect(await summarize(history, ORDER, NEVER)).toMatchObject({ ok: true });
  expect(requests().map(({ model }) => model)).toEqual(['model-a', 'model-b', 'model-c']);
  expect(JSON.stringify(requests()[1]?.messages)).not.toContain('thinking');
  expect(switches).toEqual(['model-b: scripted overloaded', 'model-c: scripted not_found']);
  const later = summarizer([overloaded(), overloaded()], OTHERS);
  const failed = await later.summarize(history, { ...ORDER, model: 'model-b' }, NEVER);
  expect(failed).toEqual({ ok: false, why: 'scripted overloaded' });
  expect(later.requests().map(({ model }) => model)).toEqual(['model-b', 'model-c']);
});

test('an error that no other model can fix ends the attempt', async () => {
  const { summarize, requests } = summarizer([fails('too_long')], OTHERS);
  expect(await summarize([userSays('one')], ORDER, NEVER)).toMatchObject({ ok: false });
  expect(requests()).toHaveLength(1);
});
