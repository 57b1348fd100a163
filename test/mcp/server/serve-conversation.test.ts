import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMcpServer } from '../../../src/mcp/server/mcp-server.ts';
import { createConversationServer } from '../../../src/mcp/server/serve-conversation.ts';
import { type Composed, composed } from '../../support/composed.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

const GREET = '---\ndescription: Greets\nargument-hint: <who>\n---\nGreet $ARGUMENTS nicely.\n';

let project: TempProject;
let made: Composed;

beforeAll(async () => {
  project = await createTempProject({
    'notes.txt': 'remember this',
    'picture.bin': '\0\u0001',
    '.claude/commands/greet.md': GREET,
  });
  made = await composed(project, 'http://127.0.0.1:9', { frontend: 'print' });
});

afterAll(async () => {
  await made.close();
  await project[Symbol.asyncDispose]();
});

/** A client of the MCP library at the other end, who answers forms like this. */
async function client(answer?: 'yes' | 'no') {
  const [here, there] = InMemoryTransport.createLinkedPair();
  const asked: string[] = [];
  const one = new Client(
    { name: 'test', version: '1' },
    { capabilities: answer === undefined ? {} : { elicitation: { form: {} } } },
  );
  if (answer !== undefined)
    one.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { answer } };
    });
  await createMcpServer(createConversationServer(made.conversation)).connect(there);
  await one.connect(here);
  const touch = (name: string) =>
    one.callTool({ name: 'Bash', arguments: { command: `touch ${name}`, description: 'Make it' } });
  return { one, asked, touch, [Symbol.asyncDispose]: () => one.close() };
}

const uri = (name: string) => pathToFileURL(`${project.dir}/${name}`).href;

test('tools are listed with their annotations, and none that needs a conversation', async () => {
  await using at = await client();
  const { tools } = await at.one.listTools();
  const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]));
  expect(hints).toMatchObject({ Read: true, Grep: true, Edit: false, Bash: false });
  expect(hints).not.toHaveProperty('Task');
  await expect(at.one.callTool({ name: 'Task', arguments: {} })).rejects.toThrow('There is no tool Task');
});

test('calls without an allow rule are asked about at the client, and refused where it cannot ask', async () => {
  await using withoutAnswers = await client();
  expect(await withoutAnswers.touch('first')).toMatchObject({ isError: true });
  await using says = await client('no');
  expect(await says.touch('second')).toMatchObject({ isError: true });
  expect(says.asked[0]).toContain('touch second');
  await using agrees = await client('yes');
  expect(await agrees.touch('third')).not.toHaveProperty('isError');
  await expect(project.read('third')).resolves.toBe('');
  await expect(project.read('second')).rejects.toThrow('ENOENT');
});

test('a call reports progress, and can be cancelled', async () => {
  await using at = await client('yes');
  const controller = new AbortController();
  const reported: string[] = [];
  const command = { command: 'echo begun; sleep 60', description: 'Wait' };
  const call = at.one.request(
    { method: 'tools/call', params: { name: 'Bash', arguments: command } },
    CallToolResultSchema,
    {
      signal: controller.signal,
      onprogress: ({ message = '' }) => {
        reported.push(message);
        if (message === 'begun') controller.abort();
      },
    },
  );
  await expect(call).rejects.toThrow();
  expect(reported).toContain('begun');
});

test('commands are prompts with their content', async () => {
  await using at = await client();
  const { prompts } = await at.one.listPrompts();
  expect(prompts).toEqual([
    { name: 'greet', description: 'Greets', arguments: [{ name: 'arguments', description: '<who>', required: false }] },
  ]);
  const { messages } = await at.one.getPrompt({ name: 'greet', arguments: { arguments: 'Ann' } });
  expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Greet Ann nicely.' } }]);
  await expect(at.one.getPrompt({ name: 'compact' })).rejects.toThrow('There is no prompt compact');
});

test('files that may be read unasked are resources, and their changes are reported', async () => {
  await using at = await client();
  const { resources } = await at.one.listResources();
  expect(resources.map(({ name }) => name)).toEqual(expect.arrayContaining(['notes.txt', 'picture.bin']));
  expect(await at.one.readResource({ uri: uri('notes.txt') })).toEqual({
    contents: [{ uri: uri('notes.txt'), mimeType: 'text/plain', text: 'remember this' }],
  });
  expect((await at.one.readResource({ uri: uri('picture.bin') })).contents[0]).toHaveProperty('blob', 'AAE=');
  await expect(at.one.readResource({ uri: 'file:///etc/shadow' })).rejects.toThrow('is not allowed');
  await expect(at.one.readResource({ uri: 'http://127.0.0.1/x' })).rejects.toThrow('is not a file address');
  const { resourceTemplates } = await at.one.listResourceTemplates();
  const ref = { type: 'ref/resource', uri: resourceTemplates[0]?.uriTemplate ?? '' } as const;
  const { completion } = await at.one.complete({ ref, argument: { name: 'path', value: 'note' } });
  expect(completion.values).toEqual(['notes.txt']);

  const changed = Promise.withResolvers<string>();
  at.one.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => changed.resolve(params.uri));
  await at.one.subscribeResource({ uri: uri('notes.txt') });
  await project.write('notes.txt', 'something else');
  expect(await changed.promise).toBe(uri('notes.txt'));
});
