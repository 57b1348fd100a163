import { expect, test } from 'vitest';
import { openArgument, toPrompts } from '../../src/mcp/server-prompt.ts';

const [PROMPT] = toPrompts([{ name: 'trip', arguments: [{ name: 'city', required: true }, { name: 'day' }] }], {
  server: 's',
  prefix: 's',
  canComplete: true,
});

test.each([
  ['', 'city', '', {}, 'New York', '"New York"'],
  ['Par', 'city', 'Par', {}, 'Paris', 'Paris'],
  ['"New Y', 'city', 'New Y', {}, 'New York', '"New York"'],
  ['Paris ', 'day', '', { city: 'Paris' }, 'Monday', 'Monday'],
  ['Paris day="next mo', 'day', 'next mo', { city: 'Paris' }, 'next "monday"', 'day="next monday"'],
  ['day=Mon', 'day', 'Mon', {}, 'Monday', 'day=Monday'],
  ['day=Monday x', 'city', 'x', { day: 'Monday' }, 'xx', 'xx'],
])('behind "%s" the argument %s is written', (typed, name, value, given, choice, word) => {
  const open = PROMPT === undefined ? undefined : openArgument(PROMPT, typed);
  expect([open?.name, open?.value, open?.given, open?.wordFor(choice)]).toEqual([name, value, given, word]);
});

test('nothing is written where every argument has its value, and a server that cannot complete is not asked', () => {
  expect(PROMPT === undefined ? 'none' : openArgument(PROMPT, 'Paris Monday more')).toBeUndefined();
  expect(PROMPT?.command).toMatchObject({ completes: true, argumentHint: '<city> [day]' });
  const [silent] = toPrompts([{ name: 'trip', arguments: [{ name: 'city' }] }], {
    server: 's',
    prefix: 's',
    canComplete: false,
  });
  expect(silent?.command).not.toHaveProperty('completes');
});
