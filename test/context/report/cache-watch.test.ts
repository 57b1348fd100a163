import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createCacheWatch,
  divergenceNotice,
  renderCache,
  resendWarning,
} from '../../../src/context/report/cache-watch.ts';
import type { Message } from '../../../src/contracts/message.ts';
import type { ModelPrice, ModelRequest } from '../../../src/contracts/model.ts';
import { repair, toRequestMessages } from '../../../src/engine/request.ts';
import { bench, INFO, NEVER, prompt, reads, says, words } from '../workbench.ts';

const BASE: ModelRequest = {
  model: 'model-a',
  maxOutputTokens: 8_000,
  system: [
    { name: 'base', text: 'You help.' },
    { name: 'memory', text: 'Use tabs.' },
  ],
  tools: [
    { name: 'Bash', description: 'runs', input_schema: {} },
    { name: 'Read', description: 'reads', input_schema: {} },
  ],
  messages: [
    { role: 'user', blocks: [{ type: 'text', text: 'hello' }] },
    { role: 'assistant', blocks: [{ type: 'text', text: 'hi' }] },
    { role: 'user', blocks: [{ type: 'text', text: words(3_500) }] },
  ],
  breakpoints: [],
  effort: 'off',
};

const seen = (after: ModelRequest, before = BASE) => {
  const watch = createCacheWatch();
  watch.sent(before);
  const found = watch.sent(after);
  return found === undefined ? undefined : `${found.place.name}: ${found.cause}`;
};

test('a conversation that only grows is no difference, copies of its blocks included', () => {
  const longer: ModelRequest = {
    ...structuredClone(BASE),
    messages: [
      ...structuredClone(BASE.messages.slice(0, 2)),
      {
        role: 'user',
        blocks: [...(BASE.messages[2]?.blocks.filter((b) => b.type === 'text') ?? []), { type: 'text', text: 'and' }],
      },
      { role: 'assistant', blocks: [{ type: 'text', text: 'more' }] },
    ],
    breakpoints: [{ at: 'system' }],
    maxOutputTokens: 64_000,
  };
  expect(seen(longer)).toBeUndefined();
});

const changes: readonly (readonly [string, Partial<ModelRequest>])[] = [
  ['model: the model changed from model-a to model-b', { model: 'model-b' }],
  [
    'tools: added Edit; removed Read',
    {
      tools: [
        { name: 'Bash', description: 'runs', input_schema: {} },
        { name: 'Edit', description: 'edits', input_schema: {} },
      ],
    },
  ],
  [
    'tools: changed Bash',
    { tools: [{ name: 'Bash', description: 'runs!', input_schema: {} }, ...BASE.tools.slice(1)] },
  ],
  ['tools: the order changed', { tools: BASE.tools.toReversed() }],
  [
    'system prompt, memory: its text changed',
    {
      system: [
        { name: 'base', text: 'You help.' },
        { name: 'memory', text: 'Use spaces.' },
      ],
    },
  ],
  ['system prompt, memory: it was removed', { system: BASE.system.slice(0, 1) }],
  ['thinking: the effort changed from off to high', { effort: 'high' }],
  [
    'message 1: its text changed',
    { messages: [{ role: 'user', blocks: [{ type: 'text', text: 'Hello' }] }, ...BASE.messages.slice(1)] },
  ],
  ['message 3: it is no longer sent', { messages: BASE.messages.slice(0, 2) }],
  [
    'message 2: something was added to it',
    {
      messages: BASE.messages.map((m, index) =>
        index === 1 && m.role === 'assistant'
          ? { ...m, blocks: [...m.blocks, { type: 'text' as const, text: 'x' }] }
          : m,
      ),
    },
  ],
];

for (const [expected, change] of changes) {
  test(`the first difference is named: ${expected}`, () => {
    expect(seen({ ...BASE, ...change })).toBe(expected);
  });
}

test('what is sent anew is counted from the first difference on, and told', () => {
  const watch = createCacheWatch();
  watch.sent(BASE);
  const found = watch.sent({ ...BASE, messages: BASE.messages.slice(0, 2) });
  expect(found?.tokens).toBeGreaterThan(1_000);
  expect(found?.tokens).toBeLessThan(1_050);
  if (found === undefined) throw new Error('nothing was found');
  expect(divergenceNotice(found)).toBe(
    'The request no longer begins like the one before it (message 3: it is no longer sent); this re-caches 1k tokens.',
  );
});

