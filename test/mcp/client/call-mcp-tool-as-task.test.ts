import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import {
  CallToolRequestSchema,
  CancelTaskResultSchema,
  CreateTaskResultSchema,
  ElicitResultSchema,
  GetTaskResultSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { callTool } from '../../support/call-tool.ts';
import { hubInside } from '../in-process.ts';

/** A server with one tool that has to be called as a task; `work` says what becomes of it. */
async function withTask(work: (move: Move) => Promise<void>) {
  const tasks = new InMemoryTaskStore();
  const started = await hubInside(
    { capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } }, taskStore: tasks },
    (server) => {
      server.setRequestHandler(ListToolsRequestSchema, () => ({
        tools: [{ name: 'study', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } }],
      }));
      server.setRequestHandler(CallToolRequestSchema, async (_, { taskStore }) => {
        if (taskStore === undefined) throw new Error('This is no task.');
        const task = await taskStore.createTask({ ttl: 60_000, pollInterval: 100 });
        const done = (text: string, isError = false) =>
          tasks.storeTaskResult(task.taskId, isError ? 'failed' : 'completed', {
            content: [{ type: 'text', text }],
            isError,
          });
        const say = (words: string) => tasks.updateTaskStatus(task.taskId, 'working', words);
        const ask = async () => {
          const params = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } };
          const { action } = await server.request({ method: 'elicitation/create', params }, ElicitResultSchema);
          return action;
        };
        void work({ done, say, ask, cancel: () => tasks.updateTaskStatus(task.taskId, 'cancelled') });
        return { task };
      });
    },
  );
  const [tool] = started.hub.listTools();
  if (tool === undefined) throw new Error('The server has no tool.');
  return { tool, tasks, started, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() };
}

type Move = {
  done(text: string, isError?: boolean): Promise<void>;
  say(words: string): Promise<void>;
  ask(): Promise<string>;
  cancel(): Promise<void>;
};

test.concurrent('a task tool reports its state and returns its result', async () => {
  const notes: string[] = [];
  const reported = Promise.withResolvers<void>();
  await using run = await withTask(async ({ say, done }) => {
    await say('reading');
    await reported.promise;
    await done('found');
  });
  const report = (progress: { readonly kind: string; readonly text?: string }) => {
    notes.push(progress.text ?? '');
    reported.resolve();
  };
  expect((await callTool(run.tool, {}, { report })).content).toBe('found');
  expect(notes).toContain('reading');
});

test.concurrent('a failed task states the reason, and a task cancelled by the server is an error', async () => {
  await using failed = await withTask(({ done }) => done('no paper', true));
  expect(await callTool(failed.tool, {})).toMatchObject({ content: 'no paper', isError: true });
  await using cancelled = await withTask(({ cancel }) => cancel());
  await expect(callTool(cancelled.tool, {})).rejects.toThrow('answered with an error');
});

test.concurrent('a task elicits input in the name of its call', async () => {
  await using run = await withTask(async ({ ask, done }) => done(await ask()));
  const ask = async () => ({ kind: 'elicitation', action: 'accept', content: {} }) as const;
  expect((await callTool(run.tool, {}, { ask })).content).toBe('accept');
});

test.concurrent('an aborted task is cancelled', async () => {
  await using run = await withTask(async ({ say }) => say('for ever'));
  const controller = new AbortController();
  const report = () => controller.abort();
  await expect(callTool(run.tool, {}, { signal: controller.signal, report })).rejects.toThrow('stopped');
  while (run.tasks.getAllTasks()[0]?.status !== 'cancelled') await new Promise(setImmediate);
});

test.concurrent('an elicitation may be a task of ouro', async () => {
  const seen: unknown[] = [];
  await using started = await hubInside({ capabilities: { tools: {} } }, (server) => {
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'later', inputSchema: { type: 'object' } }],
    }));
    server.setRequestHandler(CallToolRequestSchema, async () => {
      const params = { message: 'Which?', requestedSchema: { type: 'object', properties: {} }, task: { ttl: 60_000 } };
      const { task } = await server.request({ method: 'elicitation/create', params }, CreateTaskResultSchema);
      const about = { taskId: task.taskId };
      const result = await server.request({ method: 'tasks/result', params: about }, ElicitResultSchema);
      const after = await server.request({ method: 'tasks/get', params: about }, GetTaskResultSchema);
      const cancelled = await server
        .request({ method: 'tasks/cancel', params: about }, CancelTaskResultSchema)
        .catch(() => 'too late');
      seen.push(task.status, result.action, after.status, cancelled);
      return { content: [] };
    });
  });
  const [tool] = started.hub.listTools();
  if (tool === undefined) throw new Error('The server has no tool.');
  const { attachment } = await callTool(tool, {}, { ask: async () => ({ kind: 'elicitation', action: 'decline' }) });
  expect(attachment).toContain('asked for input during this call and got none. The user declined it.');
  expect(seen).toEqual(['working', 'decline', 'completed', 'too late']);
});
