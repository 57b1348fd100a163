import { expect, test } from 'vitest';
import { parseAppMessages, parsePromptInput } from '../../../src/sdk/agent/parse-app-messages.ts';

let ids = 0;
const deps = {
  caller: 'prompt',
  newId: () => {
    ids += 1;
    return `id${ids}`;
  },
  now: () => 0,
  model: 'sonnet',
};
const text = (words: string) => ({ type: 'text', text: words });
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

test.each([
  ['a text', 'hi', [[text('hi')]]],
  ['blocks', [text('look'), image], [[text('look'), image]]],
  ['a message of the API', { role: 'user', content: 'hi' }, [[text('hi')]]],
  ['blocks of the API', { role: 'user', content: [text('hi'), 'and'] }, [[text('hi'), text('and')]]],
  ['two texts', ['hi', 'there'], [[text('hi')], [text('there')]]],
  ['lists of blocks', [[text('a')], [text('b'), image]], [[text('a')], [text('b'), image]]],
  ['a text and a message', ['a', { role: 'user', content: 'b' }], [[text('a')], [text('b')]]],
])('a prompt can be %s', (_, input, blocks) => {
  const messages = parsePromptInput(input, deps);
  expect(messages.map((message) => message.role === 'user' && message.blocks)).toEqual(blocks);
});

test('a message of a conversation stays as it is, with its id', () => {
  const message = { role: 'user', id: 'mine', origin: 'prompt', blocks: [text('hi')], pinned: true };
  expect(parsePromptInput(message, deps)[0]).toBe(message);
  const custom = { role: 'custom', id: 't', kind: 'ticket', data: { number: 1 } };
  expect(parsePromptInput(custom, deps)).toEqual([custom]);
});

test('a conversation in the form of the API becomes messages', () => {
  const call = { type: 'tool_use', id: 't1', name: 'Look', input: { at: 1 } };
  const result = { type: 'tool_result', tool_use_id: 't1', content: [text('red')] };
  const messages = parseAppMessages(
    [
      { role: 'user', content: 'What colour?' },
      { role: 'assistant', content: [text('I look.'), call] },
      { role: 'user', content: [result] },
      { role: 'assistant', content: 'Red.' },
    ],
    deps,
  );
  expect(messages).toMatchObject([
    { role: 'user', origin: 'prompt', blocks: [text('What colour?')] },
    { role: 'assistant', model: 'sonnet', blocks: [text('I look.'), call] },
    { role: 'user', origin: 'results', blocks: [result] },
    { role: 'assistant', blocks: [text('Red.')] },
  ]);
  expect(new Set(messages.map(({ id }) => id)).size).toBe(4);
});

test.each([
  ['', 'the prompt is empty'],
  [[], 'the prompt is empty'],
  [{ role: 'user', content: '' }, 'the prompt is empty'],
  [undefined, 'the prompt is not a message'],
  [null, 'the prompt is not a message'],
  [5, 'the prompt is not a message'],
  [[1, 2], 'item 0 of the prompt is not a message'],
  [{}, 'has the role undefined'],
  [{ text: 'hi' }, 'has the role undefined'],
  [{ role: 'user' }, 'has no content'],
  [{ role: 'user', content: 7 }, 'has no content'],
  [{ role: 'user', content: [{ type: 'image_url', image_url: 'x' }] }, 'type "image_url"'],
  [{ role: 'user', content: [{ type: 'text' }] }, 'block 0, type "text"'],
  [{ role: 'system', content: 'Be kind.' }, 'Pass the text as systemPrompt'],
  [{ role: 'tool', content: 'x' }, 'tool_result'],
  [{ role: 'assistant', content: 'hi' }, 'is a message of the model'],
])('the prompt %j is refused by name', (input, words) => {
  expect(() => parsePromptInput(input, deps)).toThrow(words);
  expect(() => parsePromptInput(input, deps)).toThrow(/^prompt: /);
});