test('each request shows its hit ratio', () => {
  const watch = createCacheWatch();
  watch.sent(BASE);
  watch.answered({ inputTokens: 100, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 900 });
  watch.expect('the user rewound');
  watch.sent({ ...BASE, messages: BASE.messages.slice(0, 1) });
  watch.answered({ inputTokens: 100, outputTokens: 5, cacheReadTokens: 800, cacheWriteTokens: 100 });
  expect(watch.rows().map((row) => [row.hitRatio, row.divergence?.cause, row.divergence?.expected])).toEqual([
    [0, undefined, undefined],
    [0.8, 'the user rewound', true],
  ]);
  expect(renderCache(watch.rows())).toContain('| 2 | 80% | 800 | 100 | 100 | message 2: the user rewound |');
  expect(renderCache([])).toBe('Nothing has been sent yet.');
});

test('an action that throws the cache away is priced before it is taken, and only with a known price', () => {
  const price: ModelPrice = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, asOf: '2026-01-01' };
  expect(resendWarning('Switching the model', 120_000, price)).toBe(
    'Switching the model sends 120k tokens anew, about $0.45.',
  );
  expect(resendWarning('Switching the model', 120_000, undefined)).toBe('Switching the model sends 120k tokens anew.');
  const long = { aboveTokens: 100_000, input: 6, output: 30, cacheRead: 0.6, cacheWrite: 7.5 };
  expect(resendWarning('It', 200_000, { ...price, long })).toBe('It sends 200k tokens anew, about $1.50.');
});

test('over random conversations only levels that made room break the prefix, and each break has its cause', async () => {
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ file: fc.integer({ min: 0, max: 4 }), size: fc.integer({ min: 10, max: 30_000 }) }),
    },
    { weight: 1, arbitrary: fc.constantFrom('model', 'mode', 'date', 'tools') },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const { context, runs } = bench({
        modelInfo: () => ({ ...INFO, contextWindow: 24_000, defaultOutputTokens: 1_000 }),
      });
      const watch = createCacheWatch();
      let messages: readonly Message[] = [prompt('p', 'Begin.')];
      let { model, tools } = BASE;
      for (const [index, what] of steps.entries()) {
        runs.length = 0;
        let broken = '';
        if (what === 'model') {
          model = `${model}+`;
          broken = 'model';
        } else if (what === 'tools') {
          tools = [...tools, { name: `mcp__${index}`, description: '', input_schema: {} }];
          broken = 'tools';
        } else if (typeof what === 'string') {
          messages = [...messages, says(`a${index}`, 'Good.'), prompt(`n${index}`, `<reminder>${what}</reminder>`)];
        } else {
          messages = [...messages, ...reads(`r${index}`, `f${what.file}`, words(what.size))];
        }
        const prepared = await context.prepare(messages);
        if (prepared.tokens >= context.limits(model).compactAt) {
          const result = await context.compact(messages, 'auto', NEVER);
          if (result.ok) messages = result.messages;
        }
        for (const run of runs) if (run.level !== 'budget') watch.expect(run.level);
        const madeRoom = runs.some((run) => run.level !== 'budget');
        const { view } = await context.prepare(messages);
        const found = watch.sent({ ...BASE, model, tools, messages: repair(toRequestMessages(view)) });
        if (broken !== '' && index > 0) expect(found?.place.part).toBe(broken);
        else if (!madeRoom) expect(found).toBeUndefined();
        else if (found !== undefined) expect(found).toMatchObject({ place: { part: 'message' }, expected: true });
      }
    }),
    { numRuns: 50 },
  );
});

test('each model has a cache of its own: coming back to one is compared with what it heard last', () => {
  const watch = createCacheWatch();
  const asked = (model: string, ...texts: readonly string[]) =>
    watch.sent({
      ...BASE,
      model,
      messages: repair(toRequestMessages(texts.map((text, at) => prompt(`${at}`, text)))),
    });
  expect(asked('a', 'one')).toBeUndefined();
  watch.expect('The model changed to b.');
  expect(asked('b', 'one')).toMatchObject({ place: { part: 'model' }, expected: true });
  expect(asked('a', 'one', 'two')).toBeUndefined();
  expect(asked('c', 'one')).toMatchObject({ place: { part: 'model' }, expected: false });
});
