import fc from 'fast-check';
import type { JsonValue } from '../../../src/contracts/json.ts';
import type { AssistantBlock, Message, UserBlock } from '../../../src/contracts/message.ts';

/** Few ids, so that they collide, and some that no API takes. */
const callId = fc.constantFrom('a', 'b', 'c', 'toolu_1', '', 'call:1', 'call|1', '👍', ' ', '\ud83d');
const callName = fc.constantFrom('Echo', 'Gone', '', 'my tool', 'my:tool', 'my|tool', '👍', 'x'.repeat(300));
const words = fc.constantFrom('hello', '', ' \n', 'half a pair \ud83d', '\udc00 and the other half', '👍', '日本');
const input: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue[]>(
  {},
  { path: '/x', deep: { list: [1, null, 'two \ud83d'] } },
  '{"half":',
  ['a'],
  null,
  7,
  createNestedJson(200),
  createNestedJson(100_000),
  { '\ud83d': 'half a key' },
);
const picture = {
  type: 'image' as const,
  source: { type: 'base64' as const, media_type: 'image/png', data: 'AAAA' },
};

const assistantBlock: fc.Arbitrary<AssistantBlock> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: words }),
  fc.record({ type: fc.constant('tool_use' as const), id: callId, name: callName, input }),
  fc.record({
    type: fc.constant('thinking' as const),
    thinking: fc.constant('hmm'),
    signature: fc.constantFrom('sig', ''),
  }),
  fc.constant<AssistantBlock>({ type: 'redacted_thinking', data: 'xx' }),
  fc.constant<AssistantBlock>({ type: 'opaque', raw: { type: 'novelty' } }),
);

const userBlock: fc.Arbitrary<UserBlock> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: words }),
  fc.record({
    type: fc.constant('tool_result' as const),
    tool_use_id: callId,
    content: fc.oneof(
      words,
      fc.array(fc.oneof(fc.record({ type: fc.constant('text' as const), text: words }), fc.constant(picture)), {
        maxLength: 2,
      }),
    ),
    is_error: fc.boolean(),
  }),
  fc.constant<UserBlock>(picture),
);

/** Damaged conversations, as after a crash, a bug or a manual edit of the file. */
export const randomHistory: fc.Arbitrary<readonly Message[]> = fc
  .array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ role: fc.constant('user' as const), blocks: fc.array(userBlock, { maxLength: 4 }) }),
      },
      {
        weight: 5,
        arbitrary: fc.record({
          role: fc.constant('assistant' as const),
          model: fc.constantFrom('model-a', 'model-b'),
          blocks: fc.array(assistantBlock, { maxLength: 4 }),
        }),
      },
      { weight: 1, arbitrary: fc.constant({ role: 'boundary' as const }) },
    ),
    { maxLength: 10 },
  )
  .map((messages) =>
    messages.map((message, index): Message => {
      const id = `m${index}`;
      if (message.role === 'boundary') return { ...message, id, trigger: 'auto', preTokens: 1 };
      return message.role === 'user' ? { ...message, id, origin: 'prompt' } : { ...message, id };
    }),
  );

/** Creates a value with a number of levels. */
export function createNestedJson(levels: number): JsonValue {
  let value: JsonValue = 'the core';
  for (let level = 0; level < levels; level += 1) value = { in: value };
  return value;
}
