import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normalizeCallId, normalizeMessageBlock } from '../../../src/engine/request/rejected-parts.ts';
import { anyText } from '../../support/any-text.ts';
import { createNestedJson } from '../../support/loop/random-history.ts';
import { runs } from '../../support/runs.ts';

const odd = fc.oneof(
  anyText({ maxLength: 400 }),
  fc.string({ unit: fc.constantFrom('a', '_', '-', ' ', ':', '|', '👍', '\ud83d'), maxLength: 300 }),
);
const call = fc.record({ type: fc.constant('tool_use' as const), id: odd, name: odd, input: fc.constant({}) });

test('whatever names a model gives tools and calls, the API accepts them, and sanitizing again changes nothing', () => {
  fc.assert(
    fc.property(call, (block) => {
      const sent = normalizeMessageBlock(block);
      expect(sent).toMatchObject({
        id: expect.stringMatching(/^[a-zA-Z0-9_-]+$/),
        name: expect.stringMatching(/^[a-zA-Z0-9_-]{1,128}$/),
      });
      expect(normalizeMessageBlock(sent)).toBe(sent);
      expect(normalizeMessageBlock({ ...block })).toEqual(sent);
    }),
    runs(2_000),
  );
});

test('two ids never become equal', () => {
  fc.assert(
    fc.property(fc.uniqueArray(odd, { maxLength: 20 }), (ids) => {
      expect(new Set(ids.map(normalizeCallId)).size).toBe(ids.length);
    }),
    runs(400),
  );
});

test('an input that is nested too deeply is described instead, without recursion', () => {
  const block = { type: 'tool_use' as const, id: 'a', name: 'Echo' };
  expect(normalizeMessageBlock({ ...block, input: createNestedJson(100_000) })).toEqual({
    ...block,
    input: {},
    unparsed: '(an input nested more than 100 levels deep)',
  });
  const shallow = { ...block, input: createNestedJson(99) };
  expect(normalizeMessageBlock(shallow)).toBe(shallow);
});
