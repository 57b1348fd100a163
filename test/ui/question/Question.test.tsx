import { expect, test } from 'vitest';
import type { QuestionPlan } from '../../../src/ui/question/fit-question.ts';
import { Question, questionHeight } from '../../../src/ui/question/Question.tsx';
import { plain } from '../../../src/ui/text/line.ts';
import { renderPart } from '../components/render-part.tsx';

const PLAN: QuestionPlan = {
  title: [plain('Run this command?')],
  body: [[plain('npm test')]],
  options: [[plain('❯ 1  y  Yes, once')], [plain('  2  n  No')]],
  keys: [[plain('esc no, and stop')]],
  gaps: 'shown',
  inSight: 'all',
};

function drawn(plan: QuestionPlan) {
  const rows = renderPart(<Question plan={plan} />);
  expect(rows).toHaveLength(questionHeight(plan));
  return rows;
}

test('a bar stands before every row, and empty rows between the parts', () => {
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

test('without room the empty rows are not there; folded it is two rows at the bar', () => {
  expect(drawn({ ...PLAN, gaps: 'none', keys: [] })).toEqual([
    '▌ Run this command?',
    '▌   npm test',
    '▌ ❯ 1  y  Yes, once',
    '▌   2  n  No',
  ]);
  expect(drawn({ ...PLAN, body: [], options: [], gaps: 'none' })).toEqual([
    '▌ Run this command?',
    '▌ esc no, and stop',
  ]);
});
