import { expect, test } from 'vitest';
import { getTaskListHeight, TaskList } from '../../../src/ui/widgets/TaskList.tsx';
import { renderPart } from './screen/render-part.tsx';

const TODOS = [
  { content: 'Read', status: 'completed' },
  { content: 'Write tests', activeForm: 'Writing tests', status: 'in_progress' },
  { content: 'Fix', status: 'pending' },
] as const;

test('tasks are in one row, or one per row, with the computed height', () => {
  const row = renderPart(<TaskList todos={TODOS} form="row" room={1} />);
  const column = renderPart(<TaskList todos={TODOS} form="column" room={4} />);
  expect(row).toEqual(['Tasks 1/3  ✓ Read  ● Write tests  ○ Fix']);
  expect(column).toEqual(['Tasks 1/3', '  ✓ Read', '  ● Write tests', '  ○ Fix']);
  expect([row.length, column.length]).toEqual([getTaskListHeight(TODOS, 'row'), getTaskListHeight(TODOS, 'column')]);
});

test('in little space the last tasks are shown', () => {
  expect(renderPart(<TaskList todos={TODOS} form="column" room={2} />)).toEqual(['  ● Write tests', '  ○ Fix']);
});
