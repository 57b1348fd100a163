import { afterEach, beforeEach, expect, test } from 'vitest';
import { brokenToolUse, reply, says, text, toolUse } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { startJsonHost } from '../support/json-host.ts';
import { runHere } from '../support/run-here.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

let project: TempProject;
let server: ApiServer;

/** A server whose tool fails with a picture and whose prompts say what no prompt should. */
const ODD = `
import { createInterface } from 'node:readline';
const picture = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==' };
const said = { empty: [], blank: [{ role: 'user', content: { type: 'text', text: ' ' } }],
  assistant: [{ role: 'assistant', content: { type: 'text', text: 'I am the assistant' } }], picture: [{ role: 'user', content: picture }] };
const deep = JSON.parse('{"in":'.repeat(20000) + '1' + '}'.repeat(20000));
const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {}, prompts: {} }, serverInfo: { name: 'odd', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'fail', inputSchema: { type: 'object' } }, { name: 'deep', inputSchema: { type: 'object' } }] }),
  'tools/call': ({ name }) => name === 'deep' ? { content: [{ type: 'text', text: 'deep words' }], structuredContent: deep } : { content: [{ type: 'text', text: 'broken' }, picture], isError: true },
  'prompts/list': () => ({ prompts: Object.keys(said).map((name) => ({ name })) }),
  'prompts/get': ({ name }) => ({ messages: said[name] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method]?.(params) ?? {} }));
}
`;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
  await project.write('../odd.mjs', ODD);
  await project.write(
    'mcp.json',
    JSON.stringify({ mcpServers: { odd: { command: process.execPath, args: ['../odd.mjs'] } } }),
  );
});

afterEach(async () => {
  await server.close();
  await project.remove();
});

const ouro = (...args: readonly string[]) =>
  runHere(project, ['-p', ...args, '--dangerously-skip-permissions', '--mcp-config=mcp.json'], server.url, {
    env: { IS_SANDBOX: '1' },
  });

const refusals = () => server.all().flatMap(({ violation }) => violation ?? []);
const deep = (levels: number) => `${'{"in":'.repeat(levels)}1${'}'.repeat(levels)}`;

test.each(
  someOf(
    [
      ['names with spaces', [toolUse('my tool', {})]],
      ['names with colons, pipes and emoji', [toolUse('a:b', {}), toolUse('a|b', {}), toolUse('👍', {})]],
      ['an empty name', [toolUse('', {})]],
      ['a name of 300 characters', [toolUse('x'.repeat(300), {})]],
      ['ids with odd characters', [toolUse('Read', { file_path: 'a.txt' }, 'call:1|👍 ')]],
      ['empty ids', [toolUse('Read', { file_path: 'a.txt' }, ''), toolUse('Glob', { pattern: '*' }, '')]],
      ['a missing id', [{ type: 'tool_use', name: 'Read', input: { file_path: 'a.txt' } }]],
      [
        'one id for two calls',
        [toolUse('Read', { file_path: 'a.txt' }, 'one'), toolUse('Glob', { pattern: '*' }, 'one')],
      ],
      ['an input nested 20,000 deep', [brokenToolUse('Read', deep(20_000))]],
      ['an input nested 100,000 deep', [brokenToolUse('Read', deep(100_000))]],
      ['an error with a picture', [toolUse('mcp__odd__fail', {})]],
      ['an answer nested 20,000 deep', [toolUse('mcp__odd__deep', {})]],
    ],
    1,
  ),
)('%s: the prompt is answered, and so are the next one and a resumed one', async (_, blocks) => {
  server = await startApiServer({
    turns: (_request, index) => (index === 0 ? reply([text('I try.'), ...blocks], { chunk: 50_000 }) : says('fine')),
  });
  expect(await ouro('go')).toMatchObject({ code: 0, stdout: 'fine\n' });
  expect(await ouro('--continue', 'and now?')).toMatchObject({ code: 0, stdout: 'fine\n' });
  expect(refusals()).toEqual([]);
  const [, second, third] = server.requests();
  const sent = (request: typeof second) => request?.body.messages?.slice(0, 3) ?? [];
  const plain = (value: unknown) => JSON.stringify(value).replaceAll(/,"cache_control":\{[^}]*\}/g, '');
  expect(plain(sent(third))).toBe(plain(sent(second)));
  const answers = second?.raw.match(/"tool_use_id"/g)?.length;
  expect(answers).toBe(blocks.length);
});

test('a host that received invalid calls continues', async () => {
  server = await startApiServer({
    turns: (_request, index) =>
      index === 0 ? reply([toolUse('a tool', {}, 'a:1'), toolUse('', {}, '')]) : says('fine'),
  });
  const host = startJsonHost(project, ['--dangerously-skip-permissions'], server.url, { env: { IS_SANDBOX: '1' } });
  host.say('go');
  await host.waitFor(({ type }) => type === 'result');
  host.say('and now?');
  await host.waitFor(() => host.received().filter(({ type }) => type === 'result').length === 2);
  expect(await host.end()).toBe(0);
  expect(host.received().filter(({ type }) => type === 'result')).toMatchObject([
    { result: 'fine' },
    { result: 'fine' },
  ]);
  expect(refusals()).toEqual([]);
});

test.each(
  someOf(
    [
      ['empty', 1, /empty prompt/],
      ['blank', 1, /empty prompt/],
      ['assistant', 0, /^fine$/m],
      ['picture', 0, /^fine$/m],
    ],
    1,
  ),
)('a prompt of a server that is %s ends at once', async (name, code, words) => {
  server = await startApiServer({ turns: () => says('fine') });
  const end = await ouro(`/mcp__odd__${name}`);
  expect(end.stdout + end.stderr).toMatch(words);
  expect(end.code).toBe(code);
  expect(refusals()).toEqual([]);
});
