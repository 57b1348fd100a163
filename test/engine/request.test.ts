import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AssistantBlock, Message } from '../../src/contracts/message.ts';
import { buildRequest, repair } from '../../src/engine/request.ts';
import { initialState } from '../../src/engine/state.ts';
import { isDeeperThan } from '../../src/lib/depth.ts';
import { toWire } from '../../src/model/wire/to-wire.ts';
import { violationOfMessages } from '../support/api/validate-messages.ts';
import { invariantBreaches } from '../support/loop/invariants.ts';
import { randomHistory } from '../support/loop/random-history.ts';
import { INFO, scripted, userSays } from '../support/loop/scripted.ts';
import { runs } from '../support/runs.ts';

const deps = scripted([]);
const ISSUED = { thoughts: new Map([['sig', 'hmm']]), thoughtfulCalls: new Set<string>() };
const stripped = fc.record({
  thinking: fc.boolean(),
  images: fc.constantFrom(undefined, 'u'),
  refused: fc.constant([]),
});
const modelIndex = fc.constantFrom(0, 1);
const twoModels = { ...deps, config: { ...deps.config, chain: [{ model: 'model-a' }, { model: 'model-b' }] } };

function request(history: readonly Message[], state: Partial<ReturnType<typeof initialState>> = {}) {
  return buildRequest(history, { ...initialState(history), ...state }, twoModels);
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

test('whatever the history, all invariants hold, the API accepts the bytes, and building it again changes nothing', () => {
  fc.assert(
    fc.property(randomHistory, stripped, modelIndex, (history, without, index) => {
      const built = request(history, { stripped: without, modelIndex: index });
      expect(invariantBreaches(built)).toEqual([]);
      const wire = toWire({ ...built, effort: 'off' }, INFO);
      expect(violationOfMessages({ ...wire, thinking: { type: 'adaptive' } }, ISSUED) ?? 'fine').toBe('fine');
      expect(isDeeperThan(wire, 200)).toBe(false);
      expect(repair(built.messages)).toEqual(built.messages);
    }),
    runs(3_000),
  );
});

test('a conversation that goes on begins with the bytes it had before', () => {
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

test('an input goes back exactly as the model wrote it, key order and all', () => {
  const input = { z: 1, a: { y: [2, '👍'], b: null } };
  expect(
    JSON.stringify(blocksOf([userSays('x'), assistant([{ type: 'tool_use', id: 'a', name: 'Echo', input }])])),
  ).toBe(JSON.stringify([{ type: 'tool_use', id: 'a', name: 'Echo', input }]));
});

test('thinking goes back unmodified to its own model, and to no other', () => {
  const thinking: AssistantBlock = { type: 'thinking', thinking: ' hm \n', signature: 'sig' };
  const said: AssistantBlock = { type: 'text', text: 'so' };
  expect(blocksOf([userSays('x'), assistant([thinking, said])])).toEqual([thinking, said]);
  expect(blocksOf([userSays('x'), assistant([thinking, said], 'model-b')])).toEqual([said]);
});

test('a result that is empty says so, a call without one is told that it may have run', () => {
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

test('pictures the provider refused are named where they stood', () => {
  const picture: Message = {
    role: 'user',
    id: 'u',
    origin: 'prompt',
    blocks: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
  };
  const built = request([picture], { stripped: { thinking: false, images: 'u', refused: [] } });
  expect(built.messages[0]?.blocks).toMatchObject([{ type: 'text', text: expect.stringContaining('left out') }]);
});

test('nothing at all is still a request', () => {
  expect(request([]).messages).toEqual([{ role: 'user', blocks: [{ type: 'text', text: 'Go on.' }] }]);
});
