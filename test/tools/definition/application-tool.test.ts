import { expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { createAgent } from '../../../src/sdk/agent/create-agent.ts';
import { buildApplicationTool } from '../../../src/tools/definition/application-tool.ts';
import { calls, says, scripted } from '../../support/loop/scripted.ts';

/** Builds a tool as an application without types may. */
const build = (definition: unknown) => Reflect.apply(buildApplicationTool, undefined, [definition]);

/** Runs one call of a tool; returns its result as the model gets it. */
async function callTool(tool: object, input = {}) {
  const name = 'name' in tool ? String(tool.name) : '';
  const { model, requests } = scripted([calls({ name, input }), says('done')]);
  const options: object = { model, tools: [tool], onPermission: async () => ({ behavior: 'allow' }) };
  await createAgent(options).prompt('go');
  const block = requests()[1]
    ?.messages.at(-1)
    ?.blocks.find(({ type }) => type === 'tool_result');
  return block?.type === 'tool_result' ? block : undefined;
}

const circular: { self?: unknown } = {};
circular.self = circular;

test.each([
  ['a text', 'hello', 'hello'],
  ['a number', 5, '5'],
  ['false', false, 'false'],
  ['an object', { a: 1 }, '{"a":1}'],
  ['a list', [1, 2], '[1,2]'],
  ['a number as content', { content: 5 }, '5'],
  ['an object as content', { content: { a: 1 } }, '{"a":1}'],
  ['a big integer', { a: 5n }, '{"a":"5"}'],
  ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ['blocks', [{ type: 'text', text: 'hi' }], [{ type: 'text', text: 'hi' }]],
])('a tool may return %s', async (_, result, content) => {
  const tool = { name: 'Look', call: async () => result };
  expect(await callTool(tool)).toEqual({ type: 'tool_result', tool_use_id: expect.any(String), content });
});

test.each([
  ['nothing', undefined],
  ['null', null],
  ['an empty outcome', { content: undefined }],
])('a tool may return %s', async (_, result) => {
  expect(await callTool({ name: 'Look', call: () => result })).not.toHaveProperty('is_error');
});

test('a tool may return a map or a set', async () => {
  const result = { prices: new Map([['a', 1]]), names: new Set(['b']) };
  expect(await callTool({ name: 'Look', call: () => result })).toMatchObject({
    content: '{"prices":{"a":1},"names":["b"]}',
  });
});

test.each([
  ['an error', new Error('no such order'), 'no such order'],
  ['an error of the API', { content: 'no', is_error: true }, 'no'],
  ['a circle', circular, 'cannot be written as JSON'],
  ['a function', () => 'x', 'cannot be written as JSON'],
  ['an iterator', [1].values(), 'cannot be written as JSON'],
])('a tool that returns %s has failed', async (_, result, words) => {
  expect(await callTool({ name: 'Look', call: () => result })).toMatchObject({
    is_error: true,
    content: expect.stringContaining(words),
  });
});

const properties = { nights: { type: 'integer', minimum: 2 } };
const schema = { type: 'object', properties, required: ['nights'] };
const standard = {
  '~standard': {
    version: 1,
    vendor: 'mine',
    validate: (value: { nights?: unknown }) =>
      Number(value.nights) >= 2 ? { value } : { issues: [{ message: 'too few', path: ['nights'] }] },
    jsonSchema: { input: () => schema },
  },
};
const { jsonSchema: _, ...undescribed } = standard['~standard'];

test.each([
  ['zod 4', z.object({ nights: z.int().min(2) })],
  ['zod 3', z3.object({ nights: z3.number().int().min(2) })],
  ['a JSON schema', schema],
  ['a Standard Schema', standard],
])('the input schema can be of %s', async (_, input) => {
  const tool = build({
    name: 'Book',
    prompt: 'Books.',
    input,
    call: ({ nights }: { nights: number }) => `for ${nights}`,
  });
  expect(tool.spec.input_schema).toMatchObject({
    type: 'object',
    properties: { nights: { type: 'integer', minimum: 2 } },
  });
  expect(tool.prepare({ nights: 0 })).toMatchObject({ ok: false, problem: expect.stringContaining('nights') });
  expect(await callTool(tool, { nights: 2 })).toMatchObject({ content: 'for 2' });
});

test('a Standard Schema without a description needs jsonSchema', () => {
  const definition = { name: 'Book', input: { '~standard': undescribed }, call: () => '' };
  expect(() => build(definition)).toThrow('buildTool(Book): the library of its input schema cannot describe it');
  expect(build({ ...definition, jsonSchema: schema }).spec.input_schema).toEqual(schema);
});

test('schemas of zod 3 are described with all their parts', () => {
  const input = z3.object({
    name: z3.string().min(2).max(9).describe('Name.'),
    kind: z3.enum(['a', 'b']).default('a'),
    tags: z3.array(z3.string()).optional(),
    by: z3.union([z3.literal(1), z3.null(), z3.boolean()]).nullable(),
    more: z3.record(z3.number()).transform((value) => value),
  });
  expect(build({ name: 'Make', input, call: () => '' }).spec.input_schema).toEqual({
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 2, maxLength: 9, description: 'Name.' },
      kind: { enum: ['a', 'b'], default: 'a' },
      tags: { type: 'array', items: { type: 'string' } },
      by: { anyOf: [{ anyOf: [{ const: 1 }, { type: 'null' }, { type: 'boolean' }] }, { type: 'null' }] },
      more: { type: 'object', additionalProperties: { type: 'number' } },
    },
    required: ['name', 'by', 'more'],
  });
});

