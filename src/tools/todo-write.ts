import { z } from 'zod';
import type { Todo } from '../contracts/display.ts';
import type { Feature } from '../contracts/feature.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import { wrapInReminder } from '../lib/text/reminder.ts';
import { buildTool } from './definition/build-tool.ts';
import { acceptOnlyArgumentValues, type BuiltInToolTraits, defineToolTraits } from './input/call-forms.ts';
import type { AcceptedArgumentForms, ForeignArgumentConverter } from './input/normalize-arguments.ts';
import { getSessionOnlyFacts } from './tool-facts.ts';

const PROMPT = `Keeps the task list the user sees, for work of three or more steps. Send the whole list each time. One task is in_progress while you work; mark it completed the moment it is done, never before.`;

const input = z.strictObject({
  todos: z
    .array(
      z.strictObject({
        content: z.string().min(1),
        status: z.enum(['pending', 'in_progress', 'completed']),
        activeForm: z.string().optional().describe('"Running tests"'),
      }),
    )
    .max(100),
});

const TODO_FORMS: AcceptedArgumentForms = {
  synonyms: {
    content: ['task', 'text', 'title', 'description', 'step', 'name', 'todo', 'subject'],
    status: ['state'],
    activeForm: [],
    done: ['completed', 'is_completed', 'checked', 'finished'],
  },
  conversions: {
    done: (value) => ({ set: { status: value === true || value === 'true' ? 'completed' : 'pending' } }),
    status: convertStatus,
  },
  ignored: ['id', 'priority', 'notes', 'dependencies'],
};

const STATUS_WORDS: Readonly<Record<string, readonly string[]>> = {
  pending: ['todo', 'to do', 'open', 'not started', 'new', 'waiting', 'queued', 'planned'],
  in_progress: ['doing', 'active', 'started', 'current', 'working', 'wip', 'running', 'ongoing'],
  completed: ['done', 'complete', 'finished', 'closed', 'x', 'success'],
};

function convertStatus(value: JsonValue): ReturnType<ForeignArgumentConverter> {
  const word = String(value)
    .toLowerCase()
    .replace(/[-_\s]+/g, ' ')
    .trim();
  if (/^cancell?ed$|^skipped$|^deleted$/.test(word))
    return { problem: 'A task is pending, in_progress or completed. Leave out of the list what is not done at all.' };
  const status = Object.keys(STATUS_WORDS).find((name) => STATUS_WORDS[name]?.includes(word));
  return { set: { status: status ?? value } };
}

/** The traits of the TodoWrite tool. */
export const todoWriteTraits: BuiltInToolTraits = defineToolTraits({
  name: 'TodoWrite',
  facts: getSessionOnlyFacts,
  result: 'once',
  subAgents: 'none',
  forms: {
    example: 'TodoWrite{todos:[{content:"Run tests", status:"in_progress"}]}',
    names: ['update_plan', 'write_todos', 'todo', 'todo_list', 'manage_todo_list', 'set_todos', 'update_todo_list'],
    synonyms: { todos: ['plan', 'tasks', 'items', 'todo_list', 'list', 'steps'] },
    conversions: {
      merge: acceptOnlyArgumentValues(
        'TodoWrite replaces the list. Send all tasks, also those that did not change.',
        false,
      ),
      operation: acceptOnlyArgumentValues(
        'TodoWrite only writes the list; the last one you sent is what there is.',
        'write',
      ),
    },
    ignored: ['explanation'],
    elements: { todos: TODO_FORMS },
  },
});

/** Completes tasks that are given as texts, or without a status. */
function completeTodos(raw: JsonObject): JsonObject {
  if (!Array.isArray(raw.todos)) return raw;
  const given: readonly JsonValue[] = raw.todos;
  const todos = given.map((todo) => {
    if (typeof todo === 'string') return parseTask(todo);
    return isJsonObject(todo) && todo.status === undefined ? { ...todo, status: 'pending' } : todo;
  });
  return { ...raw, todos };
}

/** Parses a task as Markdown writes it: `- [x] Run tests`. */
function parseTask(text: string): JsonObject {
  const [, mark = ' ', content = text] = /^\s*(?:[-*]\s*)?\[(.)\](?:\s*(?=\S))?(.+)$/.exec(text) ?? [];
  return { content: content.trim(), status: mark === ' ' ? 'pending' : /x/i.test(mark) ? 'completed' : 'in_progress' };
}

/** Creates the tool that replaces the to-do list. */
export function createTodoWriteTool(setTodos: (todos: readonly Todo[]) => void) {
  return buildTool({
    ...todoWriteTraits,
    prompt: PROMPT,
    input,
    isReadOnly: () => true,
    prepareArguments: completeTodos,
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

const QUIET_TURNS = 10;

/** Creates the feature that reminds the model of a list that has not changed for a while. */
export function createTodoFeature(getTodos: () => readonly Todo[]): Feature {
  let known = '';
  let quietTurns = 0;
  return {
    name: 'todos',
    async reminders() {
      const list = getTodos();
      const text = JSON.stringify(list);
      quietTurns = text === known ? quietTurns + 1 : 0;
      known = text;
      if (quietTurns < QUIET_TURNS || list.every((todo) => todo.status === 'completed')) return [];
      quietTurns = 0;
      const lines = list.map((todo) => `- [${todo.status}] ${todo.content}`).join('\n');
      return [
        wrapInReminder(
          `The to-do list has not moved for a while. If it is no longer true, correct it with TodoWrite:\n${lines}`,
        ),
      ];
    },
  };
}
