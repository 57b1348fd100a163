import { expect, test } from 'vitest';
import { plain } from '../../../../src/ui/text/line.ts';
import { Dialog, getDialogHeight } from '../../../../src/ui/widgets/permission-dialog/Dialog.tsx';
import type { DialogLayout } from '../../../../src/ui/widgets/permission-dialog/fit-dialog.ts';
import { renderPart } from '../screen/render-part.tsx';

const PLAN: DialogLayout = {
  title: [plain('Run this command?')],
  body: [[plain('npm test')]],
  options: [[plain('❯ 1  y  Yes, once')], [plain('  2  n  No')]],
  keys: [[plain('esc no, and stop')]],
  gaps: 'shown',
  inSight: 'all',
};

function drawn(plan: DialogLayout) {
  const rows = renderPart(<Dialog layout={plan} />);
  expect(rows).toHaveLength(getDialogHeight(plan));
  return rows;
}

test('a bar is before every row, and empty rows between the parts', () => {
  expect(drawn(PLAN)).toEqual([
    '▌ Run this command?',
    '▌',
    '▌   npm test',
    '▌',
    '▌ ❯ 1  y  Yes, once',
    '▌   2  n  No',
    '▌',
    '▌   esc no, and stop',
  ]);
});

test('in little space the empty rows are dropped; folded it has two rows', () => {
  expect(drawn({ ...PLAN, gaps: 'none', keys: [] })).toEqual([
    '▌ Run this command?',
    '▌   npm test',
    '▌ ❯ 1  y  Yes, once',
    '▌   2  n  No',
  ]);
  expect(drawn({ ...PLAN, body: [], options: [], gaps: 'none', inSight: 'part' })).toEqual([
    '▌ Run this command?',
    '▌ esc no, and stop',
  ]);
});
