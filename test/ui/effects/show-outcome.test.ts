import { expect, test } from 'vitest';
import type { CommandOutcome } from '../../../src/contracts/face/command.ts';
import { runInPanel, runLine, takeBack } from '../../../src/ui/effects/show-outcome.ts';
import { waitingItems } from '../../../src/ui/view/history-item.ts';
import { printing, type ViewState } from '../../../src/ui/view/view-state.ts';
import { RULES } from '../panels/some-panels.ts';
import { effectHost, type TestHost } from './test-host.ts';

const LIST: CommandOutcome = { kind: 'panel', panel: RULES, text: 'rules' };
const HUNK = { oldStart: 1, oldLines: 0, newStart: 1, newLines: 1, lines: [{ kind: 'add', text: 'new' }] } as const;
const REVIEW = { title: 'a.txt', line: 'diff 1 1', takeBack: 'diff back 1 1', hunks: [HUNK, HUNK] };

/** A host whose commands answer as they are told. */
function answering(answers: Readonly<Record<string, () => CommandOutcome | Promise<CommandOutcome>>>): TestHost {
  const runCommand = async (line: string): Promise<CommandOutcome> =>
    answers[line]?.() ?? { kind: 'failed', words: `no answer to /${line}` };
  return effectHost([], { more: { runCommand } });
}

const panelOf = (host: TestHost) => {
  const { overlay } = host.view();
  return overlay?.kind === 'panel' ? overlay : undefined;
};

test('what came of something stands in the panel, which shows what holds then', async () => {
  const fewer = { ...RULES, rows: RULES.rows.slice(1) };
  let asked = 0;
  const host = answering({
    permissions() {
      asked += 1;
      return asked === 1 ? LIST : { ...LIST, panel: fewer };
    },
    'permissions forget x': () => ({ kind: 'done', words: 'Forgotten: x.' }),
  });
  await runLine('permissions', host);
  expect(panelOf(host)?.panel).toEqual(RULES);
  await runInPanel('permissions forget x', host);
  expect(panelOf(host)).toMatchObject({ panel: fewer, said: { level: 'info', text: 'Forgotten: x.' } });
  await runInPanel('permissions nonsense', host);
  expect(panelOf(host)?.said).toEqual({ level: 'warn', text: 'no answer to /permissions nonsense' });
});

test('a command stands above what it says; a list, a page and a prompt leave nothing of it', async () => {
  const host = answering({
    cost: () => ({ kind: 'show', markdown: 'some money' }),
    slow: async () => {
      watched.change((view) => printing(view, { kind: 'notice', level: 'info', text: 'meanwhile' }));
      return { kind: 'done', words: 'done' };
    },
    permissions: () => LIST,
    help: () => ({ kind: 'open', view: 'help', argument: '' }),
    ship: () => ({ kind: 'prompt', blocks: [{ type: 'text', text: 'Ship it.' }] }),
    quiet: () => ({ kind: 'done' }),
  });
  const printed: unknown[] = [];
  const { change } = host;
  const watched = {
    ...host,
    change: (update: (view: ViewState) => ViewState) =>
      change((view) => {
        const next = update(view);
        printed.push(...waitingItems(next.outbox).map((item) => ('text' in item ? item.text : item.kind)));
        return next;
      }),
  };
  for (const line of ['cost', 'slow', 'permissions', 'help', 'ship', 'quiet', 'nonsense']) await runLine(line, watched);
  expect(printed).toEqual(['/cost', 'shown', '/slow', 'meanwhile', 'done', '/nonsense', 'no answer to /nonsense']);
  expect(host.view().commandLine).toBe('');
});

test('what comes when the panel is closed already is told as if it had been typed', async () => {
  const { promise, resolve } = Promise.withResolvers<CommandOutcome>();
  const host = answering({ permissions: () => LIST, slow: () => promise });
  await runLine('permissions', host);
  const running = runInPanel('slow', host);
  host.change((view) => ({ ...view, overlay: undefined }));
  resolve({ kind: 'done', words: 'Late.' });
  await running;
  expect([host.view().overlay, host.told()]).toEqual([undefined, 'Late.']);
});

test('a list opened from a list goes back to it, and words open a page with the list behind it', async () => {
  const host = answering({
    permissions: () => LIST,
    inner: () => ({ kind: 'panel', panel: { ...RULES, title: 'Inner', line: 'inner' }, text: '' }),
    words: () => ({ kind: 'show', markdown: 'some words' }),
  });
  await runLine('permissions', host);
  await runInPanel('inner', host);
  expect([panelOf(host)?.panel.title, panelOf(host)?.back?.panel.title]).toEqual(['Inner', 'Permissions']);
  await runInPanel('words', host);
  const { overlay } = host.view();
  expect(overlay?.kind === 'viewer' ? [overlay.viewer.title, overlay.back?.kind] : []).toEqual(['Inner', 'panel']);
});

test('a part that is taken back is gone from the page, and from the list behind it', async () => {
  let isTaken = false;
  const host = answering({
    diff: () => ({ ...LIST, panel: { ...RULES, line: 'diff', note: isTaken ? 'one part left' : 'two parts' } }),
    'diff 1 1': () => ({ kind: 'review', text: '', review: isTaken ? { ...REVIEW, hunks: [HUNK] } : REVIEW }),
    'diff back 1 1 1': () => {
      isTaken = true;
      return { kind: 'done', words: 'Taken back.' };
    },
  });
  await runLine('diff', host);
  await runInPanel('diff 1 1', host);
  await takeBack('diff back 1 1 1', 'diff 1 1', host);
  const { overlay } = host.view();
  if (overlay?.kind !== 'viewer' || overlay.viewer.page.kind !== 'review') throw new Error('no page is open');
  expect([overlay.viewer.page.hunks.length, overlay.viewer.note]).toEqual([1, 'Taken back.']);
  expect(overlay.back).toMatchObject({ said: undefined, panel: { note: 'one part left' } });
});
