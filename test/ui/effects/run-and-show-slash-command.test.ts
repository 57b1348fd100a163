import { expect, test } from 'vitest';
import type { FileChangeReview, SlashCommandOutcome } from '../../../src/contracts/frontend/command.ts';
import { addHistoryItems } from '../../../src/ui/app-state/view-state.ts';
import {
  revertHunk,
  runAndShowSlashCommand,
  runPanelCommand,
} from '../../../src/ui/effects/run-and-show-slash-command.ts';
import type { UiEffectHost } from '../../../src/ui/effects/ui-effect-host.ts';
import { listUnprintedItems } from '../../../src/ui/widgets/history/history-item.ts';
import type { PanelState } from '../../../src/ui/widgets/panel/panel-state.ts';
import { RULES } from '../widgets/panel/some-panels.ts';
import { effectHost, type TestHost } from './test-host.ts';

const LIST: SlashCommandOutcome = { kind: 'panel', panel: RULES, text: 'rules' };
const HUNK = { oldStart: 1, oldLines: 0, newStart: 1, newLines: 1, lines: [{ kind: 'add', text: 'new' }] } as const;
const REVIEW: FileChangeReview = {
  title: 'a.txt',
  command: 'diff 1 1',
  revertCommand: 'diff back 1 1',
  hunks: [HUNK, HUNK],
};

/** A host whose commands answer as they are told. */
function answering(
  answers: Readonly<Record<string, () => SlashCommandOutcome | Promise<SlashCommandOutcome>>>,
): TestHost {
  const runCommand = async (line: string): Promise<SlashCommandOutcome> =>
    answers[line]?.() ?? { kind: 'failed', message: `no answer to /${line}` };
  return effectHost([], { more: { runCommand } });
}

const panelOf = (host: TestHost) => {
  const { overlay } = host.view();
  return overlay?.kind === 'panel' ? overlay : undefined;
};

test('the result of an action is shown in the panel, with the new state', async () => {
  const fewer = { ...RULES, rows: RULES.rows.slice(1) };
  let asked = 0;
  const host = answering({
    permissions() {
      asked += 1;
      return asked === 1 ? LIST : { ...LIST, panel: fewer };
    },
    'permissions forget x': () => ({ kind: 'done', message: 'Forgotten: x.' }),
  });
  await runAndShowSlashCommand('permissions', host);
  expect(panelOf(host)?.panel).toEqual(RULES);
  await runPanelCommand('permissions forget x', host);
  expect(panelOf(host)).toMatchObject<Partial<PanelState>>({
    panel: fewer,
    message: { level: 'info', text: 'Forgotten: x.' },
  });
  await runPanelCommand('permissions nonsense', host);
  expect(panelOf(host)?.message).toEqual({ level: 'warn', text: 'no answer to /permissions nonsense' });
});

test('a command is printed above its output; a list, a page and a prompt leave nothing of it', async () => {
  const host = answering({
    cost: () => ({ kind: 'show', markdown: 'some money' }),
    slow: async () => {
      watched.updateView((view) => addHistoryItems(view, { kind: 'notice', level: 'info', text: 'meanwhile' }));
      return { kind: 'done', message: 'done' };
    },
    permissions: () => LIST,
    help: () => ({ kind: 'open', view: 'help', argument: '' }),
    ship: () => ({ kind: 'prompt', blocks: [{ type: 'text', text: 'Ship it.' }] }),
    quiet: () => ({ kind: 'done' }),
  });
  const printed: unknown[] = [];
  const { updateView } = host;
  const watched: UiEffectHost = {
    ...host,
    updateView: (update) =>
      updateView((view) => {
        const next = update(view);
        printed.push(...listUnprintedItems(next.outbox).map((item) => ('text' in item ? item.text : item.kind)));
        return next;
      }),
  };
  for (const line of ['cost', 'slow', 'permissions', 'help', 'ship', 'quiet', 'nonsense'])
    await runAndShowSlashCommand(line, watched);
  expect(printed).toEqual(['/cost', 'shown', '/slow', 'meanwhile', 'done', '/nonsense', 'no answer to /nonsense']);
  expect(host.view().commandLine).toBe('');
});

test('a result after the panel was closed is printed as if typed', async () => {
  const { promise, resolve } = Promise.withResolvers<SlashCommandOutcome>();
  const host = answering({ permissions: () => LIST, slow: () => promise });
  await runAndShowSlashCommand('permissions', host);
  const running = runPanelCommand('slow', host);
  host.updateView((view) => ({ ...view, overlay: undefined }));
  resolve({ kind: 'done', message: 'Late.' });
  await running;
  expect([host.view().overlay, host.reported()]).toEqual([undefined, 'Late.']);
});

test('a list opened from a list returns to it, and text opens a page above the list', async () => {
  const host = answering({
    permissions: () => LIST,
    inner: () => ({ kind: 'panel', panel: { ...RULES, title: 'Inner', command: 'inner' }, text: '' }),
    words: () => ({ kind: 'show', markdown: 'some words' }),
  });
  await runAndShowSlashCommand('permissions', host);
  await runPanelCommand('inner', host);
  expect([panelOf(host)?.panel.title, panelOf(host)?.back?.panel.title]).toEqual(['Inner', 'Permissions']);
  await runPanelCommand('words', host);
  const { overlay } = host.view();
  expect(overlay?.kind === 'viewer' ? [overlay.viewer.title, overlay.back?.kind] : []).toEqual(['Inner', 'panel']);
});

test('an undone part is gone from the page, and from the list behind it', async () => {
  let isTaken = false;
  const host = answering({
    diff: () => ({ ...LIST, panel: { ...RULES, command: 'diff', note: isTaken ? 'one part left' : 'two parts' } }),
    'diff 1 1': () => ({ kind: 'review', text: '', review: isTaken ? { ...REVIEW, hunks: [HUNK] } : REVIEW }),
    'diff back 1 1 1': () => {
      isTaken = true;
      return { kind: 'done', message: 'Taken back.' };
    },
  });
  await runAndShowSlashCommand('diff', host);
  await runPanelCommand('diff 1 1', host);
  await revertHunk('diff back 1 1 1', 'diff 1 1', host);
  const { overlay } = host.view();
  if (overlay?.kind !== 'viewer' || overlay.viewer.page.kind !== 'review') throw new Error('no page is open');
  expect([overlay.viewer.page.hunks.length, overlay.viewer.note]).toEqual([1, 'Taken back.']);
  expect(overlay.back).toMatchObject({ panel: { note: 'one part left' } });
  expect(overlay.back).toMatchObject<Partial<PanelState>>({ message: undefined });
});
