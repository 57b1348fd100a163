import { expect, test } from 'vitest';
import {
  askStatusLine,
  bannerLines,
  changesFacts,
  factsNow,
  offerLastSession,
  statusFactsOf,
} from '../../../src/ui/effects/facts.ts';
import { waitingItems } from '../../../src/ui/view/history-item.ts';
import { initialView, type ViewState } from '../../../src/ui/view/view-state.ts';
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

const LAST = { id: 's1', label: 'lexer: handle emoji width', detail: '1d, main, 22 KB, first words' };
const withSessions = (sessions: readonly (typeof LAST)[]) => ({
  agent: fakeConversation().agent,
  storedSessions: { list: async () => sessions } as const,
});

test('a start says which session of the folder was the last, until something is said', async () => {
  const printed = async (sessions: readonly (typeof LAST)[], lastPrompt: string) => {
    let view: ViewState = { ...initialView(statusFactsOf(fakeConversation())), lastPrompt };
    await offerLastSession(withSessions(sessions), (update) => {
      view = update(view);
    });
    return waitingItems(view.outbox);
  };
  const text = '1d ago  lexer: handle emoji width · main · 22 KB     ouro -c or /resume goes on there';
  expect(await printed([LAST, { ...LAST, id: 's0' }], '')).toEqual([{ kind: 'last_session', text }]);
  expect([await printed([LAST], 'go'), await printed([], '')]).toEqual([[], []]);
});

test('a banner names folder and branch as people do', () => {
  const info = fakeConversation({ info: { folder: '/home/me/shop', gitBranch: 'main' } }).info();
  expect(bannerLines(info, '⎇')[1]).toBe('~/shop  ⎇ main   1 MCP server · trusted');
});
