// turn-floor.ts <url>: the floor of a turn. Sends requests with the API library, runs the calls of each reply, and
// appends what it has received to a file; started by turns.ts with the runtime of ouro.
import { execFile } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Anthropic } from '@anthropic-ai/sdk';
import { DEFAULT_MODEL } from '../src/model/built-in-models.ts';

type Call = { readonly type: 'tool_use'; readonly id: string; readonly name: string; json: string; input: unknown };

const client = new Anthropic({ apiKey: 'none', baseURL: process.argv[2] ?? '' });
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'go' }];
for (let calls = await request(); calls.length > 0; calls = await request()) {
  messages.push({ role: 'assistant', content: calls.map(({ json: _, ...call }) => call) });
  const content = await Promise.all(
    calls.map(async (call) => ({ type: 'tool_result' as const, tool_use_id: call.id, content: await run(call) })),
  );
  messages.push({ role: 'user', content });
  appendFileSync(
    'floor.jsonl',
    messages
      .slice(-2)
      .map((message) => `${JSON.stringify(message)}\n`)
      .join(''),
  );
}

async function request(): Promise<readonly Call[]> {
  const calls: Call[] = [];
  const events = await client.messages.create({ model: DEFAULT_MODEL, max_tokens: 1000, messages, stream: true });
  for await (const event of events) {
    if (event.type === 'content_block_start' && event.content_block.type === 'tool_use') {
      const { id, name } = event.content_block;
      calls.push({ type: 'tool_use', id, name, json: '', input: {} });
    }
    const last = calls.at(-1);
    if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta' && last !== undefined)
      last.json += event.delta.partial_json;
  }
  for (const call of calls) call.input = JSON.parse(call.json);
  return calls;
}

async function run({ name, input }: Call): Promise<string> {
  const { command, file_path } = input as { readonly command?: string; readonly file_path?: string };
  if (name === 'Read') return readFile(file_path ?? '', 'utf8');
  return (await promisify(execFile)('bash', ['-c', command ?? ''])).stdout;
}
