import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createSdkMcpServer,
  type Options,
  type Query,
  query,
  type SDKMessage,
  tool,
} from '@anthropic-ai/claude-agent-sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { getErrorMessage } from '../../src/lib/errors.ts';
import { STUB } from '../mcp/servers.ts';
import { calls, hang, says, status, text, toolUse } from '../support/api/reply.ts';
import { longTest } from '../support/long-test.ts';
import { someOf } from '../support/runs.ts';
import { membersOfSdkType } from '../support/sdk-declarations.ts';
import { conversation, createSdkHost, resultsOf, type SdkHost } from '../support/sdk-host.ts';

/** Options of the SDK that narrow a run, or bring something to it on another way than the command line. */
let host: SdkHost;

beforeEach(async () => {
  host = await createSdkHost();
});

afterEach(() => host.close());

const PRESET: Options = { systemPrompt: { type: 'preset', preset: 'claude_code' }, extraArgs: { trust: null } };

async function skill(folder: string, name: string): Promise<void> {
  await mkdir(join(host.root, folder, name), { recursive: true });
  const text = `---\nname: ${name}\ndescription: Knows ${name} by heart.\n---\nThe words of ${name}.\n`;
  await writeFile(join(host.root, folder, name, 'SKILL.md'), text);
}

/** What was thrown beside what was heard. */
async function askToEnd(prompt: string, more: Options) {
  const received: SDKMessage[] = [];
  try {
    for await (const message of query({ prompt, options: host.options(more) })) received.push(message);
    return { received, thrown: '' };
  } catch (thrown) {
    return { received, thrown: String(thrown) };
  }
}

longTest('a call of an aliased tool runs the tool behind the alias', async () => {
  await host.api(calls(toolUse('Bash', { command: 'ls' }, 'toolu_1')), says('done'));
  const commands: string[] = [];
  const bash = tool('bash', 'runs elsewhere', { command: z.string() }, async ({ command }) => {
    commands.push(command);
    return { content: [{ type: 'text', text: 'ran elsewhere' }] };
  });
  await host.ask('go', {
    toolAliases: { Bash: 'mcp__workspace__bash' },
    allowedTools: ['mcp__workspace__bash'],
    mcpServers: { workspace: createSdkMcpServer({ name: 'workspace', tools: [bash] }) },
  });
  expect(commands).toEqual(['ls']);
  expect(host.sent(1)).toContain('ran elsewhere');
});

longTest('with prompts disabled, canUseTool is never called', async () => {
  await host.api(calls(toolUse('Bash', { command: 'touch one' }, 'toolu_1')), says('done'));
  let asked = 0;
  const received = await host.ask('go', {
    permissionPrompts: 'none',
    canUseTool: async (_name, input) => {
      asked += 1;
      return { behavior: 'allow', updatedInput: input };
    },
  });
  expect(asked).toBe(0);
  expect(resultsOf(received)).toMatchObject([{ permission_denials: [{ tool_name: 'Bash' }] }]);
  expect(host.sent(1)).toContain('This run cannot ask for approval');
});

test('an empty list of setting sources excludes everything from files', async () => {
  await host.api(says('with'), says('without'));
  await mkdir(join(host.root, '.ouro'), { recursive: true });
  await writeFile(join(host.root, '.ouro', 'CLAUDE.md'), 'OWN-INSTRUCTIONS');
  await writeFile(join(host.root, 'CLAUDE.md'), 'PROJECT-INSTRUCTIONS');
  await skill('.claude/skills', 'of-the-project');
  await skill('.ouro/skills', 'of-the-person');
  await writeFile(join(host.root, '.mcp.json'), JSON.stringify({ mcpServers: { notes: STUB } }));
  const known = ['OWN-INSTRUCTIONS', 'PROJECT-INSTRUCTIONS', 'of-the-project', 'of-the-person'];
  await host.ask('go', PRESET);
  const received = await host.ask('go', { ...PRESET, settingSources: [] });
  expect(known.map((word) => host.sent(0).includes(word))).toEqual([true, true, true, true]);
  expect(known.map((word) => host.sent(1).includes(word))).toEqual([false, false, false, false]);
  expect(received.find(({ type }) => type === 'system')).toMatchObject({ mcp_servers: [] });
});

longTest('only listed skills are available, and none with an empty list', async () => {
  await host.api(says('all'), says('one'), says('none'));
  await skill('.ouro/skills', 'pdf');
  await skill('.ouro/skills', 'docx');
  const seen = async (more: Options) => {
    await host.ask('go', { ...PRESET, ...more });
    const sent = JSON.stringify(host.server().requests().at(-1)?.body);
    return ['Knows pdf', 'Knows docx'].map((word) => sent.includes(word));
  };
  expect(await seen({})).toEqual([true, true]);
  expect(await seen({ skills: ['pdf'] })).toEqual([true, false]);
  expect(await seen({ skills: [] })).toEqual([false, false]);
});

