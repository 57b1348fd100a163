import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../../../src/contracts/message.ts';
import { runs } from '../../support/runs.ts';
import { bench, type Call, exchange, INFO, NEVER, prompt, says, sentBytes, words } from '../workbench.ts';

const SMALL = { ...INFO, contextWindow: 24_000, defaultOutputTokens: 1_000 };

const call = fc.record({
  name: fc.constantFrom('Read', 'Grep', 'Bash', 'Edit', 'Task'),
  file: fc.integer({ min: 0, max: 5 }),
  size: fc.integer({ min: 0, max: 40_000 }),
});

const turn = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(call, { minLength: 1, maxLength: 4 }).map((calls) => ({ kind: 'calls' as const, calls })),
  },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 3_000 }).map((size) => ({ kind: 'talk' as const, size })) },
  { weight: 1, arbitrary: fc.constant({ kind: 'resume' as const }) },
);

type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

function messagesOf(step: Turn, id: string): readonly Message[] {
  if (step.kind === 'resume') return [];
  if (step.kind === 'talk')
    return [says(`${id}-said`, words(step.size, 'answer')), prompt(id, words(step.size, 'prompt'))];
  return exchange(
    id,
    step.calls.map(
      ({ name, file, size }): Call => ({ name, input: { file_path: `f${file}` }, result: words(size, `r${file}`) }),
    ),
  );
}

test('sent content is sent again byte for byte, across resumes, unless a level freed space at that moment', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 5, maxLength: 30 }), async (turns) => {
      let now = bench({ modelInfo: () => SMALL });
      let messages: readonly Message[] = [prompt('p', 'Begin.')];
      let sent: readonly string[] = [];
      for (const [index, step] of turns.entries()) {
        let compacted = false;
        if (step.kind === 'resume') {
          const decisions = now.context.decisions();
          now = bench({ modelInfo: () => SMALL });
          now.context.restore(structuredClone(decisions));
          messages = structuredClone(messages);
        }
        messages = [...messages, ...messagesOf(step, `t${index}`)];
        now.runs.length = 0;
        const first = await now.context.prepare(messages);
        if (first.tokens >= now.context.limits('a').compactAt) {
          const result = await now.context.compact(messages, 'auto', NEVER);
          if (result.ok) messages = result.messages;
          compacted = true;
        }
        const { view } = await now.context.prepare(messages);
        const bytes = sentBytes(view);
        const madeRoom = compacted || now.runs.some((run) => run.level !== 'budget');
        if (!madeRoom) expect(bytes.slice(0, sent.length)).toEqual(sent);
        const again = await now.context.prepare(messages);
        expect(sentBytes(again.view)).toEqual(bytes);
        // The last user message may still get company; everything before it stands.
        sent = bytes.slice(0, -1);
      }
    }),
    runs(60),
  );
});

test('a block is changed at most once after it was sent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 10, maxLength: 40 }), async (turns) => {
      const { context } = bench({ modelInfo: () => SMALL });
      const forms = new Map<string, string[]>();
      let messages: readonly Message[] = [prompt('p', 'Begin.')];
      for (const [index, step] of turns.entries()) {
        messages = [...messages, ...messagesOf(step, `t${index}`)];
        const { view } = await context.prepare(messages);
        for (const block of view.flatMap((message) => (message.role === 'user' ? message.blocks : []))) {
          if (block.type !== 'tool_result') continue;
          const seen = forms.get(block.tool_use_id) ?? [];
          const text = JSON.stringify(block.content);
          if (seen.at(-1) !== text) forms.set(block.tool_use_id, [...seen, text]);
        }
      }
      expect(Math.max(0, ...[...forms.values()].map((seen) => seen.length))).toBeLessThanOrEqual(2);
    }),
    runs(40),
  );
});

test('the pipeline changes nothing in its own output', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 25 }), async (turns) => {
      const { context } = bench({ modelInfo: () => SMALL });
      const messages = [prompt('p', 'Begin.'), ...turns.flatMap((step, index) => messagesOf(step, `t${index}`))];
      const { view } = await context.prepare(messages);
      const twice = await context.prepare(view);
      expect(twice.view).toEqual(view);
    }),
    runs(60),
  );
});
