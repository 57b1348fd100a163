import { expect, test } from 'vitest';
import { Looked } from '../../../src/ui/components/Looked.tsx';
import type { ToolEntry } from '../../../src/ui/view/tool-entry.ts';
import { renderPart } from './render-part.tsx';

const read = (name: string): ToolEntry => ({
  callId: name,
  tool: 'Read',
  title: `Read ${name}`,
  by: 'model',
  input: {},
  startedAtMs: 0,
  state: {
    status: 'ended',
    ending: {
      status: 'done',
      text: '',
      durationMs: 1,
      display: { kind: 'file', path: `/home/me/proj/${name}`, lines: 1, partial: false },
    },
  },
});

test('look-ups share a line, and of too many the first and the last are seen', () => {
  expect(renderPart(<Looked entries={[read('a.ts'), read('b.ts')]} />)).toEqual(['✓ Read a.ts, b.ts']);
  const many = Array.from({ length: 30 }, (_, at) => read(`source-${at}.ts`));
  const [row = ''] = renderPart(<Looked entries={many} />);
  expect(row).toMatch(/^✓ Read source-0\.ts.*….*source-29\.ts$/);
  expect(row.length).toBeLessThanOrEqual(78);
});