test('servers of the first request are available in the first turn', async () => {
  await host.api(says('done'));
  const running = query({
    prompt: 'go',
    options: host.options({ mcpServers: { notes: STUB }, mcpServersDelivery: 'initialize' }),
  });
  const started = await running.initializationResult();
  const received: SDKMessage[] = [];
  for await (const message of running) received.push(message);
  expect(started.mcp_servers_applied).toBe(true);
  expect(received.find(({ type }) => type === 'system')).toMatchObject({
    mcp_servers: [{ name: 'notes', status: 'connected' }],
  });
});

longTest('plan mode uses the instructions of the host', async () => {
  await host.api(says('done'));
  await host.ask('go', { permissionMode: 'plan', planModeInstructions: 'Interview the person first.' });
  expect(host.sent(0)).toContain('Plan mode is on');
  expect(host.sent(0)).toContain('Interview the person first.');
});

longTest('a host can use the mode auto', async () => {
  await host.api(says('done'));
  const received = await host.ask('go', { permissionMode: 'auto' });
  expect(received.find(({ type }) => type === 'system')).toMatchObject({ permissionMode: 'auto' });
});

longTest('a run with an unsupported option is refused with a reason', async () => {
  await host.api();
  const refused: readonly [Options, string][] = [
    [{ projectConfigRoot: '/elsewhere' }, 'projectConfigRoot'],
    [{ sessionStore: { append: async () => undefined, load: async () => null } }, 'sessionStore'],
    [{ resume: crypto.randomUUID(), resumeSessionAt: 'a', resumeDropsTurn: 'b' }, '--resume-drops-turn'],
  ];
  for (const [more, word] of refused) {
    const said: string[] = [];
    const options = host.processOptions({ ...more, stderr: (text) => void said.push(text) });
    const run = async () => {
      for await (const _ of query({ prompt: 'go', options }));
    };
    await expect(run()).rejects.toThrow(/exited with code 2/);
    expect(said.join('')).toContain(word);
  }
});

longTest('the first listed model is "default", the one a run starts with', async () => {
  await host.api();
  const { prompts, end } = conversation();
  const running = query({ prompt: prompts, options: host.options({ model: 'opus' }) });
  const [first, ...others] = await running.supportedModels();
  expect(first).toMatchObject({ value: 'default', displayName: 'Default' });
  expect(others.map(({ value }) => value)).toContain(first?.resolvedModel);
  end();
  running.close();
});

longTest('a failed run throws its message after its result', async () => {
  await host.apiWith({ turns: () => status(400, 'No such thing.') });
  const { received, thrown } = await askToEnd('go', {});
  expect(resultsOf(received)).toMatchObject([{ is_error: true }]);
  expect(thrown).toContain('No such thing.');
});

longTest('a server set to ask for each call asks in every mode', async () => {
  await host.api(
    calls(toolUse('mcp__notes__add', {}, 'toolu_1')),
    says('one'),
    calls(toolUse('mcp__notes__add', {}, 'toolu_2')),
    says('two'),
  );
  const add = tool('add', 'adds', {}, async () => ({ content: [{ type: 'text', text: 'added' }] }));
  const asked: string[] = [];
  const { prompts, say, end } = conversation();
  const running = query({
    prompt: prompts,
    options: host.options({
      allowedTools: ['mcp__notes__add'],
      mcpServers: { notes: createSdkMcpServer({ name: 'notes', tools: [add] }) },
      canUseTool: async (name, input) => {
        asked.push(name);
        return { behavior: 'allow', updatedInput: input };
      },
    }),
  });
  await running.initializationResult();
  expect(await running.setMcpPermissionModeOverride('notes', 'default')).toEqual({});
  expect(await running.setMcpPermissionModeOverride('nots', 'default')).toMatchObject({ warning: expect.any(String) });
  say('one');
  let results = 0;
  for await (const message of running) {
    if (message.type !== 'result') continue;
    results += 1;
    if (results === 2) break;
    await running.setMcpPermissionModeOverride('notes', null);
    say('two');
  }
  end();
  expect(asked).toEqual(['mcp__notes__add']);
});

/** Every method of a query, as a host may call it before anything was said. A new one has to be decided about here. */
const METHODS: Readonly<
  Record<string, { readonly call: (running: Query) => Promise<unknown>; readonly refuses?: RegExp }>
