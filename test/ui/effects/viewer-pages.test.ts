import { afterEach, expect, test, vi } from 'vitest';
import type { Message } from '../../../src/contracts/message.ts';
import { reduceView } from '../../../src/ui/app-state/reduce-view.ts';
import { openLiveOutputPage, openPastePage, openTranscriptPage } from '../../../src/ui/effects/viewer-pages.ts';
import { asked, begins, ends, grows, over, starts } from '../widgets/screen/events.ts';
import { effectHost } from './test-host.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a growing page opens at its end and follows it, unless scrolled up', async () => {
  vi.useFakeTimers();
  let count = 40;
  const said = () => Array.from({ length: count }, (_, at) => `- tick ${at + 1}`).join('\n');
  const read = vi.fn(async () => ({ kind: 'show' as const, markdown: said() }));
  const host = effectHost([], { more: { runCommand: read } });
  const seen = () => {
    const { overlay } = host.view();
    if (overlay?.kind !== 'viewer') return [];
    const { rows, top } = overlay.viewer;
    return [rows[top]?.text, rows.at(-1)?.text, top + 23 >= rows.length];
  };
  await openLiveOutputPage('In the background', 'ps show shell_1', said(), host);
  expect(seen()).toEqual(['- tick 18', '- tick 40', true]);
  count = 50;
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen()).toEqual(['- tick 28', '- tick 50', true]);
  host.updateView((view) =>
    view.overlay?.kind === 'viewer'
      ? { ...view, overlay: { ...view.overlay, viewer: { ...view.overlay.viewer, top: 3 } } }
      : view,
  );
  count = 60;
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen()).toEqual(['- tick 4', '- tick 60', false]);
  host.updateView((view) => ({ ...view, overlay: undefined }));
  count = 70;
  await vi.advanceTimersByTimeAsync(1000);
  const before = read.mock.calls.length;
  await vi.advanceTimersByTimeAsync(3000);
  expect([seen(), read.mock.calls.length]).toEqual([[], before]);
});

test('a paste is shown verbatim, also with Markdown and fences in it', async () => {
  const host = effectHost();
  await openPastePage('# no title\n````\n  ```\n*as it is*', host);
  const { overlay } = host.view();
  const rows = overlay?.kind === 'viewer' ? overlay.viewer.rows.map(({ text }) => text) : [];
  expect(rows).toEqual(['# no title', '````', '  ```', '*as it is*']);
});

test('the transcript opens at the last cut output, unfolded; commands are shown whole', async () => {
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join('\n');
  const outputs = [lines(30), lines(40), 'one line'];
  const call = (at: number): Message => ({
    role: 'assistant',
    id: `m${at}`,
    model: 'x',
    blocks: [{ type: 'tool_use', id: `c${at}`, name: 'Bash', input: { command: `make ${at}\ntrue` } }],
  });
  const answer = (text: string, at: number): Message => ({
    role: 'user',
    id: `r${at}`,
    origin: 'results',
    blocks: [{ type: 'tool_result', tool_use_id: `c${at}`, content: text }],
  });
  const host = effectHost(outputs.flatMap((text, at) => [call(at), answer(text, at)]));
  const display = (output: string) => ({ kind: 'output', command: 'x', output, exitCode: 0, hiddenLines: 0 }) as const;
  const events = [
    ...[begins(), asked('go')],
    ...outputs.flatMap((text, at) => [
      starts(`c${at}`, 'Bash', `make ${at}`),
      ends(`c${at}`, 'Bash', { display: display(text) }),
    ]),
    ...[grows('Done.'), over()],
  ];
  host.updateView((view) => events.reduce((next, event) => reduceView(next, event, 0), view));
  await openTranscriptPage(host);
  const { overlay } = host.view();
  if (overlay?.kind !== 'viewer') throw new Error('Nothing is open.');
  const rows = overlay.viewer.rows.map(({ text }) => text);
  expect(rows.slice(overlay.viewer.top, overlay.viewer.top + 5)).toEqual([
    '',
    '✓ $ make 1',
    '│ true',
    '│ line 1',
    '│ line 2',
  ]);
  expect(rows.filter((row) => row.startsWith('│ line'))).toHaveLength(3 + 40);
});
