import type { Todo } from '../../contracts/display.ts';
import { sanitizeForScreen } from '../../lib/text/sanitize.ts';
import { colored, createStyledLine, type LogicalLine, plain, type StyledSpan, truncateLine } from '../text/line.ts';
import { Rows } from '../text/Rows.tsx';
import { type RenderContext, useScreenContext } from '../text/render-context.ts';
import { wrapLines } from '../text/render-lines.ts';

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

/** Renders the task list in one line: the progress, and every task with its symbol. */
function renderTaskListLine(todos: readonly Todo[], context: RenderContext): LogicalLine {
  const done = todos.filter(({ status }) => status === 'completed').length;
  return createStyledLine(
    { text: 'Tasks', style: { bold: true } },
    plain(` ${done}/${todos.length}`),
    ...todos.flatMap((todo) => [plain('  '), ...createTodoSpans(todo, context)]),
  );
}

/** Renders the task list as a column: a head, and one line a task. */
export function renderTaskListColumn(todos: readonly Todo[], context: RenderContext): readonly LogicalLine[] {
  const done = todos.filter(({ status }) => status === 'completed').length;
  return [
    createStyledLine({ text: 'Tasks', style: { bold: true } }, plain(` ${done}/${todos.length}`)),
    ...todos.map((todo) => createStyledLine(plain('  '), ...createTodoSpans(todo, context))),
  ];
}

function createTodoSpans({ status, content }: Todo, { glyphs }: RenderContext): readonly StyledSpan[] {
  const text = sanitizeForScreen(content);
  switch (status) {
    case 'completed':
      return [colored('ok', glyphs.todo.completed), colored('dim', ` ${text}`)];
    case 'in_progress':
      return [colored('brand', glyphs.todo.in_progress), { text: ` ${text}`, style: { bold: true } }];
    default:
      return [colored('dim', `${glyphs.todo.pending} ${text}`)];
  }
}
