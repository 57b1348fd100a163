import { expect, test } from 'vitest';
import type { CarriedFacts } from '../../../src/context/compaction/summary.ts';
import { listMessageBlocks, type Message } from '../../../src/contracts/message.ts';
import { bench, exchange, INFO, NEVER, NOTHING, prompt, reads, says, words } from '../workbench.ts';

const SMALL = { ...INFO, contextWindow: 40_000, defaultOutputTokens: 1_000 };
const PIN = 'NEVER  edit ./vendor — "ever".\n';

const CARRIED: CarriedFacts = {
  todos: ['[x] find the bug', '[ ] write a test'],
  plan: 'First the test, then the fix.',
  filesRead: ['/p/a.ts', '/p/b.ts'],
  filesChanged: ['/p/b.ts'],
  skills: ['release'],
};

/** A conversation of replies with words, which no cheap level can shorten. */
function talk(id: string, chars: number): readonly Message[] {
  return Array.from({ length: 20 }, (_, index) => [
    prompt(`${id}${index}`, `Question ${id}${index}: do not rename it.`),
    says(`${id}${index}s`, words(chars / 20, `answer${index}`)),
  ]).flat();
}

test('a compaction keeps pins, the current prompt and the last turns, and carries the facts', async () => {
  const { context, asked } = bench({ modelInfo: () => SMALL, carried: () => CARRIED });
  const current = prompt('now', words(20_000, 'exactly so'));
  const last = reads('r', '/p/a.ts', words(4_000));
  const history = [prompt('pin', PIN, { pinned: true }), ...talk('t', 60_000), current, ...last];
  const result = await context.compactWith(history, { trigger: 'manual', focus: 'the parser' }, NEVER);
  if (!result.ok) throw new Error(result.why);
  expect(result.messages.map((message) => message.role)).toEqual([
    'boundary',
    'user',
    'user',
    'user',
    'assistant',
    'user',
  ]);
  expect(result.messages[1]).toBe(history[0]);
  expect(result.messages[3]).toBe(current);
  expect(result.messages.slice(4)).toEqual(last);
  expect(result.postTokens).toBeLessThan(result.preTokens);
  const summary = JSON.stringify(result.messages[2]);
  for (const fact of ['We worked on it.', '/p/b.ts', '[ ] write a test', 'First the test, then the fix.', 'release']) {
    expect(summary).toContain(fact);
    if (fact !== 'We worked on it.') expect(asked[0]?.instructions).toContain(fact);
  }
  expect(asked[0]?.instructions).toContain(PIN.trim());
  expect(asked[0]?.instructions).toContain('the parser');
});

test('after three compactions denials and changes are still known, whatever the summaries say', async () => {
  const { context, asked } = bench({
    modelInfo: () => SMALL,
    carried: () => ({ ...NOTHING, filesChanged: ['/p/b.ts'] }),
    summarize: async () => ({ ok: true, text: '<summary>Nothing of note.</summary>' }),
  });
  let messages: readonly Message[] = [prompt('pin', PIN, { pinned: true }), prompt('p', 'Leave the tests alone.')];
  for (const round of ['a', 'b', 'c']) {
    const result = await context.compact([...messages, ...talk(round, 90_000)], 'auto', NEVER);
    if (!result.ok) throw new Error(result.why);
    messages = result.messages;
  }
  expect(asked).toEqual([]);
  expect(messages[1]).toMatchObject({ id: 'pin', blocks: [{ type: 'text', text: PIN }] });
  expect(JSON.stringify(messages)).toContain('Earlier the user wrote: Question c0: do not rename it.');
  expect(JSON.stringify(messages)).toContain('/p/b.ts');
  const { view } = await context.prepare(messages);
  expect(JSON.stringify(view)).toContain(JSON.stringify(PIN));
});

test('one huge result in the first turn is shortened without a request', async () => {
  const { context, asked, stored } = bench({ modelInfo: () => SMALL, limitChars: () => 10_000_000 });
  const huge = words(230_000);
  const history = [prompt('p', 'Read it.'), ...reads('r', 'huge.log', huge)];
  const result = await context.compact(history, 'reactive', NEVER);
  if (!result.ok) throw new Error(result.why);
  expect(asked).toEqual([]);
  expect(result.messages[1]).toBe(history[0]);
  expect(JSON.stringify(result.messages).length).toBeLessThan(8_000);
  expect(stored.get('r-0')).toBe(huge);
  const { view, tokens } = await context.prepare(result.messages);
  expect(view).toEqual(result.messages);
  expect(tokens).toBeLessThan(8_000);
});

const failures: readonly (readonly [string, { ok: true; text: string } | { ok: false; why: string }, string])[] = [
  ['fails', { ok: false, why: 'the provider is overloaded' }, 'the provider is overloaded'],
  ['is empty', { ok: true, text: '  ' }, 'the summary came back empty'],
  ['has empty tags', { ok: true, text: '<summary> </summary>' }, 'the summary came back empty'],
  ['is cut', { ok: true, text: '<summary>It was abo' }, 'the summary was cut off'],
];

for (const [what, answer, why] of failures) {
  test(`a summary that ${what} is no compaction; if the API refused, a mechanical one is used`, async () => {
    const { context } = bench({ modelInfo: () => SMALL, summarize: async () => answer });
    const history = [...talk('t', 90_000), prompt('now', 'and now?')];
    expect(await context.compact(history, 'auto', NEVER)).toEqual({ ok: false, why });
    const reactive = await context.compact(history, 'reactive', NEVER);
    if (!reactive.ok) throw new Error(reactive.why);
    expect(reactive.postTokens).toBeLessThan(reactive.preTokens / 2);
    expect(JSON.stringify(reactive.messages)).toContain(why);
    expect(reactive.messages.at(-1)).toEqual(history.at(-1));
  });
}

