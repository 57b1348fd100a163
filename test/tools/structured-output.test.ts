import { expect, test } from 'vitest';
import { createStructuredOutputTool } from '../../src/tools/structured-output.ts';
import { callTool } from '../support/call-tool.ts';

const schema = {
  type: 'object',
  properties: { count: { type: 'integer', minimum: 1 }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['count'],
  additionalProperties: false,
};

test('a valid answer ends the run', async () => {
  const tool = createStructuredOutputTool(schema);
  expect(tool.spec.input_schema).toEqual(schema);
  const value = { count: 2, tags: ['a'] };
  expect((await callTool(tool, value)).endsRun).toEqual({ reason: 'structured_output', value });
});

test.each([
  [{}, 'count'],
  [{ count: 0 }, 'count'],
  [{ count: 1.5 }, 'count'],
  [{ count: 1, tags: [1] }, 'tags.0'],
  [{ count: 1, more: true }, 'more'],
])('%j is answered with what does not match', async (answer, field) => {
  const outcome = await callTool(createStructuredOutputTool(schema), answer);
  expect(outcome).toMatchObject({ isError: true, content: expect.stringContaining(field) });
  expect(outcome.endsRun).toBeUndefined();
});

test('the fifth invalid answer ends the run as failed', async () => {
  const tool = createStructuredOutputTool(schema);
  for (let tries = 1; tries < 5; tries += 1) expect((await callTool(tool, {})).endsRun).toBeUndefined();
  expect((await callTool(tool, {})).endsRun).toMatchObject({ reason: 'structured_output_failed' });
});

test('input that is no object is refused before the call', () => {
  expect(createStructuredOutputTool(schema).prepare([1]).ok).toBe(false);
});

test('an invalid schema is refused at once with a message', () => {
  const unchecked = { type: 'object', properties: { a: { $ref: 'https://schemas.example/a.json' } } };
  expect(() => createStructuredOutputTool(unchecked)).toThrow(/cannot be checked: .*simply/);
});
