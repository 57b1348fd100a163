import { expect, test } from 'vitest';
import { askStatusLine, changesFacts, factsNow, statusFactsOf } from '../../../src/ui/effects/facts.ts';
import { fakeConversation } from '../../support/loop/fake-conversation.ts';
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

test('the status line says where the shell stands while that is elsewhere, and what the session cost before', () => {
  const below = fakeConversation({ info: { cwd: '/project/deep/down', earlierCostUsd: 2 } });
  const facts = statusFactsOf(below);
  expect(facts).toMatchObject({ shellAt: 'deep/down', costUsd: 2 + below.usage().costUsd });
  expect(statusFactsOf(fakeConversation({ info: { cwd: '/other' } })).shellAt).toBe('../other');
  const back = factsNow({ ...facts, script: 'mine' }, fakeConversation());
  expect(back).not.toHaveProperty('shellAt');
  expect(back.script).toBe('mine');
});

test('a model that the settings changed is shown from its first turn on', () => {
  expect(changesFacts({ type: 'turn_start', turn: 1, model: 'model-b' })).toBe(true);
});
