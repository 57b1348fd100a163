import { expect, test } from 'vitest';
import { Tasks, tasksHeight } from '../../../src/ui/components/Tasks.tsx';
import { renderPart } from './render-part.tsx';

const TODOS = [
  { content: 'Read', status: 'completed' },
  { content: 'Write tests', activeForm: 'Writing tests', status: 'in_progress' },
  { content: 'Fix', status: 'pending' },
] as const;

test('tasks stand in one row, or one to a row, as high as was reckoned', () => {
  const row = renderPart(<Tasks todos={TODOS} form="row" room={1} />);
  const column = renderPart(<Tasks todos={TODOS} form="column" room={4} />);
  expect(row).toEqual(['Tasks 1/3  ✓ Read  ● Write tests  ○ Fix']);
  expect(column).toEqual(['Tasks 1/3', '  ✓ Read', '  ● Write tests', '  ○ Fix']);
  expect([row.length, column.length]).toEqual([tasksHeight(TODOS, 'row'), tasksHeight(TODOS, 'column')]);
});

test('where there is less room the last tasks are seen', () => {
  expect(renderPart(<Tasks todos={TODOS} form="column" room={2} />)).toEqual(['  ● Write tests', '  ○ Fix']);
});
