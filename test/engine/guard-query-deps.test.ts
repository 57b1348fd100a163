import { expect, test } from 'vitest';
import type { QueryDeps } from '../../src/contracts/query.ts';
import { query } from '../../src/engine/query.ts';
import { drain } from '../support/loop/drain.ts';
import { findInvariantViolations } from '../support/loop/invariants.ts';
import {
  calls,
  contextTooLong,
  echoTool,
  says,
  scripted,
  unlimitedContext,
  userSays,
} from '../support/loop/scripted.ts';
import { findUnbalancedEvents } from '../support/loop/unbalanced-events.ts';

const PROMPT = [userSays('do it')];

const boom = (): never => {
  throw new Error('boom');
};
const later = () => Promise.reject(new Error('boom'));

const long = echoTool({ call: async () => ({ content: 'x'.repeat(5_000) }) });

/** Every callback the loop has, broken; what the run is still worth. */
const BROKEN: readonly (readonly [string, Partial<QueryDeps>, string])[] = [
  ['modelInfo', { modelInfo: boom }, 'completed'],
  ['system', { system: boom }, 'completed'],
  ['tools', { tools: boom }, 'completed'],
  ['toolSpecs', { toolSpecs: boom }, 'completed'],
  ['cwd', { cwd: boom }, 'completed'],
  ['toRequestMessages', { toRequestMessages: boom }, 'completed'],
  ['transformRequest', { transformRequest: boom }, 'completed'],
  ['gate', { gate: later }, 'completed'],
  ['gate, at once', { gate: boom }, 'completed'],
  ['beforeCall', { beforeCall: later }, 'completed'],
  ['afterCall', { afterCall: boom }, 'completed'],
  ['onStop', { onStop: later }, 'stop_hook_prevented'],
  ['capResult', { capResult: boom, tools: () => [long] }, 'completed'],
  ['context.prepare', { context: { ...unlimitedContext, prepare: later } }, 'completed'],
  ['context.compact', { context: { ...unlimitedContext, compact: boom } }, 'prompt_too_long'],
  ['context.drain', { context: { ...unlimitedContext, drain: later } }, 'completed'],
  ['context.limits', { context: { ...unlimitedContext, limits: boom } }, 'completed'],
  ['context.calibrate', { context: { ...unlimitedContext, calibrate: boom } }, 'completed'],
  ['queues', { queues: { takeSteering: boom, takeFollowUps: boom, hasSteering: boom } }, 'completed'],
  ['attachments', { attachments: boom }, 'completed'],
  ['summarizeCalls', { summarizeCalls: boom }, 'completed'],
  ['shouldStopAfterTurn', { shouldStopAfterTurn: boom }, 'completed'],
  ['costUsd', { costUsd: boom }, 'budget_exhausted'],
  ['the tool itself', { tools: () => [echoTool({ call: boom })] }, 'completed'],
  ['a tool that cannot read its input', { tools: () => [{ ...echoTool(), prepare: boom }] }, 'completed'],
  [
    'a tool that cannot read what a hook changed',
    {
      beforeCall: async () => ({ input: { changed: true } }),
      tools: () => [
        {
          ...echoTool(),
          prepare: (input) => (JSON.stringify(input) === '{}' ? echoTool().prepare(input) : boom()),
        },
      ],
    },
    'completed',
  ],
];

test.each(BROKEN)(
  '%s may fail: the loop ends, reports it, and sends only valid requests',
  async (name, broken, wanted) => {
    const deps = scripted([calls({ name: 'Echo', id: 'a', input: {} }), contextTooLong(), says('done')], {
      ...broken,
      config: { maxBudgetUsd: 1 },
    });
    const { events, result } = await drain(query(PROMPT, deps, new AbortController().signal));
    expect(result.reason).toBe(wanted);
    expect(deps.requests().flatMap(findInvariantViolations)).toEqual([]);
    expect(findUnbalancedEvents(events)).toEqual([]);
    expect(JSON.stringify([...events, result]), name).toContain('boom');
  },
);

test('a repeated error is reported once', async () => {
  const deps = scripted([calls('Echo'), calls('Echo')], { context: { ...unlimitedContext, prepare: later } });
  const { events } = await drain(query(PROMPT, deps, new AbortController().signal));
  expect(events.filter((event) => event.type === 'notice').map((event) => event.text)).toEqual([
    'Preparing the context failed and was skipped: boom',
  ]);
});

test('progress of a tool after its end is dropped', async () => {
  let speakLate: (() => void) | undefined;
  const tool = echoTool({
    call: async (_input, { report }) => {
      speakLate = () => report({ kind: 'note', text: 'late' });
      return { content: 'x' };
    },
  });
  const deps = scripted([calls('Echo')], {
    tools: () => [tool],
    attachments: async () => {
      speakLate?.();
      return [];
    },
  });
  const { events } = await drain(query(PROMPT, deps, new AbortController().signal));
  expect(events.filter((event) => event.type === 'tool_update')).toEqual([]);
});
