import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../../../src/contracts/message.ts';
import type { ModelFailure, ModelRequest, RefusedPosition } from '../../../src/contracts/model.ts';
import { type ExcludedContent, NO_EXCLUDED_CONTENT } from '../../../src/contracts/query.ts';
import { createQueryState } from '../../../src/engine/query-state.ts';
import { stripRejectedContent } from '../../../src/engine/recoveries/rejected-content.ts';
import { buildModelRequest } from '../../../src/engine/request/build-model-request.ts';
import { buildMessagesRequest } from '../../../src/model/providers/anthropic/messages-request.ts';
import { violationOfMessages } from '../../support/api/validate-messages.ts';
import { findInvariantViolations } from '../../support/loop/invariants.ts';
import { randomHistory } from '../../support/loop/random-history.ts';
import { INFO, scripted, userSays } from '../../support/loop/scripted.ts';
import { runs } from '../../support/runs.ts';

const deps = scripted([]);
const ISSUED = { thoughts: new Map([['sig', 'hmm']]), thoughtfulCalls: new Set<string>() };

const request = (history: readonly Message[], excluded: ExcludedContent) =>
  buildModelRequest(history, { ...createQueryState(history), excluded }, deps);

const refusal = (refusedAt: RefusedPosition): ModelFailure => ({ kind: 'invalid', message: 'no', refusedAt });

/** Asks a provider until it takes the request, as the loop does. */
function healed(history: readonly Message[], provider: (request: ModelRequest) => RefusedPosition | undefined) {
  let stripped = NO_EXCLUDED_CONTENT;
  for (let round = 0; ; round += 1) {
    const asked = request(history, stripped);
    const place = provider(asked);
    if (place === undefined) return { asked, stripped, round };
    const next = stripRejectedContent(refusal(place), { stripped, view: history, request: asked, round });
    if (next === undefined) return { asked: undefined, stripped, round };
    stripped = next.stripped;
  }
}

/** A provider that cannot bear one block, and says so with or without the number of the block. */
function dislikes(wire: string, precision: 'block' | 'message') {
  return ({ messages }: ModelRequest): RefusedPosition | undefined => {
    for (const [message, { blocks }] of messages.entries()) {
      const at = blocks.findIndex((block) => JSON.stringify(block) === wire);
      if (at !== -1) return precision === 'block' ? { message, blocks: [at] } : { message };
    }
    return undefined;
  };
}

test('whatever block a provider rejects, the conversation continues without it, valid and otherwise complete', () => {
  fc.assert(
    fc.property(randomHistory, fc.nat(), fc.constantFrom('block', 'message'), (random, pick, precision) => {
      const history = [...random, userSays('now')];
      const before = request(history, NO_EXCLUDED_CONTENT).messages.flatMap(({ blocks }) => [...blocks]);
      const disliked = JSON.stringify(before[pick % before.length]);
      const { asked, stripped, round } = healed(history, dislikes(disliked, precision));
      expect(round).toBeLessThan(16);
      if (asked === undefined) throw new Error('it was not healed');
      expect(findInvariantViolations(asked)).toEqual([]);
      const wire = buildMessagesRequest({ ...asked, effort: 'off' }, INFO);
      expect(violationOfMessages(wire, ISSUED) ?? 'fine').toBe('fine');
      const more: readonly Message[] = [
        ...history,
        { role: 'assistant', id: 'later', model: 'model-a', blocks: [{ type: 'text', text: 'and on' }] },
        userSays('later words'),
      ];
      const after = request(more, stripped).messages;
      expect(JSON.stringify(after.slice(0, asked.messages.length - 1))).toBe(
        JSON.stringify(asked.messages.slice(0, -1)),
      );
    }),
    runs(1_500),
  );
});

const call = { type: 'tool_use', id: 'a', name: 'Echo', input: { x: 1 } } as const;
const picture = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
} as const;
const history: readonly Message[] = [
  userSays('go'),
  { role: 'assistant', id: 'r', model: 'model-a', blocks: [{ type: 'text', text: 'I look.' }, call] },
  {
    role: 'user',
    id: 'u',
    origin: 'results',
    blocks: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'found' }, picture] }],
  },
];

