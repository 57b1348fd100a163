import { expect, test } from 'vitest';
import type { Message } from '../../../src/contracts/message.ts';
import { longTest } from '../../support/long-test.ts';
import { isWholeRun } from '../../support/runs.ts';
import { bench, exchange, INFO, NEVER, prompt, sentBytes, words } from '../workbench.ts';

const PIN = 'Never touch the file ./legacy/ÄÖ.ts — not even its "comments".';

/** What the provider counts: not what we guess. */
const counted = (view: readonly Message[]) => 5_200 + Math.round(JSON.stringify(sentBytes(view)).length / 3.1);

/** A long day, or its morning as long as somebody waits. */
const TURNS = isWholeRun ? 500 : 260;

longTest(
  'hundreds of turns with results of 1 KB to 1 MB never exceed the window, and cheaper levels come first',
  async () => {
    const { context, runs, asked } = bench();
    const random = seeded(7);
    let messages: readonly Message[] = [
      prompt('pin', PIN, { pinned: true }),
      prompt('p0', 'Tidy the project up, please.'),
    ];
    const { compactAt } = context.limits('model-a');
    let biggest = 0;
    let compactions = 0;
    let lastCompactedAt = -10;
    for (let turn = 0; turn < TURNS; turn += 1) {
      if (turn % 60 === 59) messages = [...messages, prompt(`p${turn}`, `Now the part number ${turn}.`)];
      let prepared = await context.prepare(messages);
      if (prepared.tokens >= compactAt) {
        const result = await context.compact(messages, 'auto', NEVER);
        if (!result.ok) throw new Error(result.why);
        expect(result.postTokens).toBeLessThan(result.preTokens);
        expect(turn - lastCompactedAt).toBeGreaterThan(1);
        lastCompactedAt = turn;
        compactions += 1;
        messages = result.messages;
        prepared = await context.prepare(messages);
      }
      const tokens = counted(prepared.view);
      biggest = Math.max(biggest, tokens);
      context.calibrate(prepared.view, tokens);
      expect(prepared.view.some((message) => JSON.stringify(message).includes(JSON.stringify(PIN)))).toBe(true);
      const size = Math.round(1_000 * 1_000 ** (random() ** 3));
      const call = {
        name: random() < 0.5 ? 'Read' : 'Bash',
        input: { file_path: `src/${turn % 90}.ts` },
        result: words(size),
      };
      const said: Message = {
        role: 'assistant',
        id: `s${turn}`,
        model: 'model-a',
        blocks: [{ type: 'text', text: words(3_000) }],
      };
      messages = [
        ...messages,
        ...exchange(`t${turn}`, [call]),
        ...(turn % 3 === 0 ? [said, prompt(`q${turn}`, words(600))] : []),
      ];
    }
    const count = (level: string) => runs.filter((run) => run.level === level).length;
    expect(biggest).toBeLessThan(INFO.contextWindow);
    expect(count('budget')).toBeGreaterThan(20);
    expect(count('snip')).toBeGreaterThan(3);
    expect(compactions).toBeGreaterThan(0);
    expect(count('snip')).toBeGreaterThan(compactions);
    expect(asked.length).toBe(compactions);
    expect(runs.findIndex((run) => run.level === 'snip')).toBeLessThan(
      runs.findIndex((run) => run.level === 'compact'),
    );
  },
);

test('old results are left to a provider that can clear them itself, until it was too slow', async () => {
  const clearing = bench({ modelInfo: () => ({ ...INFO, clearsResultsAt: 115_000 }) });
  const own = bench();
  const reads = Array.from({ length: 30 }, (_, at) =>
    exchange(`t${at}`, [{ name: 'Read', input: { file_path: `src/${at}.ts` }, result: words(14_000) }]),
  ).flat();
  const messages = [prompt('p', 'Read all of it.'), ...reads];
  for (const { context } of [clearing, own]) {
    const { view } = await context.prepare(messages);
    context.calibrate(view, 125_000);
    await context.prepare([...messages, prompt('q', 'And now?')]);
  }
  expect(own.runs.map(({ level }) => level)).toContain('snip');
  expect(clearing.runs).toEqual([]);
  const { view } = await clearing.context.prepare([...messages, prompt('q', 'And now?')]);
  clearing.context.calibrate(view, 150_000);
  await clearing.context.prepare([...messages, prompt('q', 'And now?'), prompt('r', 'Well?')]);
  expect(clearing.runs.map(({ level }) => level)).toContain('snip');
});

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
