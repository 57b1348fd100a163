import { expect, test } from 'vitest';
import type { ToolProgress } from '../../../src/contracts/tool.ts';
import { createTaskTool, type SubAgentTask, type TaskToolDeps } from '../../../src/tools/task/task.ts';
import { callTool } from '../../support/call-tool.ts';

const USAGE = { inputTokens: 700, outputTokens: 200, cacheReadTokens: 5, cacheWriteTokens: 6 };

function setUp(more: Partial<TaskToolDeps> = {}) {
  const orders: SubAgentTask[] = [];
  const tool = createTaskTool({
    listTypes: () => [
      { name: 'general-purpose', description: 'Anything' },
      { name: 'explore', description: 'Reads only' },
    ],
    runAgent: async (order) => {
      orders.push(order);
      return { text: 'Found it.', calls: 3, tokens: 900, usage: USAGE, durationMs: 5, failed: false };
    },
    runInBackground: async (order) => {
      orders.push(order);
      return 'agent_1';
    },
    ...more,
  });
  return { tool, orders };
}

const input = { description: 'Find it', prompt: 'Where is it?' };

test('the last message of the sub-agent is the result', async () => {
  const { tool, orders } = setUp();
  const outcome = await callTool(tool, { ...input, subagent_type: 'explore', model: 'small' }, { callId: 'call_7' });
  expect(orders).toMatchObject([{ callId: 'call_7', type: 'explore', prompt: 'Where is it?', model: 'small' }]);
  expect(outcome).toEqual({
    content: 'Found it.',
    display: { kind: 'agent', agentType: 'explore', summary: 'Found it.', calls: 3 },
  });
});

test('hosts get its id and usage, and the model is told how to continue it', async () => {
  const report = { id: 'agent_1', text: 'Found.', calls: 1, tokens: 900, usage: USAGE, durationMs: 5, failed: false };
  const { tool } = setUp({ runAgent: async () => report });
  const outcome = await callTool(tool, input);
  expect(outcome.content).toBe('Found.\n\n(agent_1: SendMessage goes on with it)');
  expect(outcome.structured).toMatchObject({
    status: 'completed',
    agentId: 'agent_1',
    content: [{ type: 'text', text: 'Found.' }],
    totalToolUseCount: 1,
    totalTokens: 900,
    usage: { input_tokens: 700, output_tokens: 200, cache_read_input_tokens: 5, cache_creation_input_tokens: 6 },
  });
});

test('progress and abort are passed through', async () => {
  const received: ToolProgress[] = [];
  const controller = new AbortController();
  const note: ToolProgress = { kind: 'note', text: 'reading' };
  const { tool } = setUp({
    runAgent: async ({ report }, signal) => {
      report(note);
      controller.abort();
      return { text: '', calls: 0, tokens: 0, usage: USAGE, durationMs: 0, failed: signal.aborted };
    },
  });
  const outcome = await callTool(tool, input, { signal: controller.signal, report: (one) => received.push(one) });
  expect(received).toEqual([note]);
  expect(outcome).toMatchObject({ isError: true, content: '(the sub-agent said nothing)' });
});

test('in the background it returns an id at once', async () => {
  const { tool, orders } = setUp();
  const { content } = await callTool(tool, { ...input, run_in_background: true });
  expect(content).toContain('agent_1');
  expect(orders).toMatchObject([{ type: 'general-purpose' }]);
});

test('an unknown type is answered with the existing ones', async () => {
  await expect(callTool(setUp().tool, { ...input, subagent_type: 'wizard' })).rejects.toThrow(
    'There are: general-purpose, explore.',
  );
});

test('types are in the description, and the other name of the tool is known', () => {
  const { tool } = setUp();
  expect(tool.spec.description).toContain('- explore: Reads only');
  expect(tool.aliases).toEqual(['Agent']);
});
