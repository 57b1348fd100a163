import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createAgent } from '../../src/sdk/agent/create-agent.ts';
import { buildApplicationTool } from '../../src/tools/definition/application-tool.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { createSlowCallsFeature } from '../support/slow-calls.ts';
import { createTempProject } from '../support/temp-project.ts';

afterEach(() => vi.useRealTimers());

const DURATIONS_MS = [100, 90, 95, 300, 80];
/** How often each request says that a call was slow: the fourth call was. */
const REMINDERS = [0, 0, 0, 0, 1, 1];

const countReminders = (server: ApiServer) =>
  server.requests().map(({ raw }) => raw.split('took longer than its median').length - 1);

test('a behaviour around calls is one feature, which works in a conversation', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const names = DURATIONS_MS.map((_, index) => `${index}.txt`);
  await using project = await createTempProject(Object.fromEntries(names.map((name) => [name, name])));
  await using server = await startApiServer({
    turns: (_, at) => (at < names.length ? calls(toolUse('Read', { file_path: `${at}.txt` })) : says('done')),
  });
  const takeTime = async (path: string) => {
    const index = names.findIndex((name) => path.endsWith(name));
    vi.setSystemTime(Date.now() + (DURATIONS_MS[index] ?? 0));
    return names[index] ?? '';
  };
  const host = { hooks: [], mcpServers: [], files: { read: takeTime }, features: [createSlowCallsFeature()] };
  const made = await composed(project, server.url, { host });
  await made.conversation.agent.prompt('read all');
  expect(countReminders(server)).toEqual(REMINDERS);
  await made.close();
});

test('the same feature works in an agent of the library', async () => {
  await using server = await startApiServer({
    turns: (_, at) => (at < DURATIONS_MS.length ? calls(toolUse('Work', { at })) : says('done')),
  });
  let clockMs = 0;
  const work = buildApplicationTool({
    name: 'Work',
    prompt: 'Takes time.',
    input: z.object({ at: z.number() }),
    isReadOnly: true,
    async call({ at }) {
      clockMs += DURATIONS_MS[at] ?? 0;
      return { content: 'worked' };
    },
  });
  const agent = createAgent({
    ...{ baseUrl: server.url, apiKey: 'key', tools: [work], now: () => clockMs },
    features: [createSlowCallsFeature()],
  });
  await agent.prompt('work');
  expect(countReminders(server)).toEqual(REMINDERS);
});

test('features of an application get prompts and events, and remind the model', async () => {
  await using server = await startApiServer({
    turns: (_, at) => (at === 0 ? calls(toolUse('Nothing', {})) : says('done')),
  });
  const nothing = buildApplicationTool({
    name: 'Nothing',
    prompt: 'Does nothing.',
    input: z.object({}),
    isReadOnly: true,
    call: async () => ({ content: 'nothing' }),
  });
  const seen: string[] = [];
  const agent = createAgent({
    ...{ baseUrl: server.url, apiKey: 'key', tools: [nothing] },
    features: [
      {
        name: 'observer',
        async onPrompt(prompt) {
          seen.push(prompt);
          return prompt === 'bad'
            ? { kind: 'block', words: 'Not this one.' }
            : { kind: 'go', context: 'of the prompt' };
        },
        reminders: async (moment) => [`reminder at ${moment}`],
        onEvent: ({ type }) => void (type === 'agent_end' && seen.push(type)),
      },
    ],
  });
  expect((await agent.prompt('bad')).reason).toBe('hook_stopped');
  await agent.prompt('good');
  expect(seen).toEqual(['bad', 'agent_end', 'good', 'agent_end']);
  const [first, second] = server.requests().map(({ body }) => JSON.stringify(body.messages));
  expect(first).toContain('of the prompt\\nreminder at prompt');
  expect(second).toContain('reminder at turn');
});

test('a sub-agent is told of a file that was changed since it read it', async () => {
  await using project = await createTempProject({ 'a.txt': 'one\n', 'b.txt': 'b\n' });
  const task = { subagent_type: 'general-purpose', description: 'Look', prompt: 'Read both.' };
  await using server = await startApiServer({
    turns(_, at) {
      if (at === 0) return calls(toolUse('Task', task));
      if (at === 1) return calls(toolUse('Read', { file_path: 'a.txt' }));
      if (at > 2) return says('done');
      writeFileSync(join(project.dir, 'a.txt'), 'two lines\nnow\n');
      return calls(toolUse('Read', { file_path: 'b.txt' }));
    },
  });
  const made = await composed(project, server.url);
  await made.conversation.agent.prompt('look');
  const reported = server.requests().map(({ raw }) => raw.includes('a.txt has changed on disk since you last saw it'));
  // The third request of the sub-agent, after which the conversation goes on without it.
  expect(reported).toEqual([false, false, false, true, false]);
  await made.close();
});
