import { expect, test } from 'vitest';
import { makeSummarize } from '../../src/agent/summarize.ts';
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
  const summarize = makeSummarize({
    chain: () => ['model-a', ...others],
    infoOf: (id) => ({ ...INFO, id }),
    port: model,
    system: () => [{ name: 'base', text: 'You help.' }],
    specs: () => [],
    thinking: () => ({ effort: 'high', thinkingBudgetTokens: 5_000 }),
    onUsage: () => undefined,
    onSwitch: (to, cause) => void switches.push(`${to}: ${cause}`),
  });
  return { summarize, requests, switches };
}

test('the order for a summary thinks as the conversation does, and takes along no thoughts of other models', async () => {
  const { summarize, requests } = summarizer([says('<summary>x</summary>')]);
  const history = [userSays('one'), thought('model-b'), userSays('two'), thought('model-a'), userSays('three')];
  expect(await summarize(history, ORDER, NEVER)).toMatchObject({ ok: true });
  expect(requests()[0]).toMatchObject({ effort: 'high', thinkingBudgetTokens: 5_000, maxOutputTokens: 32_000 });
  expect(requests()[0]?.messages.map((message) => message.blocks.length)).toEqual([1, 1, 1, 2, 2]);
});

test('thoughts that are refused are left out of the order, once', async () => {
  const refused = fails('invalid', { refusedPart: 'signature' });
  const history = [userSays('one'), thought('model-a'), userSays('two')];
  const once = summarizer([refused, says('<summary>x</summary>')]);
  expect(await once.summarize(history, ORDER, NEVER)).toMatchObject({ ok: true });
  expect(JSON.stringify(once.requests()[1]?.messages)).not.toContain('thinking');
  const always = summarizer([refused, refused, says('never asked')]);
  expect(await always.summarize(history, ORDER, NEVER)).toEqual({ ok: false, why: 'scripted invalid' });
});

test('in a window that is nearly full the summary gets what is left of it, and never nothing', async () => {
  const { summarize, requests } = summarizer([says('<summary>x</summary>'), says('<summary>x</summary>')]);
  await summarize([userSays('one')], { ...ORDER, sentTokens: 175_000 }, NEVER);
  await summarize([userSays('one')], { ...ORDER, sentTokens: 199_999 }, NEVER);
  expect(requests().map((request) => request.maxOutputTokens)).toEqual([22_000, 2_000]);
});

const OTHERS = ['model-b', 'model-c'];

test('when the model stays away the next of the chain sums up, told as such; whoever was passed over is not asked again', async () => {
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

test('what no other model could do better ends the try', async () => {
  const { summarize, requests } = summarizer([fails('too_long')], OTHERS);
  expect(await summarize([userSays('one')], ORDER, NEVER)).toMatchObject({ ok: false });
  expect(requests()).toHaveLength(1);
});