test.each<[string, object]>([
  ['the API', { name: 'Book', description: 'Books.', input_schema: schema, call: () => 'booked' }],
  [
    'chat completions',
    {
      type: 'function',
      function: { name: 'Book', description: 'Books.', parameters: schema },
      execute: () => 'booked',
    },
  ],
  [
    'other libraries',
    {
      name: 'Book',
      description: 'Books.',
      inputSchema: z.object({ nights: z.int().min(2) }),
      execute: async () => 'booked',
    },
  ],
  [
    'a class',
    new (class {
      name = 'Book';
      description = 'Books.';
      parameters = schema;
      run = () => 'booked';
    })(),
  ],
])('a plain object in the form of %s is a tool', async (_, tool) => {
  const { model, requests } = scripted([calls({ name: 'Book', input: { nights: 2 } }), says('done')]);
  const options: object = { model, tools: [tool], onPermission: async () => ({ behavior: 'allow' }) };
  await createAgent(options).prompt('go');
  expect(requests()[0]?.tools[0]).toMatchObject({ name: 'Book', description: 'Books.', input_schema: { properties } });
  expect(JSON.stringify(requests()[1]?.messages)).toContain('booked');
});

test('a tool without an input schema takes any object', async () => {
  expect(await callTool({ name: 'Look', call: (input: object) => input }, { a: 1 })).toMatchObject({
    content: '{"a":1}',
  });
});

test('flags and titles can be values', () => {
  const tool = build({ name: 'Look', isReadOnly: true, isConcurrencySafe: true, title: 'Looking', call: () => '' });
  expect(tool.prepare({}).call).toMatchObject({ isReadOnly: true, isConcurrencySafe: true, title: 'Looking' });
});

test('a prompt that is a function is asked for every request', () => {
  let asked = 0;
  const tool = build({ name: 'Look', prompt: () => `${++asked}`, call: () => '' });
  expect([tool.spec.description, tool.spec.description].map(Number)).toEqual([expect.any(Number), asked]);
});

test.each<[object, string]>([
  [{}, 'a tool needs a name'],
  [{ name: 'my tool', call: () => '' }, 'a tool name has 1 to 64 letters, digits, _ and -'],
  [{ name: 'ä', call: () => '' }, 'a tool name has'],
  [{ name: '', call: () => '' }, 'a tool name has'],
  [{ name: 'x'.repeat(65), call: () => '' }, 'a tool name has'],
  [{ name: 'Look' }, 'buildTool(Look): call is missing.'],
  [{ name: 'Look', call: 'look' }, 'buildTool(Look): call: must be a function.'],
  [{ name: 'Look', promt: 'x', call: () => '' }, 'unknown field "promt". Did you mean "prompt"?'],
  [{ name: 'Look', readOnly: true, call: () => '' }, 'unknown field "readOnly". Did you mean "isReadOnly"?'],
  [{ name: 'Look', prompt: 5, call: () => '' }, 'prompt: must be a text for the model.'],
  [{ name: 'Look', input: 'text', call: () => '' }, 'input must be a zod schema or a JSON schema'],
  [{ name: 'Look', input: { type: 'string' }, call: () => '' }, 'The input of Look must be an object'],
])('buildTool(%j) is refused by name', (definition, words) => {
  expect(() => build(definition)).toThrow(words);
});

test('two tools of one name are refused', () => {
  const tool = { name: 'Look', call: () => '' };
  expect(() => createAgent({ tools: [tool, tool] })).toThrow('createAgent: two tools are named Look.');
});
