import { expect, test } from 'vitest';
import {
  convertPluginUserConfig,
  createPluginOptionVariables,
  findPluginOptionProblem,
  pluginOptionsSchema,
  resolvePluginOptions,
} from '../../../src/extensions/plugins/plugin-options.ts';

const options = convertPluginUserConfig(
  pluginOptionsSchema.parse({
    url: { type: 'string', title: 'Address', required: true },
    pages: { type: 'number', default: 5, min: 1, max: 50 },
    loud: { type: 'boolean', default: false },
    token: { sensitive: true },
  }),
);

test('values come from the user or the default; sensitive ones are no texts', () => {
  expect(resolvePluginOptions(options, { url: 'u', token: 't', unknown: 'x' })).toEqual({
    values: { url: 'u', pages: '5', loud: 'false', token: 't' },
    texts: { url: 'u', pages: '5', loud: 'false' },
    problems: [],
  });
  expect(createPluginOptionVariables({ url: 'u' })).toEqual({ CLAUDE_PLUGIN_OPTION_URL: 'u' });
});

test('a missing required option and a value that does not fit are problems', () => {
  expect(resolvePluginOptions(options, { pages: 'many' }).problems).toEqual([
    'url is not set.',
    'pages must be a number.',
  ]);
});

test.each([
  ['pages', '', 'pages must be a number.'],
  ['pages', '0', 'pages must be at least 1.'],
  ['pages', '51', 'pages must be at most 50.'],
  ['pages', '50', undefined],
  ['loud', 'yes', 'loud must be true or false.'],
  ['loud', 'true', undefined],
  ['url', '', undefined],
])('%s = %j: %s', (key, value, problem) => {
  const option = options.find((one) => one.key === key);
  expect(option && findPluginOptionProblem(option, value)).toBe(problem);
});

test('a key that is no name of a variable is refused', () => {
  expect(pluginOptionsSchema.safeParse({ 'a-b': { type: 'string' } }).success).toBe(false);
});
