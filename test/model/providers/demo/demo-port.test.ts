import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ToolUseBlock, UserBlock } from '../../../../src/contracts/message.ts';
import type { ModelRequest, RequestMessage } from '../../../../src/contracts/model.ts';
import { createDemoPort } from '../../../../src/model/providers/demo/demo-port.ts';
import { writeSampleProject } from '../../../../src/model/providers/demo/sample-project.ts';
import { SAMPLE_PROJECT_FIX } from '../../../../src/model/providers/demo/sample-project-files.ts';
import { longTest } from '../../../support/long-test.ts';
import { createTempFolder } from '../../../support/temp-folder.ts';
import { drain, REQUEST } from '../../support.ts';

const TOOLS = [{ name: 'Read', description: '', input_schema: {} }];
const noWait = async () => undefined;

function says(text: string): RequestMessage {
  return { role: 'user', blocks: [{ type: 'text', text }] };
}

function ask(messages: readonly RequestMessage[], projectDir = '/shop', change: Partial<ModelRequest> = {}) {
  const port = createDemoPort({ project: { projectDir, cwd: projectDir }, sleep: noWait });
  return drain(port, { request: { ...REQUEST, model: 'demo', tools: TOOLS, effort: 'high', messages, ...change } });
}

type Answer = { readonly content: string; readonly is_error?: boolean };

/** Plays the tour to its end: each call is answered by `run`. */
async function play(run: (call: ToolUseBlock) => Promise<Answer>, projectDir?: string) {
  let messages: readonly RequestMessage[] = [says('What is wrong here?')];
  const tools: string[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const { outcome } = await ask(messages, projectDir);
    if (!outcome.ok) throw new Error('the demo failed');
    const { blocks } = outcome.message;
    const call = blocks.find((block) => block.type === 'tool_use');
    const last = blocks.findLast((block) => block.type === 'text')?.text ?? '';
    if (!call) return { tools, last, messages: [...messages, { role: 'assistant', blocks } as const] };
    tools.push(call.name);
    const result: UserBlock = { type: 'tool_result', tool_use_id: call.id, ...(await run(call)) };
    messages = [...messages, { role: 'assistant', blocks }, { role: 'user', blocks: [result] }];
  }
  throw new Error('the tour did not end');
}

const ok = async (): Promise<Answer> => ({ content: 'fine' });
const refuse =
  (tool: string) =>
  async (call: ToolUseBlock): Promise<Answer> =>
    call.name === tool ? { content: 'The user denied this.', is_error: true } : { content: 'fine' };

test.each([
  ['Answer in a few sentences. Call no tools.\n\nwhat does LRU mean?', /no line for that/],
  ['Write that summary now. Call no tools.\n\nPut it between <summary> and </summary>.', /^A demo session/],
])('a request to call no tool is answered with text, wherever the tour is: %s', async (order, words) => {
  const call: ToolUseBlock = { type: 'tool_use', id: 'demo_search_1', name: 'Grep', input: {} };
  const answered: UserBlock = { type: 'tool_result', tool_use_id: call.id, content: 'fine' };
  const { outcome } = await ask([
    says('What is wrong here?'),
    { role: 'assistant', blocks: [call] },
    { role: 'user', blocks: [answered, { type: 'text', text: order }] },
  ]);
  expect(outcome.ok && outcome.message.blocks).toEqual([{ type: 'text', text: expect.stringMatching(words) }]);
});

describe('the demo on its sample project', () => {
  let dir = '';
  beforeAll(async () => {
    dir = createTempFolder();
    await writeSampleProject(dir);
  });

  /** The real things, as the tools would do them. */
  async function perform({ name, input }: ToolUseBlock): Promise<Answer> {
    const fields: Record<string, unknown> = typeof input === 'object' && input !== null ? { ...input } : {};
    if (name === 'Bash') return shell(String(fields.command));
    if (name === 'Edit') {
      const file = String(fields.file_path);
      const before = await readFile(file, 'utf8');
      await writeFile(file, before.replace(String(fields.old_string), String(fields.new_string)));
    }
    return { content: 'fine' };
  }

  const outputs: Answer[] = [];
  function shell(command: string): Promise<Answer> {
    return new Promise((resolve) => {
      execFile('sh', ['-c', command], { cwd: dir }, (error, stdout, stderr) => {
        const answer = { content: stdout + stderr, ...(error && { is_error: true }) };
        outputs.push(answer);
        resolve(answer);
      });
    });
  }

  longTest('the tests fail, pass after one edit, and a receipt is written', async () => {
    const { tools, last } = await play(perform, dir);
    expect(tools).toEqual(['Grep', 'Read', 'Bash', 'Edit', 'Bash', 'Bash']);
    expect(outputs.map((output) => output.is_error === true)).toEqual([true, false, false]);
    expect(await readFile(join(dir, SAMPLE_PROJECT_FIX.file), 'utf8')).toContain(SAMPLE_PROJECT_FIX.after);
    expect(await readFile(join(dir, 'receipt.txt'), 'utf8')).toContain('180.00');
    expect(last).toContain('That was the tour');
  });
});

