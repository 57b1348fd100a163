import { expect, test } from 'vitest';
import { unknownField, withoutFields } from '../../../src/model/messages/optional-fields.ts';

test.each([
  ['thinking.adaptive.display: Extra inputs are not permitted', 'display'],
  ['output_config.effort: Extra inputs are not permitted', 'output_config'],
  ['The API refused the request (400): metadata: Extra inputs are not permitted.', 'metadata'],
  ["'output_config' is not supported", 'output_config'],
  ['messages.0.content.1.display_width: Extra inputs are not permitted', undefined],
  ['max_tokens: too large', undefined],
])('%s is about %s', (message, field) => {
  expect(unknownField(message)).toBe(field);
});

test('a field is left out alone', () => {
  const body = { model: 'm', thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } };
  expect(withoutFields(body, new Set(['display']))).toEqual({
    model: 'm',
    thinking: { type: 'adaptive' },
    output_config: { effort: 'low' },
  });
  expect(withoutFields(body, new Set())).toBe(body);
});
