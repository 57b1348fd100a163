import { expect, test } from 'vitest';
import { openPaste } from '../../../src/ui/effects/pages.ts';
import { effectHost } from './test-host.ts';

test('a paste is shown as it is, also where it holds Markdown and fences of its own', async () => {
  const host = effectHost();
  await openPaste('# no title\n````\n  ```\n*as it is*', host);
  const { overlay } = host.view();
  const rows = overlay?.kind === 'viewer' ? overlay.viewer.rows.map(({ text }) => text) : [];
  expect(rows).toEqual(['# no title', '````', '  ```', '*as it is*']);
});