> = {
  accountInfo: { call: (running) => running.accountInfo() },
  applyFlagSettings: { call: (running) => running.applyFlagSettings({ model: 'opus' }) },
  backgroundTasks: { call: (running) => running.backgroundTasks() },
  close: { call: async (running) => running.close() },
  getContextUsage: { call: (running) => running.getContextUsage({ detail: 'summary' }) },
  initializationResult: { call: (running) => running.initializationResult() },
  interrupt: { call: (running) => running.interrupt() },
  mcpServerStatus: { call: (running) => running.mcpServerStatus() },
  readFile: { call: (running) => running.readFile('a.txt') },
  readMcpResource: { call: (running) => running.readMcpResource('none', 'ui://x'), refuses: /no MCP server none/ },
  reconnectMcpServer: { call: (running) => running.reconnectMcpServer('none'), refuses: /no MCP server none/ },
  reinitialize: { call: (running) => running.reinitialize() },
  reloadOutputStyles: { call: (running) => running.reloadOutputStyles() },
  reloadPlugins: { call: (running) => running.reloadPlugins() },
  reloadSkills: { call: (running) => running.reloadSkills() },
  rewindFiles: { call: (running) => running.rewindFiles('none') },
  seedReadState: { call: (running) => running.seedReadState('a.txt', 1), refuses: /has changed since/ },
  setMaxThinkingTokens: { call: (running) => running.setMaxThinkingTokens(2000) },
  setMcpPermissionModeOverride: { call: (running) => running.setMcpPermissionModeOverride('notes', 'default') },
  setMcpServers: { call: (running) => running.setMcpServers({}) },
  setModel: { call: (running) => running.setModel('opus') },
  setPermissionMode: { call: (running) => running.setPermissionMode('plan') },
  stopTask: { call: (running) => running.stopTask('none'), refuses: /no background task none/ },
  streamInput: { call: (running) => running.streamInput((async function* () {})()) },
  supportedAgents: { call: (running) => running.supportedAgents() },
  supportedCommands: { call: (running) => running.supportedCommands() },
  supportedModels: { call: (running) => running.supportedModels() },
  toggleMcpServer: { call: (running) => running.toggleMcpServer('none', false), refuses: /no MCP server none/ },
  updateSettings: { call: (running) => running.updateSettings('userSettings', { effortLevel: 'high' }) },
  usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET: {
    call: (running) => running.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET({ skipBehaviors: true }),
  },
};

test('every method of a query is covered by a decision', () => {
  expect(Object.keys(METHODS).toSorted()).toEqual(membersOfSdkType('Query'));
});

test('every method of a query is answered, or refused with a sentence', async () => {
  await host.api();
  const { prompts } = conversation();
  const running = query({ prompt: prompts, options: host.options() });
  const { close, streamInput, ...asked } = METHODS;
  for (const [name, { call, refuses }] of Object.entries(asked)) {
    const answer = await call(running).then(
      () => 'answered',
      (thrown) => getErrorMessage(thrown),
    );
    expect([name, answer]).toEqual([name, refuses === undefined ? 'answered' : expect.stringMatching(refuses)]);
  }
  await streamInput?.call(running);
  await close?.call(running);
});

/** A server of the host whose only tool asks the person something. */
function asking(params: Parameters<ReturnType<typeof createSdkMcpServer>['instance']['server']['elicitInput']>[0]) {
  const server = createSdkMcpServer({ name: 'desk', tools: [] });
  server.instance.registerTool('ask', {}, async () => {
    const answer = await server.instance.server.elicitInput(params);
    return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
  });
  return server;
}

const NAME_FORM = {
  message: 'Who are you?',
  requestedSchema: {
    type: 'object' as const,
    properties: {
      name: { type: 'string' as const, title: 'Name', minLength: 2 },
      age: { type: 'integer' as const, default: 30 },
    },
    required: ['name'],
  },
};

longTest(
  'an elicitation goes to the host, also without canUseTool; an answer that does not match the schema is refused',
  async () => {
    const seen: object[] = [];
    const answered = async (content: { readonly name: string }) => {
      const before = seen.length;
      await host.ask('go', {
        allowedTools: ['mcp__desk__ask'],
        mcpServers: { desk: asking(NAME_FORM) },
        onElicitation: async (request) => {
          seen.push(request);
          return { action: 'accept', content };
        },
      });
      expect(seen.slice(before)).toMatchObject([
        { serverName: 'desk', message: 'Who are you?', mode: 'form', requestedSchema: NAME_FORM.requestedSchema },
      ]);
      return JSON.stringify(host.server().requests().at(-1)?.body);
    };
    await host.apiWith({
      turns: (_, at) => (at % 2 === 0 ? calls(toolUse('mcp__desk__ask', {}, `toolu_${at}`)) : says('done')),
    });
    expect(await answered({ name: 'Ada' })).toContain(JSON.stringify('"content":{"age":30,"name":"Ada"}').slice(1, -1));
    expect(await answered({ name: 'A' })).toContain('Name must be at least 2 characters');
  },
);

