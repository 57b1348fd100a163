import { expect, test } from 'vitest';
import { type ContextDecision, parseReductions } from '../../src/context/reduction-log.ts';
import type { Message } from '../../src/contracts/message.ts';
import { query } from '../../src/engine/query.ts';
import { drain } from '../support/loop/drain.ts';
import { calls, contextTooLong, echoTool, says as replies, scripted } from '../support/loop/scripted.ts';
import { bench, exchange, INFO, prompt, reads, words } from './workbench.ts';

const SMALL = { ...INFO, contextWindow: 40_000, defaultOutputTokens: 1_000 };

test('a conversation that exceeds its window is compacted once and answered', async () => {
  const { context, asked } = bench({ modelInfo: () => SMALL });
  const long = [prompt('a', words(70_000)), prompt('b', words(30_000)), prompt('now', 'And now?')];
  const deps = scripted([replies('Here it is.')], { context });
  const { events, result } = await drain(query(long, deps, new AbortController().signal));
  expect(result.reason).toBe('completed');
  expect(asked).toHaveLength(1);
  expect(events.filter((event) => event.type === 'compacted')).toHaveLength(1);
  const [request] = deps.requests();
  expect(JSON.stringify(request?.messages)).toContain('We worked on it.');
  expect(JSON.stringify(request?.messages.at(-1))).toContain('And now?');
});

test('one huge result that the API refuses is shortened, and the same turn continues', async () => {
  const { context, asked, stored } = bench({ limitChars: () => 10_000_000 });
  const huge = words(200_000, 'log');
  const deps = scripted([calls('Huge'), contextTooLong(), replies('Seen.')], {
    context,
    tools: () => [echoTool({ name: 'Huge', call: async () => ({ content: huge }) })],
  });
  const { result } = await drain(query([prompt('p', 'Read the log.')], deps, new AbortController().signal));
  expect(result.reason).toBe('completed');
  expect(asked).toEqual([]);
  expect([...stored.values()]).toEqual([huge]);
  const last = JSON.stringify(deps.requests().at(-1)?.messages);
  expect(last.length).toBeLessThan(8_000);
  expect(last).toContain('Read the log.');
});

test('decisions stored with the session give the same bytes after a resume', async () => {
  const kept: ContextDecision[] = [];
  const first = bench({ modelInfo: () => SMALL, remember: (decision) => kept.push(decision) });
  const messages: readonly Message[] = [
    prompt('p', 'go'),
    ...reads('a', 'a.ts', words(60_000)),
    ...reads('b', 'b.ts', words(28_000)),
    ...reads('c', 'c.ts', words(28_000)),
    ...reads('d', 'd.ts', words(28_000)),
    ...reads('e', 'e.ts', words(9_000)),
  ];
  const before = await first.context.prepare(messages);
  expect(kept.map((decision) => decision.level)).toContain('budget');
  expect(kept.map((decision) => decision.level)).toContain('snip');
  const onDisk: unknown[] = JSON.parse(JSON.stringify([...kept, { level: 'unknown' }, 'junk']));
  const resumed = bench({ modelInfo: () => ({ ...SMALL, contextWindow: 1_000_000 }) });
  resumed.context.restore(parseReductions(onDisk));
  const after = await resumed.context.prepare(structuredClone(messages));
  expect(JSON.stringify(after.view)).toBe(JSON.stringify(before.view));
  expect(resumed.stored.size).toBe(0);
});

test('an earlier result is found as it was sent, and not once the provider may have dropped it', async () => {
  const { context } = bench({ modelInfo: () => ({ ...INFO, contextWindow: 40_000 }) });
  const history = [
    prompt('p', 'go'),
    ...reads('a', 'src/a.ts', words(28_000)),
    ...exchange('b', [{ name: 'Bash', input: { command: 'npm test' }, result: words(25_000) }]),
    ...reads('d', 'src/d.ts', words(16_000)),
  ];
  const { view } = await context.prepare(history);
  expect(context.findSent?.('a-0')?.result.content).toContain('left out to save room');
  expect(context.findSent?.('d-0')).toMatchObject({ repliesAgo: 1, result: { content: words(16_000) } });
  expect(context.findSent?.('nothing')).toBeUndefined();
  context.calibrate(view, 10_000, 5_000);
  expect(context.findSent?.('d-0')).toBeUndefined();
  await context.prepare([...history, ...reads('e', 'src/e.ts', 'new')]);
  context.calibrate(view, 10_000, 5_000);
  expect(context.findSent?.('e-0')).toMatchObject({ repliesAgo: 1, result: { content: 'new' } });
});
