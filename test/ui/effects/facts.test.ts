import { expect, test } from 'vitest';
import { askStatusLine } from '../../../src/ui/effects/facts.ts';
import { effectHost } from './test-host.ts';

test('the status line is the words of a script as long as there is one', async () => {
  const host = effectHost();
  const shown: (string | undefined)[] = [];
  for (const words of ['mine', 'mine', 'new', undefined, undefined, 'again']) {
    const asked = Promise.resolve(words);
    askStatusLine({ statusLine: () => asked }, host.change);
    await asked;
    shown.push(host.view().facts.script);
  }
  expect(shown).toEqual(['mine', 'mine', 'new', undefined, undefined, 'again']);
});
