import type { Todo } from '../../../contracts/display.ts';
import { sanitizeForScreen } from '../../../lib/text/sanitize.ts';
import { colored, createLine, type LogicalLine, plain, type StyledSpan } from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';

/** Renders the task list in one line: the progress, and every task with its symbol. */
export function renderTaskListLine(todos: readonly Todo[], context: RenderContext): LogicalLine {
  const done = todos.filter(({ status }) => status === 'completed').length;
  return createLine(
    { text: 'Tasks', style: { bold: true } },
    plain(` ${done}/${todos.length}`),
    ...todos.flatMap((todo) => [plain('  '), ...createTodoSpans(todo, context)]),
  );
}

export function renderTaskListColumn(todos: readonly Todo[], context: RenderContext): readonly LogicalLine[] {
  const done = todos.filter(({ status }) => status === 'completed').length;
  return [
    createLine({ text: 'Tasks', style: { bold: true } }, plain(` ${done}/${todos.length}`)),
    ...todos.map((todo) => createLine(plain('  '), ...createTodoSpans(todo, context))),
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