const once = (place: RefusedPosition) => {
  const asked = request(history, NO_EXCLUDED_CONTENT);
  const next = stripRejectedContent(refusal(place), {
    stripped: NO_EXCLUDED_CONTENT,
    view: history,
    request: asked,
    round: 0,
  });
  return { words: next?.message, messages: request(history, next?.stripped ?? NO_EXCLUDED_CONTENT).messages.slice(1) };
};

test('a rejected call becomes text, and its result stays', () => {
  expect(once({ message: 1, blocks: [1] })).toEqual({
    words: 'The provider rejected a part of the request (a call of Echo); requests omit it from now on.',
    messages: [
      {
        role: 'assistant',
        blocks: [
          { type: 'text', text: 'I look.' },
          { type: 'text', text: '(a call of Echo that the provider refused was left out)' },
        ],
      },
      { role: 'user', blocks: [{ type: 'text', text: 'found' }, picture] },
    ],
  });
});

test('of a result only the rejected part is removed, as long as that helps', () => {
  const place = { message: 2, blocks: [0], part: 1 };
  expect(once(place).messages[1]).toMatchObject({
    blocks: [{ tool_use_id: 'a', content: [{ text: 'found' }, { text: expect.stringContaining('left out') }] }],
  });
  const stubborn = healed(history, ({ messages }) =>
    messages[2]?.blocks.some(({ type }) => type === 'tool_result') === true ? place : undefined,
  );
  expect(stubborn.asked?.messages[1]).toMatchObject({ blocks: [{ text: 'I look.' }, { type: 'text' }] });
});

test('a provider that rejects everything is given up on', () => {
  const never = healed(history, () => ({ message: 1, blocks: [0] }));
  expect(never.asked).toBeUndefined();
  expect(never.round).toBeLessThanOrEqual(16);
});

test('a rejected tool is no longer sent', () => {
  const gone = healed(history, ({ tools }) => (tools.length > 0 ? { tool: 0 } : undefined));
  expect(gone.asked?.tools).toEqual([]);
});

test('a provider that rejects an image without naming it loses the newest images first, then the others', () => {
  const other = (data: string) => ({ ...picture, source: { ...picture.source, data } });
  const shown: readonly Message[] = [
    { ...userSays('look'), role: 'user', id: 'p1', origin: 'prompt', blocks: [other('AAAA')] },
    { role: 'assistant', id: 'r1', model: 'model-a', blocks: [{ type: 'text', text: 'I see.' }, call] },
    {
      role: 'user',
      id: 'u1',
      origin: 'results',
      blocks: [{ type: 'tool_result', tool_use_id: 'a', content: [other('BBBB'), other('CCCC')] }],
    },
    { role: 'assistant', id: 'r2', model: 'model-a', blocks: [{ type: 'text', text: 'And these.' }] },
    userSays('go on'),
  ];
  /** The pictures of each request that a provider gets which refuses these. */
  const asked = (refused: readonly string[], kind: ModelFailure['kind'] = 'invalid') => {
    let stripped = NO_EXCLUDED_CONTENT;
    const seen: string[][] = [];
    for (let round = 0; ; round += 1) {
      const sent = request(shown, stripped);
      const names = [...JSON.stringify(sent.messages).matchAll(/"data":"(\w+)"/g)].map(([, name = '']) => name);
      seen.push(names);
      if (!names.some((name) => refused.includes(name))) return seen;
      const failure: ModelFailure = { kind, message: 'no', refusedPart: 'image' };
      const next = stripRejectedContent(failure, { stripped, view: shown, request: sent, round });
      if (next === undefined) return [...seen, ['given up']];
      stripped = next.stripped;
    }
  };
  expect(asked([])).toEqual([['AAAA', 'BBBB', 'CCCC']]);
  expect(asked(['CCCC'])).toEqual([['AAAA', 'BBBB', 'CCCC'], ['AAAA']]);
  expect(asked(['BBBB'], 'media_too_large')).toEqual([['AAAA', 'BBBB', 'CCCC'], ['AAAA']]);
  expect(asked(['AAAA'])).toEqual([['AAAA', 'BBBB', 'CCCC'], ['AAAA'], []]);
});
