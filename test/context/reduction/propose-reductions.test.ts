import { expect, test } from 'vitest';
import { listMessageBlocks, type Message } from '../../../src/contracts/message.ts';
import { bench, exchange, INFO, prompt, reads, says, words } from '../workbench.ts';

const WINDOW = { ...INFO, contextWindow: 40_000, defaultOutputTokens: 1_000 };

const resultText = (view: readonly Message[], callId: string): string | undefined => {
  for (const message of view) {
    if (message.role !== 'user') continue;
    const found = message.blocks.find((block) => block.type === 'tool_result' && block.tool_use_id === callId);
    if (found?.type === 'tool_result') return typeof found.content === 'string' ? found.content : undefined;
  }
  return undefined;
};

test('a result over its limit is sent as head, tail and path, and stored whole', async () => {
  const { context, stored } = bench();
  const long = `START${words(60_000)}END`;
  const { view } = await context.prepare([prompt('p', 'go'), ...reads('a', 'big.log', long)]);
  const text = resultText(view, 'a-0') ?? '';
  expect(text.length).toBeLessThan(5_000);
  expect(text).toContain(
    '[Read big.log: 1 line, 58.6 KB, too long to show whole. The whole text is in /results/a-0.txt',
  );
  expect(text).toContain('START');
  expect(text).toMatch(/END$/);
  expect(stored.get('a-0')).toBe(long);
});

test('when many results exceed the limit together, the largest are shortened first', async () => {
  const { context, stored } = bench();
  const calls = Array.from({ length: 12 }, (_, index) => ({
    name: 'Grep',
    input: { pattern: `p${index}` },
    result: words(21_000 + index),
  }));
  await context.prepare([prompt('p', 'go'), ...exchange('a', calls)]);
  expect([...stored.keys()]).toEqual(['a-11']);
});

test('old large results become one line that says how to read them again; recent ones stay', async () => {
  const { context } = bench({ modelInfo: () => WINDOW });
  const history = [
    prompt('p', 'go'),
    ...reads('a', 'src/a.ts', words(28_000)),
    ...exchange('b', [{ name: 'Bash', input: { command: 'npm test' }, result: words(25_000) }]),
    ...exchange('c', [{ name: 'Task', input: { description: 'look' }, result: words(8_000) }]),
    ...reads('d', 'src/d.ts', words(16_000)),
  ];
  const { view, freedTokens } = await context.prepare(history);
  expect(resultText(view, 'a-0')).toBe(
    '[Read src/a.ts: 1 line, 27.3 KB, left out to save room. Call it again if you need it.]',
  );
  expect(resultText(view, 'b-0')).toBe(
    '[Bash npm test: 1 line, 24.4 KB, left out to save room. The call has taken effect; repeat it only if that does no harm.]',
  );
  expect(resultText(view, 'c-0')).toHaveLength(8_000);
  expect(resultText(view, 'd-0')).toHaveLength(16_000);
  expect(freedTokens).toBeGreaterThan(10_000);
});

test('nothing is changed while there is space', async () => {
  const { context, runs } = bench();
  const history = [prompt('p', 'go'), ...reads('a', 'a', words(25_000)), ...reads('b', 'a', words(25_000))];
  const { view } = await context.prepare(history);
  expect(view).toEqual(history);
  expect(runs).toEqual([]);
});

test('of repeated reads the newest stays, and an "unchanged" stub replaces nothing', async () => {
  const { context } = bench({ modelInfo: () => ({ ...WINDOW, contextWindow: 36_000 }) });
  const { view } = await context.prepare([
    prompt('p', words(54_000)),
    ...reads('a', 'x.ts', words(6_000)),
    ...reads('b', 'x.ts', words(6_100)),
    ...reads('c', 'y.ts', words(6_000)),
    ...reads('d', 'y.ts', 'Unchanged since it was read.'),
  ]);
  expect(resultText(view, 'a-0')).toBe('[Read x.ts: left out, the same was looked at again later.]');
  expect(resultText(view, 'b-0')).toHaveLength(6_100);
  expect(resultText(view, 'c-0')).toHaveLength(6_000);
});

test('runs of silent searches are folded into one line when the API asks for space; text between them stays', async () => {
  const { context, runs } = bench({ modelInfo: () => WINDOW });
  const looks = Array.from({ length: 30 }, (_, index) => reads(`a${index}`, `f${index}.ts`, words(900)));
  const history = [
    prompt('p', 'go'),
    ...looks.slice(0, 15).flat(),
    says('s', 'Half is done.'),
    prompt('q', 'go on'),
    ...looks.slice(15).flat(),
    ...reads('z', 'z.ts', words(24_000)),
  ];
  const before = await context.prepare(history);
  expect(before.view).toHaveLength(history.length);
  expect(await context.drain(history)).toBe(true);
  const { view, tokens } = await context.prepare(history);
  expect(tokens).toBeLessThan(before.tokens - 5_000);
  const texts = view.flatMap((m) => listMessageBlocks(m).flatMap((b) => (b.type === 'text' ? [b.text] : [])));
  expect(texts.filter((text) => text.includes('are folded'))).toHaveLength(2);
  expect(texts).toContain('Half is done.');
  expect(texts.join()).toContain('15 earlier calls are folded: Read f0.ts (1 line, 900 B); Read f1.ts');
  expect(runs).toEqual([{ level: 'collapse', blocks: 2, freedTokens: expect.any(Number) }]);
  expect(await context.drain(history)).toBe(false);
});

test('token counts of the API correct the estimate at once', async () => {
  const { context } = bench();
  const first = [prompt('p', words(3_500))];
  const { view, tokens } = await context.prepare(first);
  expect(tokens).toBeGreaterThan(5_900);
  context.calibrate(view, 9_000);
  expect(context.tokens()).toBe(9_000);
  const { tokens: later } = await context.prepare([...first, says('s', words(7_000))]);
  expect(later).toBeGreaterThan(9_000 + 2_000);
});
