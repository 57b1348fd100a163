import type { Todo } from '../../../contracts/display.ts';
import { truncateLine } from '../../text/line.ts';
import { Rows } from '../../text/Rows.tsx';
import { useScreenContext } from '../../text/render-context.ts';
import { wrapLines } from '../../text/render-lines.ts';
import { renderTaskListColumn, renderTaskListLine } from './task-lines.ts';

type TasksProps = { readonly todos: readonly Todo[]; readonly form: 'row' | 'column'; readonly room: number };

/** The task list, in one row or one task per row; only the last tasks if there are fewer rows. */
export function TaskList({ todos, form, room }: TasksProps) {
  const { context } = useScreenContext();
  const lines = form === 'row' ? [renderTaskListLine(todos, context)] : renderTaskListColumn(todos, context);
  const fitted = lines.slice(lines.length - room).map((line) => truncateLine(line, context.width));
  return <Rows rows={wrapLines(fitted, context.width)} />;
}

/** Returns the height of the task list in rows. */
export function getTaskListHeight(todos: readonly Todo[], form: TasksProps['form']): number {
  if (todos.length === 0) return 0;
  return form === 'row' ? 1 : todos.length + 1;
}
