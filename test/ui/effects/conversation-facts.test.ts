import { expect, test } from 'vitest';
import type { LastSession } from '../../../src/contracts/frontend/conversation.ts';
import { createViewState, type StatusLineFacts, type ViewState } from '../../../src/ui/app-state/view-state.ts';
import {
  changesStatusLineFacts,
  createBanner,
  getStatusLineFacts,
  offerLastSession,
  refreshStatusLineFacts,
  runStatusLineScript,
} from '../../../src/ui/effects/conversation-facts.ts';
import { type BannerContent, listUnprintedItems } from '../../../src/ui/widgets/history/history-item.ts';
import { fakeConversation } from '../../support/loop/fake-conversation.ts';
import { effectHost } from './test-host.ts';

test('the status line is the output of a script if there is one', async () => {
  const host = effectHost();
  const shown: (string | undefined)[] = [];
  for (const words of ['mine', 'mine', 'new', undefined, undefined, 'again']) {
    const asked = Promise.resolve(words);
    runStatusLineScript({ renderStatusLine: () => asked }, host.updateView);
    await asked;
    shown.push(host.view().facts.scriptOutput);
  }
  expect(shown).toEqual(['mine', 'mine', 'new', undefined, undefined, 'again']);
});

test('the status line shows another working folder of the shell, and the earlier cost of the session', () => {
  const below = fakeConversation({ info: { cwd: '/project/deep/down', earlierCostUsd: 2 } });
  const facts = getStatusLineFacts(below);
  expect(facts).toMatchObject<Partial<StatusLineFacts>>({
    shellFolder: 'deep/down',
    costUsd: 2 + below.usage().costUsd,
  });
  expect(getStatusLineFacts(fakeConversation({ info: { cwd: '/other' } })).shellFolder).toBe('../other');
  const back = refreshStatusLineFacts({ ...facts, scriptOutput: 'mine' }, fakeConversation());
  expect(back.shellFolder).toBeUndefined();
  expect(back.scriptOutput).toBe('mine');
});

test('a model changed in the settings is shown from its first turn on', () => {
  expect(changesStatusLineFacts({ type: 'turn_start', turn: 1, model: 'model-b' })).toBe(true);
});

const NOW_MS = new Date(2026, 10, 23, 15).getTime();
const LAST = {
  title: 'lexer: handle\nemoji width',
  modifiedMs: new Date(2026, 10, 22, 18).getTime(),
  worked: { turns: 38, added: 210, removed: 33 },
};

test('the start shows the last session of the folder until a message is sent', async () => {
  const printed = async (last: LastSession | undefined, lastPrompt: string) => {
    let view: ViewState = { ...createViewState(getStatusLineFacts(fakeConversation())), lastPrompt };
    const storedSessions = { last: async () => last };
    await offerLastSession(
      { agent: fakeConversation().agent, storedSessions },
      (update) => {
        view = update(view);
      },
      NOW_MS,
    );
    return listUnprintedItems(view.outbox);
  };
  const { worked } = LAST;
  expect(await printed(LAST, '')).toEqual([
    { kind: 'last_session', when: 'yesterday', title: 'lexer: handle emoji width', worked },
  ]);
  expect([await printed(LAST, 'go'), await printed(undefined, '')]).toEqual([[], []]);
});

test('the banner shows folder and branch, and which project files are in effect', () => {
  const instructions = ['../CLAUDE.md', 'CLAUDE.md', '.claude/AGENTS.md', '.claude/rules/tests.md'];
  const info = { folder: '/home/me/shop', gitBranch: 'main', instructions };
  expect(createBanner(fakeConversation({ info }).info())).toMatchObject<Partial<BannerContent>>({
    folder: '~/shop',
    branch: 'main',
    configuration: ['CLAUDE.md', 'AGENTS.md', '1 more', '1 MCP server', 'trusted'],
  });
});
