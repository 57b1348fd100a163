import { expect, test } from 'vitest';
import { FinishedLookupsLine } from '../../../../src/ui/widgets/tool-calls/ToolCall.tsx';
import type { ToolCallEntry } from '../../../../src/ui/widgets/tool-calls/tool-entry.ts';
import { renderPart } from '../screen/render-part.tsx';

const read = (name: string): ToolCallEntry => ({
  callId: name,
  tool: 'Read',
  title: `Read ${name}`,
  caller: 'model',
  input: {},
  startedAtMs: 0,
  state: {
    status: 'ended',
    outcome: {
      status: 'done',
      text: '',
      durationMs: 1,
      display: { kind: 'file', path: `/home/me/proj/${name}`, lines: 1, partial: false },
    },
  },
});

test('lookups share a line, and of too many the first and the last are shown', () => {
  expect(renderPart(<FinishedLookupsLine entries={[read('a.ts'), read('b.ts')]} />)).toEqual(['✓ Read a.ts, b.ts']);
  const many = Array.from({ length: 30 }, (_, at) => read(`source-${at}.ts`));
  const [row = ''] = renderPart(<FinishedLookupsLine entries={many} />);
  expect(row).toMatch(/^✓ Read source-0\.ts.*….*source-29\.ts$/);
  expect(row.length).toBeLessThanOrEqual(78);
});
