import { expect, test } from 'vitest';
import type { Todo } from '../../src/contracts/display.ts';
import { createTodoFeature, createTodoWriteTool } from '../../src/tools/todo-write.ts';
import { callTool } from '../support/call-tool.ts';

function setUp() {
  const lists: (readonly Todo[])[] = [];
  return { lists, tool: createTodoWriteTool((todos) => lists.push(todos)) };
}

const todo = (content: string, status: Todo['status']) => ({ content, status });

test('each list replaces the previous one, and is shown', async () => {
  const { tool, lists } = setUp();
  const first = [todo('Look', 'completed'), todo('Build', 'in_progress')];
  const { content, display } = await callTool(tool, { todos: first });
  await callTool(tool, { todos: [] });
  expect(lists).toEqual([first, []]);
  expect(content).toBe('The list is kept: 1 open, 1 done.');
  expect(display).toEqual({ kind: 'todo', todos: first });
});

test('two tasks in progress at once are mentioned', async () => {
  const { content } = await callTool(setUp().tool, {
    todos: [todo('A', 'in_progress'), todo('B', 'in_progress')],
  });
  expect(content).toContain('one at a time');
});

test.each([
  [{ todos: [{ content: 'A', status: 'someday' }] }, 'todos[0].status'],
  [{ todos: [{ content: '', status: 'pending' }] }, 'todos[0].content'],
  [{}, 'todos'],
])('%j is refused by its field name', (input, field) => {
  const { tool, lists } = setUp();
  expect(tool.prepare(input)).toMatchObject({ ok: false, problem: expect.stringContaining(`"${field}"`) });
  expect(lists).toEqual([]);
});

test('a to-do list unchanged for ten turns is mentioned, a completed one is not', async () => {
  let todos: readonly Todo[] = [todo('write the test', 'in_progress')];
  const { reminders } = createTodoFeature(() => todos);
  const { signal } = new AbortController();
  const turns = async (count: number) => {
    const news: string[] = [];
    for (let turn = 0; turn < count; turn += 1) news.push(...((await reminders?.('turn', signal)) ?? []));
    return news;
  };
  expect(await turns(10)).toEqual([]);
  expect(await turns(1)).toEqual([expect.stringContaining('- [in_progress] write the test')]);
  expect(await turns(9)).toEqual([]);
  todos = [todo('write the test', 'completed')];
  expect(await turns(25)).toEqual([]);
});
