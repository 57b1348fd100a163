import { expect, test } from 'vitest';
import {
  applyFormDefaults,
  type FormField,
  parseFormFields,
  parseFormFieldValue,
  validateForm,
  validateFormFieldValue,
} from '../../src/lib/form-schema.ts';

const FORM = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', minLength: 2, maxLength: 10 },
    mail: { type: 'string', format: 'email' },
    day: { type: 'string', format: 'date' },
    at: { type: 'string', format: 'date-time' },
    site: { type: 'string', format: 'uri' },
    age: { type: 'integer', minimum: 0, maximum: 150, default: 30 },
    score: { type: 'number' },
    agreed: { type: 'boolean' },
    colour: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
    size: {
      type: 'string',
      oneOf: [
        { const: 's', title: 'Small' },
        { const: 'l', title: 'Large' },
      ],
    },
    days: { type: 'array', items: { type: 'string', enum: ['mo', 'tu', 'we'] }, minItems: 1, maxItems: 2 },
    tags: {
      type: 'array',
      items: {
        anyOf: [
          { const: 'a', title: 'Alpha' },
          { const: 'b', title: 'Beta' },
        ],
      },
    },
  },
  required: ['name', 'colour'],
};

const FIELDS = parseFormFields(FORM);

function field(name: string): FormField {
  const found = FIELDS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no field ${name}.`);
  return found;
}

test('a schema is converted to its fields in order', () => {
  expect(FIELDS.map(({ name, title, isRequired, type }) => [name, title, isRequired, type.kind])).toEqual([
    ['name', 'Name', true, 'text'],
    ['mail', 'mail', false, 'text'],
    ['day', 'day', false, 'text'],
    ['at', 'at', false, 'text'],
    ['site', 'site', false, 'text'],
    ['age', 'age', false, 'number'],
    ['score', 'score', false, 'number'],
    ['agreed', 'agreed', false, 'yes or no'],
    ['colour', 'colour', true, 'one of'],
    ['size', 'size', false, 'one of'],
    ['days', 'days', false, 'some of'],
    ['tags', 'tags', false, 'some of'],
  ]);
  expect(field('colour').type).toEqual({
    kind: 'one of',
    choices: [
      { value: 'r', label: 'Red' },
      { value: 'g', label: 'Green' },
    ],
  });
});

test.each([
  ['name', 'Ada', 'Ada'],
  ['mail', 'a@b.org', 'a@b.org'],
  ['day', '2028-02-29', '2028-02-29'],
  ['at', '2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z'],
  ['site', 'https://example.com', 'https://example.com'],
  ['age', ' 42 ', 42],
  ['score', '-1.5', -1.5],
  ['agreed', 'yes', true],
  ['agreed', 'N', false],
  ['colour', 'green', 'g'],
  ['size', 'l', 'l'],
  ['days', 'mo, we', ['mo', 'we']],
  ['tags', 'alpha', ['a']],
  ['tags', '', []],
])('%s accepts %j', (name, typed, value) => {
  expect(parseFormFieldValue(field(name), typed)).toEqual({ ok: true, value });
});

test.each([
  ['name', 'A', 'Name must be at least 2 characters.'],
  ['name', 'A name that is long', 'Name must be at most 10 characters.'],
  ['mail', 'nobody', 'mail must be an e-mail address.'],
  ['day', '2026-02-30', 'day must be a date such as 2026-01-31.'],
  ['at', 'noon', 'at must be a time such as 2026-01-31T12:00:00Z.'],
  ['site', 'example', 'site must be an address with its scheme, such as https://example.com.'],
  ['age', '4.2', 'age must be a whole number.'],
  ['age', '200', 'age must be at most 150.'],
  ['age', 'old', 'age must be a number.'],
  ['score', '', 'score must be a number.'],
  ['agreed', 'perhaps', 'agreed must be yes or no.'],
  ['colour', 'blue', 'colour must be one of Red, Green.'],
  ['days', '', 'days must be at least 1 choices.'],
  ['days', 'mo,tu,we', 'days must be at most 2 choices.'],
  ['tags', 'gamma', 'tags must be some of Alpha, Beta.'],
])('%s refuses %j with the reason', (name, typed, problem) => {
  expect(parseFormFieldValue(field(name), typed)).toEqual({ ok: false, problem });
});

test('a form is complete when required fields are set and all values are valid', () => {
  expect(applyFormDefaults(FIELDS, { name: 'Ada' })).toEqual({ name: 'Ada', age: 30 });
  expect(validateForm(FIELDS, { name: 'Ada', colour: 'r' })).toBe(undefined);
  expect(validateForm(FIELDS, { name: 'Ada' })).toBe('colour is missing.');
  expect(validateForm(FIELDS, { name: 5, colour: 'r' })).toBe('Name must be text.');
  expect(validateFormFieldValue(field('days'), 'mo')).toBe('days must be a list.');
});

test('an invalid schema has no fields', () => {
  expect(parseFormFields({})).toEqual([]);
  expect(parseFormFields({ properties: { odd: 5 } }).map(({ name, type }) => [name, type.kind])).toEqual([
    ['odd', 'text'],
  ]);
});
