import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AssistantBlock, Message } from '../../../src/contracts/message.ts';
import { createQueryState } from '../../../src/engine/query-state.ts';
import { buildModelRequest } from '../../../src/engine/request/build-model-request.ts';
import { repairMessages } from '../../../src/engine/request/repair-messages.ts';
import { isNestedDeeperThan } from '../../../src/lib/json.ts';
import { buildMessagesRequest } from '../../../src/model/providers/anthropic/messages-request.ts';
import { violationOfMessages } from '../../support/api/validate-messages.ts';
import { findInvariantViolations } from '../../support/loop/invariants.ts';
import { randomHistory } from '../../support/loop/random-history.ts';
import { INFO, scripted, userSays } from '../../support/loop/scripted.ts';
import { runs } from '../../support/runs.ts';

const deps = scripted([]);
const ISSUED = { thoughts: new Map([['sig', 'hmm']]), thoughtfulCalls: new Set<string>() };
const stripped = fc.record({
  thinking: fc.boolean(),
  images: fc.constantFrom(undefined, 'u'),
  refused: fc.constant([]),
});
const modelIndex = fc.constantFrom(0, 1);
const twoModels = { ...deps, config: { ...deps.config, chain: [{ model: 'model-a' }, { model: 'model-b' }] } };

function request(history: readonly Message[], state: Partial<ReturnType<typeof createQueryState>> = {}) {
  return buildModelRequest(history, { ...createQueryState(history), ...state }, twoModels);
}

function blocksOf(history: readonly Message[]): readonly AssistantBlock[] {
  return request(history).messages.flatMap((message) => (message.role === 'assistant' ? message.blocks : []));
}

const assistant = (blocks: readonly AssistantBlock[], model = 'model-a'): Message => ({
  role: 'assistant',
  id: 'r',
  model,
  blocks,
});

test('for any history all invariants hold, the API accepts the bytes, and building again changes nothing', () => {
  fc.assert(
    fc.property(randomHistory, stripped, modelIndex, (history, without, index) => {
      const built = request(history, { excluded: without, modelIndex: index });
      expect(findInvariantViolations(built)).toEqual([]);
      const wire = buildMessagesRequest({ ...built, effort: 'off' }, INFO);
      expect(violationOfMessages({ ...wire, thinking: { type: 'adaptive' } }, ISSUED) ?? 'fine').toBe('fine');
      expect(isNestedDeeperThan(wire, 200)).toBe(false);
      expect(repairMessages(built.messages)).toEqual(built.messages);
    }),
    runs(3_000),
  );
});

test('a continued conversation reuses the messages of the request before, so that each is checked once', () => {
  const calls = assistant([
    { type: 'text', text: 'Look.' },
    { type: 'tool_use', id: 'call_1', name: 'Read', input: { file_path: 'a' } },
  ]);
  const results: Message = {
    role: 'user',
    id: 'u2',
    origin: 'results',
    blocks: [{ type: 'tool_result', tool_use_id: 'call_1', content: '' }],
  };
  const history = [
    userSays('go'),
    calls,
    results,
    userSays('one more thing'),
    assistant([{ type: 'text', text: 'Done.' }]),
  ];
  const before = request([...history, userSays('next')]).messages;
  const after = request([
    ...history,
    userSays('next'),
    assistant([{ type: 'text', text: 'Yes.' }]),
    userSays('last'),
  ]).messages;
  expect(before).toHaveLength(5);
  for (const [index, message] of before.slice(0, 4).entries()) expect(after[index]).toBe(message);
});

test('a continued conversation starts with the same bytes', () => {
  fc.assert(
    fc.property(
      randomHistory,
      fc.array(fc.constantFrom('next', 'and then'), { minLength: 1, maxLength: 3 }),
      (history, more) => {
        const asked = [...history, userSays('now')];
        const before = request(asked);
        const replied = more.flatMap((text, index): Message[] => [
          { ...assistant([{ type: 'text', text }]), id: `r${index}` },
          userSays(text),
        ]);
        const after = request([...asked, ...replied]);
        expect(JSON.stringify(after.messages.slice(0, before.messages.length))).toBe(JSON.stringify(before.messages));
      },
    ),
    runs(80),
  );
});

test('an input is sent back exactly as the model wrote it, including key order', () => {
  const input = { z: 1, a: { y: [2, '👍'], b: null } };
  expect(
    JSON.stringify(blocksOf([userSays('x'), assistant([{ type: 'tool_use', id: 'a', name: 'Echo', input }])])),
  ).toBe(JSON.stringify([{ type: 'tool_use', id: 'a', name: 'Echo', input }]));
});

test('thinking is sent unmodified to its own model, and to no other', () => {
  const thinking: AssistantBlock = { type: 'thinking', thinking: ' hm \n', signature: 'sig' };
  const said: AssistantBlock = { type: 'text', text: 'so' };
  expect(blocksOf([userSays('x'), assistant([thinking, said])])).toEqual([thinking, said]);
  expect(blocksOf([userSays('x'), assistant([thinking, said], 'model-b')])).toEqual([said]);
});

test('an empty result is marked, and a call without result is marked as possibly run', () => {
  const call: AssistantBlock = { type: 'tool_use', id: 'a', name: 'Echo', input: {} };
  const results: Message = {
    role: 'user',
    id: 'u',
    origin: 'results',
    blocks: [{ type: 'tool_result', tool_use_id: 'a', content: [] }],
  };
  expect(request([userSays('x'), assistant([call]), results]).messages.at(-1)).toMatchObject({
    blocks: [{ content: '(no output)' }],
  });
  expect(request([userSays('x'), assistant([call])]).messages.at(-1)).toMatchObject({
    blocks: [{ tool_use_id: 'a', is_error: true, content: expect.stringContaining('may or may not have run') }],
  });
});

test('images the provider refused are replaced by a note in their place', () => {
  const picture: Message = {
    role: 'user',
    id: 'u',
    origin: 'prompt',
    blocks: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
  };
  const built = request([picture], { excluded: { thinking: false, images: 'u', refused: [] } });
  expect(built.messages[0]?.blocks).toMatchObject([{ type: 'text', text: expect.stringContaining('left out') }]);
});

test('an empty conversation still builds a request', () => {
  expect(request([]).messages).toEqual([{ role: 'user', blocks: [{ type: 'text', text: 'Go on.' }] }]);
});
