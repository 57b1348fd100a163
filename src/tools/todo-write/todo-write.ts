import { z } from 'zod';
import type { Todo } from '../../contracts/display.ts';
import type { ToolStatement } from '../../contracts/permission.ts';
import { buildTool } from '../build-tool.ts';
import { sessionFacts } from '../stated-facts.ts';

const PROMPT = `Keeps the task list the user sees. Send the whole list each time: it replaces the one before.
Use it for work of three or more steps. Exactly one task is in_progress while you work; mark a task completed the moment it is done, and never before it is.`;

const input = z.object({
  todos: z
    .array(
      z.object({
        content: z.string().min(1).describe('What to do'),
        status: z.enum(['pending', 'in_progress', 'completed']),
        activeForm: z.string().optional().describe('The same as something going on: "Running tests"'),
      }),
    )
    .max(100),
});

/** What it says of itself to those who decide about its calls. */
export const todoWriteStatement: ToolStatement = {
  name: 'TodoWrite',
  facts: sessionFacts,
  result: 'once',
  subAgents: 'none',
};

/** The task list: one value, replaced whole. */
export function createTodoWriteTool(setTodos: (todos: readonly Todo[]) => void) {
  return buildTool({
    ...todoWriteStatement,
    prompt: PROMPT,
    input,
    isReadOnly: () => true,
    title: ({ todos }) => `Tasks ${todos.filter((todo) => todo.status === 'completed').length} of ${todos.length} done`,
    async call({ todos }) {
      setTodos(todos);
      const open = todos.filter((todo) => todo.status !== 'completed').length;
      const active = todos.filter((todo) => todo.status === 'in_progress').length;
      const hint = active > 1 ? ' More than one task is in progress; work on one at a time.' : '';
      return {
        content: `The list is kept: ${open} open, ${todos.length - open} done.${hint}`,
        display: { kind: 'todo', todos },
      };
    },
  });
}
