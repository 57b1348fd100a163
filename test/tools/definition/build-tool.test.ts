import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/contracts/json.ts';
import { buildTool } from '../../../src/tools/definition/build-tool.ts';

const CONTEXT = {
  callId: 'c1',
  cwd: '/',
  signal: new AbortController().signal,
  report: () => undefined,
  ask: async () => undefined,
};

function toolOf(input: JsonObject) {
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

test('a JSON schema is sent to the model, and validates its input', async () => {
  const tool = toolOf(ROOM);
  expect(tool.spec.input_schema).toEqual(ROOM);
  const prepared = tool.prepare({ nights: 2, guest: { name: 'Ada' }, wish: 'quiet' });
  expect(prepared.ok && (await prepared.call.call(CONTEXT))).toEqual({
    content: '{"nights":2,"beds":"double","guest":{"name":"Ada"},"wish":"quiet"}',
  });
});

test.each<readonly [string, JsonValue, string]>([
  ['lacks a field', {}, 'Book needs "nights" (a whole number). You gave: nothing.'],
  ['has another type', { nights: 'two' }, '"nights" must be a number, not "two".'],
  ['is out of bounds', { nights: 0 }, '"nights" must be at least 1, not 0.'],
  ['is wrong further down', { nights: 1, guest: {} }, 'Book needs "guest.name". You gave: nights, guest.'],
  ['is no object', [1], 'Book takes a JSON object, not a list.'],
])('input that %s is refused with a message', (_what, input, words) => {
  const prepared = toolOf(ROOM).prepare(input);
  expect(prepared.ok ? 'taken' : prepared.problem).toContain(words);
});

test('a schema without a type describes an object; another type, or an invalid schema, is reported at once', () => {
  expect(toolOf({ properties: { a: { type: 'number' } } }).prepare({ a: 'x' }).ok).toBe(false);
  expect(toolOf({}).spec.input_schema).toEqual({ type: 'object' });
  expect(() => toolOf({ type: 'string' })).toThrow('The input of Book must be an object');
  expect(() => toolOf({ type: 'object', if: {} })).toThrow('The input schema of Book cannot be checked');
});

test('a spec is the same object until its description or its arguments change', () => {
  let prompt = 'Books a room.';
  let hidden: readonly string[] = [];
  const tool = buildTool({
    name: 'Book',
    prompt: () => prompt,
    input: ROOM,
    listHiddenArguments: () => hidden,
    call: async () => ({ content: '' }),
  });
  const first = tool.spec;
  expect(tool.spec).toBe(first);
  prompt = 'Books rooms.';
  const second = tool.spec;
  expect(second).toEqual({ ...first, description: prompt });
  hidden = ['beds'];
  expect(Object.keys(Object(tool.spec.input_schema.properties))).toEqual(['nights', 'guest']);
  expect(tool.spec).toBe(tool.spec);
});
