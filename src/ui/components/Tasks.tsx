import type { Todo } from '../../contracts/display.ts';
import { todoColumn, todoRow } from '../history/todo-lines.ts';
import { fitLine } from '../text/line.ts';
import { Rows } from '../text/Rows.tsx';
import { liveRows } from '../text/render-lines.ts';
import { useLook } from '../text/use-look.ts';

type TasksProps = { readonly todos: readonly Todo[]; readonly form: 'row' | 'column'; readonly room: number };

/** The list of tasks, as one row or one to a row; the last ones where there is less room. */
export function Tasks({ todos, form, room }: TasksProps) {
  const { drawing } = useLook();
  const lines = form === 'row' ? [todoRow(todos, drawing)] : todoColumn(todos, drawing);
  const fitted = lines.slice(lines.length - room).map((line) => fitLine(line, drawing.width));
  return <Rows rows={liveRows(fitted, drawing.width)} />;
}

/** How many rows that takes. */
export function tasksHeight(todos: readonly Todo[], form: TasksProps['form']): number {
  if (todos.length === 0) return 0;
  return form === 'row' ? 1 : todos.length + 1;
}
