import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/contracts/json.ts';
import { buildTool, type JsonToolDefinition } from '../../src/tools/build-tool.ts';

const CONTEXT = {
  callId: 'c1',
  cwd: '/',
  signal: new AbortController().signal,
  report: () => undefined,
  ask: async () => undefined,
};

function toolOf(input: JsonToolDefinition['input']) {
  return buildTool({
    name: 'Book',
    prompt: 'Books a room.',
    input,
    call: async (given) => ({ content: JSON.stringify(given) }),
  });
}

const ROOM = {
  type: 'object',
  properties: {
    nights: { type: 'integer', minimum: 1 },
    beds: { enum: ['single', 'double'], default: 'double' },
    guest: { $ref: '#/$defs/person' },
  },
  required: ['nights'],
  $defs: { person: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
} as const;

test('a JSON schema is what the model reads, and what its input is held to', async () => {
  const tool = toolOf(ROOM);
  expect(tool.spec.input_schema).toEqual(ROOM);
  const prepared = tool.prepare({ nights: 2, guest: { name: 'Ada' }, wish: 'quiet' });
  expect(prepared.ok && (await prepared.call.call(CONTEXT))).toEqual({
    content: '{"nights":2,"beds":"double","guest":{"name":"Ada"},"wish":"quiet"}',
  });
});

test.each<readonly [string, JsonValue, string]>([
  ['lacks a field', {}, 'The input of Book does not fit: "nights": Invalid input: expected number, received undefined'],
  ['has another type', { nights: 'two' }, '"nights": Invalid input'],
  ['is out of bounds', { nights: 0 }, '"nights": Too small'],
  ['is wrong further down', { nights: 1, guest: {} }, '"guest.name": Invalid input'],
  ['is no object', [1], 'Book takes a JSON object, not a list.'],
])('input that %s is refused in words', (_what, input, words) => {
  const prepared = toolOf(ROOM).prepare(input);
  expect(prepared.ok ? 'taken' : prepared.problem).toContain(words);
});

test('a schema without a type is one of an object; another type, or what cannot be checked, is told at once', () => {
  expect(toolOf({ properties: { a: { type: 'number' } } }).prepare({ a: 'x' }).ok).toBe(false);
  expect(toolOf({}).spec.input_schema).toEqual({ type: 'object' });
  expect(() => toolOf({ type: 'string' })).toThrow('The input of Book must be an object');
  expect(() => toolOf({ type: 'object', if: {} })).toThrow('The input schema of Book cannot be checked');
});
