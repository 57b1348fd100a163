import { afterEach, expect, test, vi } from 'vitest';
import { openPaste, showLive } from '../../../src/ui/effects/pages.ts';
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
