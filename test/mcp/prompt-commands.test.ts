import { expect, test } from 'vitest';
import { createMcpPromptCommands, findTypedMcpPromptArgument } from '../../src/mcp/prompt-commands.ts';

const [PROMPT] = createMcpPromptCommands(
  [{ name: 'trip', arguments: [{ name: 'city', required: true }, { name: 'day' }] }],
  {
    server: 's',
    prefix: 's',
    canComplete: true,
  },
);

test.each([
  ['', 'city', '', {}, 'New York', '"New York"'],
  ['Par', 'city', 'Par', {}, 'Paris', 'Paris'],
  ['"New Y', 'city', 'New Y', {}, 'New York', '"New York"'],
  ['Paris ', 'day', '', { city: 'Paris' }, 'Monday', 'Monday'],
  ['Paris day="next mo', 'day', 'next mo', { city: 'Paris' }, 'next "monday"', 'day="next monday"'],
  ['day=Mon', 'day', 'Mon', {}, 'Monday', 'day=Monday'],
  ['day=Monday x', 'city', 'x', { day: 'Monday' }, 'xx', 'xx'],
])('after "%s" the argument %s is completed', (typed, name, value, given, choice, word) => {
  const open = PROMPT === undefined ? undefined : findTypedMcpPromptArgument(PROMPT, typed);
  expect([open?.name, open?.value, open?.previous, open?.formatValue(choice)]).toEqual([name, value, given, word]);
});

test('nothing is completed where every argument has its value, or the server cannot complete', () => {
  expect(PROMPT === undefined ? 'none' : findTypedMcpPromptArgument(PROMPT, 'Paris Monday more')).toBeUndefined();
  expect(PROMPT?.command).toMatchObject({ completes: true, argumentHint: '<city> [day]' });
  const [silent] = createMcpPromptCommands([{ name: 'trip', arguments: [{ name: 'city' }] }], {
    server: 's',
    prefix: 's',
    canComplete: false,
  });
  expect(silent?.command).not.toHaveProperty('completes');
});
