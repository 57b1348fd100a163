import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createPromptCacheMonitor,
  formatCacheDivergenceNotice,
  formatResendCost,
  renderCacheReport,
} from '../../../src/context/report/prompt-cache-monitor.ts';
import type { Message } from '../../../src/contracts/message.ts';
import type { ModelPrice, ModelRequest } from '../../../src/contracts/model.ts';
import { toRequestMessages } from '../../../src/engine/request/build-model-request.ts';
import { repairMessages } from '../../../src/engine/request/repair-messages.ts';
import { isWholeRun } from '../../support/runs.ts';
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
  const watch = createPromptCacheMonitor();
  watch.recordRequest(before);
  const found = watch.recordRequest(after);
  return found === undefined ? undefined : `${found.location.name}: ${found.cause}`;
};

test('a conversation that only grows is no difference, also with copied blocks', () => {
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
  test(`the first difference is reported: ${expected}`, () => {
    expect(seen({ ...BASE, ...change })).toBe(expected);
  });
}

test('content sent again is counted from the first difference on, and reported', () => {
  const watch = createPromptCacheMonitor();
  watch.recordRequest(BASE);
  const found = watch.recordRequest({ ...BASE, messages: BASE.messages.slice(0, 2) });
  expect(found?.tokens).toBeGreaterThan(1_000);
  expect(found?.tokens).toBeLessThan(1_050);
  if (found === undefined) throw new Error('nothing was found');
  expect(formatCacheDivergenceNotice(found)).toBe(
    'Prompt cache: 1k tokens are sent again (message 3: it is no longer sent).',
  );
});

test('a notice takes one row, however many tools came or went', () => {
  const watch = createPromptCacheMonitor();
  const tools = Array.from({ length: 40 }, (_, index) => ({
    name: `mcp__server__tool_${index}`,
    description: 'does',
    input_schema: {},
  }));
  watch.recordRequest(BASE);
  const found = watch.recordRequest({ ...BASE, tools: [...BASE.tools, ...tools] });
  if (found === undefined) throw new Error('nothing was found');
  const notice = formatCacheDivergenceNotice(found);
  expect(notice).toMatch(/^Prompt cache: [\d.k]+ tokens are sent again \(tools: added mcp__server__/);
  expect(notice.length).toBeLessThanOrEqual(80);
});

test('each request shows its cache hit ratio', () => {
  const watch = createPromptCacheMonitor();
  watch.recordRequest(BASE);
  watch.recordUsage({ inputTokens: 100, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 900 });
  watch.announceChange('the user rewound');
  watch.recordRequest({ ...BASE, messages: BASE.messages.slice(0, 1) });
  watch.recordUsage({ inputTokens: 100, outputTokens: 5, cacheReadTokens: 800, cacheWriteTokens: 100 });
  expect(watch.listRows().map((row) => [row.hitRatio, row.divergence?.cause, row.divergence?.expected])).toEqual([
    [0, undefined, undefined],
    [0.8, 'the user rewound', true],
  ]);
  expect(renderCacheReport(watch.listRows())).toContain('| 2 | 80% | 800 | 100 | 100 | message 2: the user rewound |');
  expect(renderCacheReport([])).toBe('No request has been sent yet.');
});

test('an action that invalidates the cache shows its price first, if the price is known', () => {
  const price: ModelPrice = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, asOf: '2026-01-01' };
  expect(formatResendCost(120_000, price)).toBe('resends 120k tokens (about $0.45)');
  expect(formatResendCost(120_000, undefined)).toBe('resends 120k tokens');
  const long = { aboveTokens: 100_000, input: 6, output: 30, cacheRead: 0.6, cacheWrite: 7.5 };
  expect(formatResendCost(200_000, { ...price, long })).toBe('resends 200k tokens (about $1.50)');
});

test('in random conversations only reduction levels break the prefix, and each break has its cause', async () => {
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
      const watch = createPromptCacheMonitor();
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
        for (const run of runs) if (run.level !== 'budget') watch.announceChange(run.level);
        const madeRoom = runs.some((run) => run.level !== 'budget');
        const { view } = await context.prepare(messages);
        const found = watch.recordRequest({ ...BASE, model, tools, messages: repairMessages(toRequestMessages(view)) });
        if (broken !== '' && index > 0) expect(found?.location.part).toBe(broken);
        else if (!madeRoom) expect(found).toBeUndefined();
        else if (found !== undefined) expect([found.location.part, found.expected]).toEqual(['message', true]);
      }
    }),
    { numRuns: isWholeRun ? 50 : 8 },
  );
});

test('each model has its own cache: switching back compares with its last request', () => {
  const watch = createPromptCacheMonitor();
  const asked = (model: string, ...texts: readonly string[]) => {
    const found = watch.recordRequest({
      ...BASE,
      model,
      messages: repairMessages(toRequestMessages(texts.map((text, at) => prompt(`${at}`, text)))),
    });
    return found === undefined ? undefined : [found.location.part, found.expected];
  };
  expect(asked('a', 'one')).toBeUndefined();
  watch.announceChange('The model changed to b.');
  expect(asked('b', 'one')).toEqual(['model', true]);
  expect(asked('a', 'one', 'two')).toBeUndefined();
  expect(asked('c', 'one')).toEqual(['model', false]);
});
