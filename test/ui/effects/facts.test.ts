import { expect, test } from 'vitest';
import type { LastSession } from '../../../src/contracts/face/stored-sessions.ts';
import {
  askStatusLine,
  bannerOf,
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

const NOW_MS = new Date(2026, 10, 23, 15).getTime();
const LAST = {
  title: 'lexer: handle\nemoji width',
  modifiedMs: new Date(2026, 10, 22, 18).getTime(),
  worked: { turns: 38, added: 210, removed: 33 },
};

test('a start says which session of the folder was the last, until something is said', async () => {
  const printed = async (last: LastSession | undefined, lastPrompt: string) => {
    let view: ViewState = { ...initialView(statusFactsOf(fakeConversation())), lastPrompt };
    const storedSessions = { last: async () => last };
    await offerLastSession(
      { agent: fakeConversation().agent, storedSessions },
      (update) => {
        view = update(view);
      },
      NOW_MS,
    );
    return waitingItems(view.outbox);
  };
  const { worked } = LAST;
  expect(await printed(LAST, '')).toEqual([
    { kind: 'last_session', when: 'yesterday', title: 'lexer: handle emoji width', worked },
  ]);
  expect([await printed(LAST, 'go'), await printed(undefined, '')]).toEqual([[], []]);
});

test('a banner names folder and branch as people do, and what of the project is in effect', () => {
  const instructions = ['../CLAUDE.md', 'CLAUDE.md', '.claude/AGENTS.md', '.claude/rules/tests.md'];
  const info = { folder: '/home/me/shop', gitBranch: 'main', instructions };
  expect(bannerOf(fakeConversation({ info }).info())).toMatchObject({
    folder: '~/shop',
    branch: 'main',
    effects: ['CLAUDE.md', 'AGENTS.md', '1 more', '1 MCP server', 'trusted'],
  });
});
