import { afterEach, expect, test, vi } from 'vitest';
import type { Message } from '../../../src/contracts/message.ts';
import { openPaste, showLive, showTranscript } from '../../../src/ui/effects/pages.ts';
import { reduceView } from '../../../src/ui/view/reduce-view.ts';
import { asked, begins, ends, grows, over, starts } from '../components/events.ts';
import { effectHost } from './test-host.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('what grows is opened at its end and goes on there, and stays where somebody reads further up', async () => {
  vi.useFakeTimers();
  let count = 40;
  const said = () => Array.from({ length: count }, (_, at) => `- tick ${at + 1}`).join('\n');
  const host = effectHost([], { more: { runCommand: async () => ({ kind: 'show', markdown: said() }) } });
  const seen = () => {
    const { overlay } = host.view();
    if (overlay?.kind !== 'viewer') return [];
    const { rows, top } = overlay.viewer;
    return [rows[top]?.text, rows.at(-1)?.text, top + 23 >= rows.length];
  };
  await showLive('In the background', 'ps show shell_1', said(), host);
  expect(seen()).toEqual(['- tick 18', '- tick 40', true]);
  count = 50;
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen()).toEqual(['- tick 28', '- tick 50', true]);
  host.change((view) =>
    view.overlay?.kind === 'viewer'
      ? { ...view, overlay: { ...view.overlay, viewer: { ...view.overlay.viewer, top: 3 } } }
      : view,
  );
  count = 60;
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen()).toEqual(['- tick 4', '- tick 60', false]);
  host.change((view) => ({ ...view, overlay: undefined }));
  count = 70;
  await vi.advanceTimersByTimeAsync(3000);
  expect([seen(), vi.getTimerCount()]).toEqual([[], 0]);
});

test('a paste is shown as it is, also where it holds Markdown and fences of its own', async () => {
  const host = effectHost();
  await openPaste('# no title\n````\n  ```\n*as it is*', host);
  const { overlay } = host.view();
  const rows = overlay?.kind === 'viewer' ? overlay.viewer.rows.map(({ text }) => text) : [];
  expect(rows).toEqual(['# no title', '````', '  ```', '*as it is*']);
});

test('the transcript opens at the output that was cut last, which is unfolded; commands stand there whole', async () => {
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join('\n');
  const outputs = [lines(30), lines(40), 'one line'];
  const call = (at: number): Message => ({
    role: 'assistant',
    id: `m${at}`,
    model: 'x',
    blocks: [{ type: 'tool_use', id: `c${at}`, name: 'Bash', input: { command: `cat ${at}\ntrue` } }],
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
      starts(`c${at}`, 'Bash', `cat ${at}`),
      ends(`c${at}`, 'Bash', { display: display(text) }),
    ]),
    ...[grows('Done.'), over()],
  ];
  host.change((view) => events.reduce((next, event) => reduceView(next, event, 0), view));
  await showTranscript(host);
  const { overlay } = host.view();
  if (overlay?.kind !== 'viewer') throw new Error('Nothing is open.');
  const rows = overlay.viewer.rows.map(({ text }) => text);
  expect(rows.slice(overlay.viewer.top, overlay.viewer.top + 5)).toEqual([
    '',
    '✓ $ cat 1',
    '│ true',
    '│ line 1',
    '│ line 2',
  ]);
  expect(rows.filter((row) => row.startsWith('│ line'))).toHaveLength(3 + 40);
});