test('the summary request fits even when the conversation does not', async () => {
  const { context, asked } = bench({ modelInfo: () => SMALL });
  await context.compact([...talk('t', 400_000), prompt('now', 'and now?')], 'reactive', NEVER);
  expect(JSON.stringify(asked[0]?.messages).length / 3.5).toBeLessThan(SMALL.contextWindow);
});

test('a window smaller than the instructions is reported without a request', async () => {
  const { context, asked } = bench({ modelInfo: () => ({ ...SMALL, contextWindow: 4_000 }) });
  const result = await context.compact([prompt('p', 'hi')], 'auto', NEVER);
  expect(result).toEqual({
    ok: false,
    why: 'the instructions and tools alone take 5k tokens and the model has room for 3k; choose a model with a larger window, or fewer tools',
  });
  expect(asked).toEqual([]);
});

test('after freed space fills up three times in a row, no fourth attempt is made', async () => {
  const { context } = bench({ modelInfo: () => SMALL });
  const refill = (id: string) => [prompt(id, words(90_000))];
  let messages: readonly Message[] = talk('t', 90_000);
  const outcomes: boolean[] = [];
  for (const round of ['a', 'b', 'c', 'd', 'e']) {
    const result = await context.compact([...messages, ...refill(round), says(`${round}x`, 'ok')], 'auto', NEVER);
    outcomes.push(result.ok);
    if (result.ok) messages = result.messages;
  }
  expect(outcomes.filter((ok) => ok).length).toBeLessThanOrEqual(3);
  expect(outcomes.at(-1)).toBe(false);
});

test('a hook may block a compaction, or add instructions', async () => {
  const blocking = bench({ beforeCompact: async () => ({ ok: false, why: 'a hook said no' }) });
  expect(await blocking.context.compact(talk('t', 9_000), 'manual', NEVER)).toEqual({
    ok: false,
    why: 'a hook said no',
  });
  const guiding = bench({ modelInfo: () => SMALL, beforeCompact: async () => ({ ok: true, focus: 'the schema' }) });
  await guiding.context.compact(talk('t', 90_000), 'manual', NEVER);
  expect(guiding.asked[0]?.instructions).toContain('the schema');
});

test('a compaction can be previewed and undone, including later messages', async () => {
  const { context } = bench({ modelInfo: () => SMALL });
  const history = [prompt('pin', PIN, { pinned: true }), ...talk('t', 90_000)];
  const preview = await context.preview(history);
  expect(preview.pins).toEqual([PIN]);
  expect(preview.keptTokens).toBeLessThan(preview.preTokens);
  expect(preview.keptMessages + preview.summarizedMessages).toBe(history.length);
  const result = await context.compact(history, 'manual', NEVER);
  if (!result.ok) throw new Error(result.why);
  const since = says('since', 'later');
  expect(context.undo([...result.messages, since])).toEqual([...history, since]);
  expect(context.undo([...result.messages, since])).toBeUndefined();
});

test('a compaction never separates calls from their results', async () => {
  const { context } = bench({ modelInfo: () => SMALL });
  const steps = Array.from({ length: 40 }, (_, index) =>
    exchange(`c${index}`, [{ name: 'Edit', input: { file_path: 'a' }, result: words(2_500) }]),
  );
  const result = await context.compact([prompt('p', 'go'), ...steps.flat()], 'manual', NEVER);
  if (!result.ok) throw new Error(result.why);
  const ids = (type: 'tool_use' | 'tool_result') =>
    result.messages.flatMap((message) =>
      listMessageBlocks(message).flatMap((block) =>
        block.type === type
          ? [block.type === 'tool_use' ? block.id : block.type === 'tool_result' ? block.tool_use_id : '']
          : [],
      ),
    );
  expect(ids('tool_use')).toEqual(ids('tool_result'));
  expect(ids('tool_use').length).toBeGreaterThan(0);
});

test('the threshold of compaction can be set as a share of the window', async () => {
  const { context } = bench({ compactAtPercent: () => 50 });
  expect(context.limits('model-a').compactAt).toBe(100_000);
  expect(bench().context.limits('model-a').compactAt).toBe(167_000);
});

test('reminders are not carried as user messages, and the current state is stated again', async () => {
  const state = ['The ordinary permission mode is on.', 'In the background run: shell_1 (npm run dev).'];
  const { context } = bench({ carried: () => ({ ...NOTHING, state }) });
  const stale = { type: 'text', text: '<reminder>\nPlan mode is on\n</reminder>' } as const;
  const hookText = { type: 'text', text: 'Plan mode is on, says a hook' } as const;
  const typed = (id: string, text: string, ...added: readonly { type: 'text'; text: string }[]) =>
    prompt(id, text, { blocks: [{ type: 'text', text }, ...added], sentBlocks: 1 });
  const results = reads('c', 'b.ts', 'short').map((message) =>
    message.role === 'user' ? { ...message, blocks: [...message.blocks, stale] } : message,
  );
  const history = [
    typed('p1', 'Never touch b.ts', hookText, stale),
    // A session of an older version does not say which blocks were sent.
    prompt('p2', '', { blocks: [{ type: 'text', text: 'Use tabs' }, stale] }),
    ...reads('a', 'a.ts', words(150_000)),
    typed('p3', 'Go on', stale),
    ...results,
  ];
  const result = await context.compactWith(history, { trigger: 'manual' }, NEVER);
  const text = JSON.stringify(result.ok ? result.messages : result.why);
  expect(text).not.toContain('Plan mode is on');
  for (const kept of [
    'Earlier the user wrote: Never touch b.ts',
    'Earlier the user wrote: Use tabs',
    'Go on',
    ...state,
  ])
    expect(text).toContain(kept);
});
