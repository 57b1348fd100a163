import { expect, test } from 'vitest';
import { createModelRegistry } from '../../src/model/registry/model-registry.ts';
import { createUsageMeter, type UsageMeter } from '../../src/model/usage-meter.ts';
import { createSideRequests } from '../../src/tools/side-requests.ts';
import { pausedReply } from '../support/api/faults.ts';
import { type ApiTurn, reply, says, status } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { citedText, webSearch } from '../support/api/server-blocks.ts';
import { testCore } from '../support/core.ts';
import { runOptions } from '../support/run-options.ts';
import { createTempProject } from '../support/temp-project.ts';

const SIGNAL = new AbortController().signal;
const PAGES = [{ url: 'https://example.com/a', title: 'A' }];

/** What is asked on the side of an API that answers with these turns. */
async function sideAsks(turns: readonly ApiTurn[], small?: 'no small model', summaries: 'on' | 'off' = 'on') {
  const server = await startApiServer({ turns, side: () => undefined });
  const choice = createModelRegistry({
    model: 'sonnet',
    apiKey: 'k',
    baseUrl: server.url,
    retry: { limits: () => ({ maxRetries: 0 }) },
  });
  if (!choice.ok) throw new Error(choice.problem);
  const used: string[] = [];
  await using project = await createTempProject();
  const smallModel = small === undefined ? () => choice.getSmallModel('sonnet') : () => undefined;
  const meter: UsageMeter = { ...createUsageMeter(), addReply: (name: string) => void used.push(name) };
  const options = runOptions({ frontend: 'screen' });
  const core = await testCore(project, { model: choice, smallModel, meter, options });
  const settings = {
    ...core.settings,
    current: () => ({ ...core.settings.current(), callSummaries: summaries === 'on' }),
  };
  const asks = createSideRequests({ ...core, settings });
  return { ...asks, used, requests: server.requests, [Symbol.asyncDispose]: server.close };
}

test('the small model answers about a page, and its usage is counted', async () => {
  await using asks = await sideAsks([says('It is blue.')]);
  expect(await asks.answerAboutPage('Which colour?', '<page>blue</page>', SIGNAL)).toBe('It is blue.');
  expect(asks.used).toEqual(['claude-haiku-5-5']);
  expect(asks.requests()[0]?.raw).toContain('Which colour?\\n\\n<page>blue</page>');
});

test('the page itself is returned when there is no small model, or it does not answer', async () => {
  await using failing = await sideAsks([status(400)]);
  expect(await failing.answerAboutPage('Which?', '<page>blue</page>', SIGNAL)).toBe('<page>blue</page>');
  await using without = await sideAsks([], 'no small model');
  expect(await without.answerAboutPage('Which?', '<page>blue</page>', SIGNAL)).toBe('<page>blue</page>');
  expect(without.requests()).toEqual([]);
});

test('calls are summarized if enabled, from three on, and never without a small model', async () => {
  await using asks = await sideAsks([says('Looked around')]);
  const call = { tool: 'Read', title: 'Read a.txt' };
  expect(await asks.summarizeCalls?.([call, call], SIGNAL)).toBeUndefined();
  expect(await asks.summarizeCalls?.([call, call, call], SIGNAL)).toBe('Looked around');
  await using unset = await sideAsks([], undefined, 'off');
  expect(await unset.summarizeCalls?.([call, call, call], SIGNAL)).toBeUndefined();
  expect(unset.requests()).toEqual([]);
  await using without = await sideAsks([], 'no small model');
  expect(await without.summarizeCalls?.([call, call, call], SIGNAL)).toBeUndefined();
  expect(without.requests()).toEqual([]);
});

test('a paused web search is continued, and returns every page once', async () => {
  await using asks = await sideAsks([
    pausedReply(...webSearch('ouro', PAGES)),
    reply([...webSearch('ouro 2', PAGES, 'srvtoolu_2'), citedText('It is new.', PAGES)]),
  ]);
  expect(await asks.searchWeb('ouro', {}, SIGNAL)).toMatchObject({
    text: 'It is new.',
    pages: [{ title: 'A', url: PAGES[0]?.url }],
  });
  expect(asks.requests()).toHaveLength(2);
  expect(asks.requests().flatMap(({ violation }) => violation ?? [])).toEqual([]);
});

test('a refused web search states the reason', async () => {
  await using asks = await sideAsks([status(400, 'web search is not enabled for this key')]);
  await expect(asks.searchWeb('ouro', {}, SIGNAL)).rejects.toThrow('web search is not enabled');
});