longTest('a URL elicitation goes to the host, and without a handler the server gets a decline', async () => {
  await host.apiWith({
    turns: (_, at) => (at % 2 === 0 ? calls(toolUse('mcp__desk__ask', {}, `toolu_${at}`)) : says('done')),
  });
  const visit = { mode: 'url' as const, url: 'https://example.com/connect', elicitationId: 'e1', message: 'Connect' };
  const seen: object[] = [];
  const options = { allowedTools: ['mcp__desk__ask'] };
  await host.ask('go', {
    ...options,
    mcpServers: { desk: asking(visit) },
    onElicitation: async (request) => {
      seen.push(request);
      return { action: 'accept' };
    },
  });
  expect(seen).toMatchObject([{ mode: 'url', url: 'https://example.com/connect', elicitationId: 'e1' }]);
  expect(host.sent(1)).toContain('accept');
  await host.ask('go', { ...options, mcpServers: { desk: asking(NAME_FORM) } });
  expect(host.sent(3)).toContain('decline');
});

test.each(
  someOf([
    { perTaskStopAffordance: false, ended: true },
    { perTaskStopAffordance: true, ended: false },
  ]),
)(
  'an interrupt ends background work unless the host can stop single tasks: $perTaskStopAffordance',
  async ({ perTaskStopAffordance, ended }) => {
    await host.api(calls(toolUse('Bash', { command: 'sleep 60', run_in_background: true }, 'toolu_1')), hang());
    const { prompts, say, end } = conversation();
    const options = host.options({ allowedTools: ['Bash'], perTaskStopAffordance });
    const running = query({ prompt: prompts, options });
    say('go');
    let task = '';
    let isEnded = false;
    for await (const message of running) {
      if (message.type === 'system' && message.subtype === 'task_started') task = message.task_id;
      // The call has its result, so the next request is on its way.
      if (message.type === 'user' && task !== '') void running.interrupt();
      if (message.type === 'system' && message.subtype === 'task_notification') isEnded = true;
      if (ended ? isEnded : message.type === 'result') break;
    }
    expect(isEnded).toBe(ended);
    end();
    running.close();
  },
);

longTest('prompt suggestions follow the result, from the second turn on', async () => {
  await host.apiWith({
    turns: [says('one'), says('two')],
    side: ({ body }) => (body.tools === undefined ? says('run the tests') : undefined),
  });
  const { prompts, say, end } = conversation();
  const running = query({ prompt: prompts, options: host.options({ ...PRESET, promptSuggestions: true }) });
  say('first');
  const kinds: string[] = [];
  for await (const message of running) {
    if (message.type !== 'result' && message.type !== 'prompt_suggestion') continue;
    kinds.push(message.type);
    if (kinds.length === 1) say('second');
    if (message.type === 'prompt_suggestion') expect(message.suggestion).toBe('run the tests');
    if (kinds.length === 3) end();
  }
  expect(kinds).toEqual(['result', 'result', 'prompt_suggestion']);
});

test.each(someOf([{ forwardSubagentText: true }, {}]))(
  'text of a sub-agent goes to hosts that ask for it; its calls go to all: %o',
  async (option) => {
    const look = { subagent_type: 'general-purpose', description: 'look', prompt: 'INNER' };
    await host.apiWith({
      turns: ({ raw }) => {
        const isInner = raw.includes('INNER') && !raw.includes('OUTER');
        if (raw.includes('"type":"tool_result"')) return says(isInner ? 'INNER-REPORT' : 'Done.');
        return isInner
          ? calls(text('INNER-WORDS'), toolUse('Read', { file_path: join(host.root, 'a.txt') }))
          : calls(toolUse('Task', look));
      },
    });
    const received = await host.ask('OUTER', { ...option, allowedTools: ['Task', 'Read'] });
    const inner = received.flatMap((message) =>
      message.type === 'assistant' && message.parent_tool_use_id !== null ? message.message.content : [],
    );
    const isAsked = option.forwardSubagentText === true;
    expect(inner.map(({ type }) => type)).toEqual(isAsked ? ['text', 'tool_use', 'text'] : ['tool_use']);
  },
);
