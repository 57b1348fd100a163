import type { Todo } from '../../contracts/display.ts';
import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';

/** The list in one line: how far it is, and every task with its sign. */
export function todoRow(todos: readonly Todo[], drawing: Drawing): LogicalLine {
  const done = todos.filter(({ status }) => status === 'completed').length;
  return terminalLine(
    { text: 'Tasks', style: { bold: true } },
    plain(` ${done}/${todos.length}`),
    ...todos.flatMap((todo) => [plain('  '), ...todoSpans(todo, drawing)]),
  );
}

/** The list, one task a line. */
export function todoColumn(todos: readonly Todo[], drawing: Drawing): readonly LogicalLine[] {
  const done = todos.filter(({ status }) => status === 'completed').length;
  return [
    terminalLine({ text: 'Tasks', style: { bold: true } }, plain(` ${done}/${todos.length}`)),
    ...todos.map((todo) => terminalLine(plain('  '), ...todoSpans(todo, drawing))),
  ];
}

function todoSpans({ status, content }: Todo, { glyphs }: Drawing): readonly Span[] {
  const words = sanitizeScreen(content);
  switch (status) {
    case 'completed':
      return [toned('ok', glyphs.todo.completed), toned('dim', ` ${words}`)];
    case 'in_progress':
      return [toned('brand', glyphs.todo.in_progress), { text: ` ${words}`, style: { bold: true } }];
    default:
      return [toned('dim', `${glyphs.todo.pending} ${words}`)];
  }
}
