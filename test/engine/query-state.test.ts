import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addExcludedContent } from '../../src/agent/agent-state.ts';
import { findRequestDifference } from '../../src/context/report/prompt-cache-monitor.ts';
import type { AgentEvent } from '../../src/contracts/event.ts';
import type { Message } from '../../src/contracts/message.ts';
import type { ModelRequest } from '../../src/contracts/model.ts';
import type { ExcludedContent } from '../../src/contracts/query.ts';
import type { Terminal } from '../../src/contracts/terminal-reason.ts';
import { query } from '../../src/engine/query.ts';
import { findInvariantViolations } from '../support/loop/invariants.ts';
import {
  buildHistory,
  calls,
  contextTooLong,
  echoTool,
  empty,
  fails,
  malformedCall,
  overloaded,
  pausedReply,
  queuedMessage,
  refusalReply,
  type ScriptedReply,
  says,
  scripted,
  truncatedReply,
  userSays,
} from '../support/loop/scripted.ts';
import { findUnbalancedEvents } from '../support/loop/unbalanced-events.ts';
import { runs } from '../support/runs.ts';

const REPLIES: Readonly<Record<string, () => ScriptedReply>> = {
  fine: () => says('fine'),
  thinks: () => ({
    blocks: [
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'text', text: 'so' },
    ],
  }),
  onlyThinks: () => ({ blocks: [{ type: 'thinking', thinking: 'hm', signature: 'sig' }] }),
  call: () => calls('Echo'),
  calls: () => calls('Echo', 'Slow', 'Echo', 'Gone'),
  thinksAndCalls: () => ({
    blocks: [{ type: 'thinking', thinking: 'hm', signature: 'sig' }, ...calls('Slow').blocks],
    stop: 'tool_use',
  }),
  breaksAfterCall: () => ({ ...calls('Slow'), failure: { kind: 'cut', message: 'cut' } }),
  surrogate: () => says('half \ud83d'),
  blank: () => says(' \n'),
  truncatedReply,
  contextTooLong,
  overloaded,
  refusalReply,
  pausedReply,
  empty,
  malformedCall,
  cut: () => fails('cut'),
  signature: () => fails('invalid', { refusedPart: 'signature' }),
  media: () => fails('media_too_large'),
  window: () => says('and', 'model_context_window_exceeded'),
  crash: () => ({ blocks: [], throws: 'boom' }),
};

const prompt = fc.record({
  script: fc.array(fc.constantFrom(...Object.keys(REPLIES)), { maxLength: 6 }),
  /** ESC after this many events. */
  abortAt: fc.option(fc.nat({ max: 80 }), { nil: undefined }),
  chain: fc.constantFrom(['model-a'], ['model-b'], ['model-a', 'model-b']),
  steering: fc.nat({ max: 2 }),
  followUps: fc.nat({ max: 2 }),
  hook: fc.constantFrom('pass', 'object'),
  /** The program ends behind this prompt, and the conversation is read from a file. */
  resumes: fc.boolean(),
});

type RandomPrompt = typeof prompt extends fc.Arbitrary<infer Value> ? Value : never;

async function play(history: readonly Message[], said: RandomPrompt, at: number, excluded: ExcludedContent) {
  const slow = echoTool({
    name: 'Slow',
    safe: 'alone',
    call: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return { content: 'slow' };
    },
  });
  const many = (count: number, lane: 'next' | 'after') =>
    Array.from({ length: count }, (_, index) => queuedMessage(lane, `${lane} ${at}.${index}`));
  const deps = scripted(
    said.script.map((name) => REPLIES[name]?.() ?? says('x')),
    {
      config: { chain: said.chain.map((model) => ({ model })), excluded },
      tools: () => [echoTool(), slow],
      steering: many(said.steering, 'next'),
      followUps: many(said.followUps, 'after'),
      onStop: async () => (said.hook === 'object' ? { kind: 'reject', words: 'not yet' } : { kind: 'pass' }),
      newId: () => crypto.randomUUID(),
    },
  );
  const first = [...history, { ...userSays(`prompt ${at}`), id: crypto.randomUUID() }];
  const controller = new AbortController();
  const run = query(first, deps, controller.signal);
  const events: AgentEvent[] = [];
  let result: Terminal | undefined;
  while (result === undefined) {
    const step = await run.next();
    if (step.done === true) result = step.value;
    else events.push(step.value);
    if (events.length === said.abortAt) controller.abort();
  }
  const left = events.reduce(addExcludedContent, excluded);
  return { events, result, requests: deps.requests(), history: buildHistory(first, events), stripped: left };
}

/** A request may begin otherwise than the one before it only for these reasons, told since then. */
function isExplained(before: ModelRequest, after: ModelRequest, events: readonly AgentEvent[]): boolean {
  const isHealed = events.some((event) => event.type === 'recovery_end' && event.recovery === 'healed');
  return before.model !== after.model || isHealed || events.some((event) => event.type === 'compacted');
}

test('random conversations with failures, ESC, model switches and resumes end, stay valid and keep their prefix', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(prompt, { minLength: 1, maxLength: 4 }), async (prompts) => {
      let history: readonly Message[] = [];
      let previous: ModelRequest | undefined;
      let stripped: ExcludedContent = { thinking: false, images: undefined, refused: [] };
      let since: AgentEvent[] = [];
      for (const [at, said] of prompts.entries()) {
        const run = await play(history, said, at, stripped);
        expect(findUnbalancedEvents(run.events)).toEqual([]);
        expect(run.requests.flatMap(findInvariantViolations)).toEqual([]);
        expect(run.requests.length).toBeLessThanOrEqual(60);
        const requests = [...run.requests];
        for (const event of run.events) {
          since.push(event);
          const request = event.type === 'request_sent' ? requests.shift() : undefined;
          if (request === undefined) continue;
          const difference = previous === undefined ? undefined : findRequestDifference(previous, request);
          if (difference !== undefined && previous !== undefined) {
            expect(isExplained(previous, request, since), difference.cause).toBe(true);
          }
          previous = request;
          since = [];
        }
        expect(requests).toEqual([]);
        stripped = run.stripped;
        const ids = run.history.map((message) => message.id);
        expect(new Set(ids).size).toBe(ids.length);
        history = said.resumes ? JSON.parse(JSON.stringify(run.history)) : run.history;
      }
    }),
    runs(120),
  );
});
