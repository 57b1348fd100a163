import { expect, test } from 'vitest';
import {
  findRejectedRequestField,
  removeRequestFields,
} from '../../../../src/model/providers/anthropic/messages-api-port.ts';

test.each([
  ['thinking.adaptive.display: Extra inputs are not permitted', 'display'],
  ['output_config.effort: Extra inputs are not permitted', 'output_config'],
  ['The API refused the request (400): metadata: Extra inputs are not permitted.', 'metadata'],
  ["'output_config' is not supported", 'output_config'],
  ['messages.0.content.1.display_width: Extra inputs are not permitted', undefined],
  ['max_tokens: too large', undefined],
])('%s is about %s', (message, field) => {
  expect(findRejectedRequestField(message)).toBe(field);
});

test('a field is omitted alone', () => {
  const body = { model: 'm', thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } };
  expect(removeRequestFields(body, new Set(['display']))).toEqual({
    model: 'm',
    thinking: { type: 'adaptive' },
    output_config: { effort: 'low' },
  });
  expect(removeRequestFields(body, new Set())).toBe(body);
});
