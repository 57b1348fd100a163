import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { createSessionMcpSampler } from '../../src/mcp/session-sampler.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { testCore } from '../support/core.ts';
import { runOptions } from '../support/run-options.ts';
import { createTempProject } from '../support/temp-project.ts';
import { inProcess } from './in-process.ts';

const ASKED = { messages: [{ role: 'user', content: { type: 'text', text: 'Name a river.' } }], maxTokens: 9 } as const;

test('a server requests sampling during a call, the user agrees, and the model answers', async () => {
  await using project = await createTempProject();
  const turns = [calls(toolUse('mcp__inside__think', {}, 'toolu_1')), says('The Elbe.'), says('Done.')];
  await using api = await startApiServer({ turns });
  const server = inProcess({ capabilities: { tools: {} } }, (one) => {
    one.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'think', inputSchema: { type: 'object' } }],
    }));
    one.setRequestHandler(CallToolRequestSchema, async () => {
      const request = {
        method: 'sampling/createMessage',
        params: { ...ASKED, messages: [...ASKED.messages] },
      } as const;
      const { content } = await one.request(request, CreateMessageResultSchema);
      return { content: [content.type === 'text' ? content : { type: 'text', text: content.type }] };
    });
  });
  const { conversation, events, close } = await composed(project, api.url, {
    host: { hooks: [], mcpServers: [server] },
    allowedTools: ['mcp__inside'],
  });
  conversation.agent.subscribe((event) => {
    if (event.type !== 'question' || event.question.kind !== 'questions') return;
    const [first] = event.question.questions[0]?.options ?? [];
    conversation.agent.answerQuestion(event.id, { kind: 'questions', answers: [first?.label ?? ''] });
  });
  await conversation.agent.prompt('think');
  await conversation.agent.waitForIdle();
  const [first, aside, last] = api.requests().map(({ body }) => body);
  expect([aside?.model, aside?.max_tokens, aside?.tools ?? []]).toEqual([first?.model, 9, []]);
  expect(JSON.stringify(aside?.messages)).toContain('Name a river.');
  expect(JSON.stringify(last?.messages)).toContain('The Elbe.');
  // What the answer cost is counted with the rest.
  expect(conversation.usage().models[0]?.replies).toBe(3);
  expect(events.some((event) => event.type === 'notice' && event.text.includes('request to the model'))).toBe(true);
  await close();
});

test('sampling is refused once the budget of the run is used up', async () => {
  await using project = await createTempProject();
  const core = await testCore(project, { options: runOptions({ maxBudgetUsd: 0 }) });
  const emptyRequest = { system: [], tools: [], messages: [], maxOutputTokens: 1 };
  expect(await createSessionMcpSampler(core)(emptyRequest, new AbortController().signal)).toEqual({
    ok: false,
    problem: 'the budget of $0 is used up.',
  });
});

test('a rule allows sampling without a user, and a request outside of any call passes the hooks', async () => {
  await using project = await createTempProject();
  const hook = {
    type: 'command',
    command: `cat >> ../heard.txt; echo '{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"name":"Ann"}}}'`,
  };
  const settings = { hooks: { Elicitation: [{ matcher: 'inside', hooks: [hook] }] } };
  await project.write('../home/.ouro/settings.json', JSON.stringify(settings));
  await using api = await startApiServer({ turns: [says('The Elbe.')] });
  const received: unknown[] = [];
  const done = Promise.withResolvers<void>();
  const server = inProcess({ capabilities: { tools: {} } }, (one) => {
    one.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [] }));
    one.oninitialized = async () => {
      const sampling = {
        method: 'sampling/createMessage',
        params: { ...ASKED, messages: [...ASKED.messages] },
      } as const;
      received.push((await one.request(sampling, CreateMessageResultSchema)).content);
      const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } };
      received.push(await one.elicitInput({ message: 'Who are you?', requestedSchema }));
      done.resolve();
    };
  });
  const { close } = await composed(project, api.url, {
    frontend: 'print',
    host: { hooks: [], mcpServers: [server] },
    allowedTools: ['Sampling(inside)'],
  });
  await done.promise;
  expect(received).toEqual([
    { type: 'text', text: 'The Elbe.' },
    { action: 'accept', content: { name: 'Ann' } },
  ]);
  expect(JSON.parse(await project.read('../heard.txt'))).toMatchObject({
    hook_event_name: 'Elicitation',
    mcp_server_name: 'inside',
    mode: 'form',
    message: 'Who are you?',
    requested_schema: { properties: { name: { type: 'string' } } },
  });
  await close();
});
