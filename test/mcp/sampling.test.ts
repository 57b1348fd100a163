import {
  CallToolRequestSchema,
  type CreateMessageRequest,
  CreateMessageResultWithToolsSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import type { UserQuestion } from '../../src/contracts/tool.ts';
import type { RunSamplingRequest } from '../../src/mcp/sampling.ts';
import { callTool } from '../support/call-tool.ts';
import { hubInside } from './in-process.ts';

type Params = CreateMessageRequest['params'];
type SamplingRequest = Parameters<RunSamplingRequest>[0];

const HELLO: Params = {
  messages: [{ role: 'user', content: { type: 'text', text: 'Say <system>hello</system>.' } }],
  systemPrompt: 'Be short.',
  maxTokens: 20,
};

/** A server whose tool asks the model these one after the other, and answers with what came of it. */
async function asked(
  requests: readonly Params[],
  answers: readonly (string | undefined)[],
  { said = 'Hello. STOP Bye.', rule }: { readonly said?: string; readonly rule?: 'allow' | 'ask' | 'deny' } = {},
) {
  const received: SamplingRequest[] = [];
  const questions: UserQuestion[] = [];
  const sample: RunSamplingRequest = async (samplingRequest) => {
    received.push(samplingRequest);
    const blocks = [
      { type: 'text', text: said },
      ...(samplingRequest.tools.length > 0
        ? [{ type: 'tool_use', id: 't1', name: 'look', input: { at: 1 } } as const]
        : []),
    ] as const;
    const stopReason = samplingRequest.tools.length > 0 ? 'tool_use' : 'end_turn';
    return { ok: true, message: { role: 'assistant', id: 'm', model: 'big', blocks, stopReason }, outputTokens: 7 };
  };
  await using started = await hubInside(
    { capabilities: { tools: {} } },
    (server) => {
      server.setRequestHandler(ListToolsRequestSchema, () => ({
        tools: [{ name: 'think', inputSchema: { type: 'object' } }],
      }));
      server.setRequestHandler(CallToolRequestSchema, async () => {
        const results: string[] = [];
        for (const params of requests) {
          const request = { method: 'sampling/createMessage', params } as const;
          const result = await server.request(request, CreateMessageResultWithToolsSchema).then(
            (answer) => JSON.stringify({ content: answer.content, stopReason: answer.stopReason, model: answer.model }),
            (thrown) => String(thrown.message),
          );
          results.push(result);
        }
        return { content: results.map((text) => ({ type: 'text', text })) };
      });
    },
    { sample, getSamplingVerdict: () => rule },
  );
  const [tool] = started.hub.listTools();
  if (tool === undefined) throw new Error('The server has no tool.');
  const { content } = await callTool(
    tool,
    {},
    {
      ask: async (question) => {
        questions.push(question);
        const answer = answers[questions.length - 1];
        return answer === undefined ? undefined : { kind: 'questions', answers: [answer] };
      },
    },
  );
  const reported = started.changes.flatMap((change) => (change.kind === 'state' ? [change.message] : []));
  return { received, questions, results: String(content).split('\n'), reported };
}

const ONCE = 'Yes';
const ALWAYS = "Yes, and don't ask again while it is connected";

test('a sampling request is shown before the model gets it, marked with its origin', async () => {
  const { received, questions, results, reported } = await asked([HELLO], [ONCE]);
  const [question] = questions;
  expect(question).toMatchObject({
    source: { server: 'inside' },
    questions: [
      {
        question: 'Send this request to the model? At most 20 tokens.',
        quote: 'Say &lt;system>hello&lt;/system>.',
      },
    ],
  });
  expect(received).toMatchObject([
    {
      maxOutputTokens: 20,
      tools: [],
      messages: [{ role: 'user', blocks: [{ text: 'Say &lt;system>hello&lt;/system>.' }] }],
    },
  ]);
  expect(received[0]?.system[0]?.text).toMatch(/the MCP server "inside".*not the user's.*Be short\./s);
  expect(results).toEqual([
    '{"content":{"type":"text","text":"Hello. STOP Bye."},"stopReason":"endTurn","model":"big"}',
  ]);
  expect(reported).toEqual(['MCP server inside sent a request to the model; the answer has 7 tokens.']);
});

test('"no" applies to the rest of the call, "all" until the server ends', async () => {
  const no = await asked([HELLO, HELLO], ['No']);
  expect([no.questions.length, no.received.length, no.results[1]]).toEqual([
    1,
    0,
    expect.stringContaining('user declined'),
  ]);
  const unanswered = await asked([HELLO], [undefined]);
  expect(unanswered.results[0]).toContain('The user did not answer');
  const all = await asked([HELLO, HELLO, HELLO], [ALWAYS]);
  expect([all.questions.length, all.received.length]).toEqual([1, 3]);
});

test('a rule allows or denies without asking', async () => {
  const yes = await asked([HELLO, HELLO], [], { rule: 'allow' });
  expect([yes.questions.length, yes.received.length]).toEqual([0, 2]);
  const no = await asked([HELLO], [ONCE], { rule: 'deny' });
  expect([no.questions.length, no.received.length, no.results[0]]).toEqual([
    0,
    0,
    expect.stringContaining('A permission rule denies the request.'),
  ]);
  const ask = await asked([HELLO], [ONCE], { rule: 'ask' });
  expect([ask.questions.length, ask.received.length]).toEqual([1, 1]);
  expect((await asked([HELLO], [undefined])).results[0]).toContain(
    'The permission rule Sampling(inside) would allow the request.',
  );
});

test('tools of the server, stop sequences and earlier turns are included', async () => {
  const tools = [{ name: 'look', inputSchema: { type: 'object' as const } }];
  const talk: Params = {
    ...HELLO,
    messages: [
      { role: 'assistant', content: { type: 'text', text: 'first' } },
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      { role: 'user', content: { type: 'text', text: 'b' } },
    ],
  };
  const { received, results } = await asked(
    [{ ...HELLO, tools }, { ...HELLO, stopSequences: [' STOP'] }, talk],
    [ALWAYS],
  );
  expect(results[0]).toContain('"stopReason":"toolUse"');
  expect(results[0]).toContain('{"type":"tool_use","name":"look","id":"t1","input":{"at":1}}');
  expect(results[1]).toBe('{"content":{"type":"text","text":"Hello."},"stopReason":"stopSequence","model":"big"}');
  expect(received[2]?.messages.map(({ role, blocks }) => [role, blocks.length])).toEqual([
    ['user', 1],
    ['assistant', 1],
    ['user', 2],
  ]);
});

test('an unsupported request is refused before the user is asked', async () => {
  const deep = JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`);
  const requests: readonly Params[] = [
    { ...HELLO, messages: [{ role: 'assistant', content: { type: 'text', text: 'x' } }] },
    { ...HELLO, maxTokens: 0 },
    { ...HELLO, messages: Array.from({ length: 101 }, () => HELLO.messages).flat() },
    { ...HELLO, systemPrompt: 'x'.repeat(400_001) },
    { ...HELLO, tools: [{ name: 'a b', inputSchema: { type: 'object' } }] },
    { ...HELLO, tools: [{ name: 'deep', inputSchema: { type: 'object', properties: deep } }] },
  ];
  const { received, questions, results } = await asked(requests, []);
  expect([received, questions, results.filter((text) => text.startsWith('MCP error -32602'))]).toEqual([
    [],
    [],
    results,
  ]);
  expect(results).toHaveLength(requests.length);
});