describe('the demo', () => {
  test('introduces itself, thinks before the edit, and streams in pieces', async () => {
    const first = await ask([says('hi')]);
    const words = first.events.filter((event) => event.type === 'text_delta').map((event) => event.text);
    expect(words.join('')).toContain('built-in demo');
    expect(words.length).toBeGreaterThan(20);
    const { messages } = await play(ok);
    const thoughts = messages
      .flatMap((message) => message.blocks.map((block) => block.type))
      .filter((type) => type === 'thinking');
    expect(thoughts).toHaveLength(1);
  });

  test('no thinking where it is disabled', async () => {
    const { messages } = await play(ok);
    const atEdit = messages.findIndex((message) => message.blocks.some((block) => block.type === 'thinking'));
    const { outcome } = await ask(messages.slice(0, atEdit), '/shop', { effort: 'off' });
    expect(outcome.ok && outcome.message.blocks.map((block) => block.type)).toEqual(['text', 'tool_use']);
  });

  test('is stateless: the same conversation gives the same answer', async () => {
    const { messages } = await play(ok);
    for (let length = 1; length < messages.length; length += 2) {
      expect(await ask(messages.slice(0, length))).toEqual(await ask(messages.slice(0, length)));
    }
  });

  test('a refused edit is shown as text, and "go on" offers it again', async () => {
    const { tools, last, messages } = await play(refuse('Edit'));
    expect(tools).toEqual(['Grep', 'Read', 'Bash', 'Edit']);
    expect(last).toContain(SAMPLE_PROJECT_FIX.after.trim());
    const { outcome } = await ask([...messages, says('go on')]);
    expect(outcome).toMatchObject({
      ok: true,
      message: { blocks: [{ type: 'thinking' }, { type: 'text' }, { name: 'Edit' }] },
    });
  });

  test('an agent without tools gets an answer, and a request for a title a name', async () => {
    const agent = await ask([says('hello')], '/shop', { tools: [] });
    const title = await ask([says('hello')], '/shop', { tools: [], system: [{ name: 'side', text: 'Name it.' }] });
    expect(JSON.stringify(agent.outcome)).toContain('This is the built-in demo');
    expect(JSON.stringify(title.outcome)).toContain('A demo session');
  });

  test('refused commands do not stop it', async () => {
    const { tools, last } = await play(refuse('Bash'));
    expect(tools).toEqual(['Grep', 'Read', 'Bash', 'Edit', 'Bash', 'Bash']);
    expect(last).toContain('That was the tour');
  });

  test.each(['bash: line 1: node: command not found\n[ended with exit code 127]', '[Commands need bash. Install it.]'])(
    'commands that cannot run are not taken for denied ones: %s',
    async (content) => {
      const { tools, last, messages } = await play(async (call) =>
        call.name === 'Bash' ? { content, is_error: true } : { content: 'fine' },
      );
      expect(tools).toEqual(['Grep', 'Read', 'Bash', 'Edit', 'Bash', 'Bash']);
      expect(JSON.stringify(messages)).toContain('this machine lacks one of them');
      expect(last).toMatch(/^The command was allowed, but it needs Node and bash, too\.\n\nThat was the tour/);
    },
  );

  test('an interrupted call is repeated', async () => {
    const { messages } = await play(ok);
    const answered = messages.slice(0, 2);
    const call = answered[1]?.blocks.find((block) => block.type === 'tool_use');
    const interrupted: RequestMessage = {
      role: 'user',
      blocks: [
        {
          type: 'tool_result',
          tool_use_id: call?.id ?? '',
          content: 'interrupted; it may or may not have run',
          is_error: true,
        },
        { type: 'text', text: '[Request interrupted by user for tool use]' },
        { type: 'text', text: 'go on' },
      ],
    };
    expect(await ask([...answered, interrupted])).toMatchObject({
      outcome: { message: { blocks: [{}, { name: 'Grep' }] } },
    });
  });

  test('a file changed meanwhile is read again before the edit, and left alone if it is different', async () => {
    const stale = async (call: ToolUseBlock): Promise<Answer> =>
      call.name === 'Edit'
        ? { content: 'The file has changed since it was read.', is_error: true }
        : { content: 'fine' };
    const { tools, last } = await play(stale);
    expect(tools).toEqual(['Grep', 'Read', 'Bash', 'Edit', 'Read', 'Edit']);
    expect(last).toContain('leave it alone');
  });

  test('other prompts get an honest answer', async () => {
    const { messages } = await play(ok);
    for (const words of ['Are you a real model?', 'Write me a poem', 'Where do I put my key?']) {
      const { outcome } = await ask([...messages, says(words)]);
      const text = outcome.ok && outcome.message.blocks[0]?.type === 'text' ? outcome.message.blocks[0].text : '';
      expect(text).toMatch(/demo|prepared|ANTHROPIC_API_KEY/);
      expect(text).toContain('The tour is over');
    }
  });

  test('without its sample project it says how to get it', async () => {
    const port = createDemoPort({ sleep: noWait });
    const { outcome } = await drain(port, { request: { ...REQUEST, tools: TOOLS, messages: [says('fix it')] } });
    expect(outcome).toMatchObject({ message: { blocks: [{ text: expect.stringContaining('ouro demo') }] } });
  });

  test('ESC stops it in the middle of a word', async () => {
    const controller = new AbortController();
    const { outcome } = await drain(createDemoPort({ project: { projectDir: '/shop', cwd: '/' }, sleep: noWait }), {
      request: { ...REQUEST, tools: TOOLS },
      signal: controller.signal,
      onEvent: (event) => event.type === 'text_delta' && controller.abort(),
    });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'aborted' }, partial: { blocks: [] } });
  });
});
