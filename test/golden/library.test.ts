import { expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentEvent } from '../../src/contracts/event.ts';
import { createAgent } from '../../src/sdk/agent/create-agent.ts';
import type { AgentOptions } from '../../src/sdk/agent/options.ts';
import { createAgentHooks, type HookGroups } from '../../src/sdk/agent-hooks.ts';
import { rulesGate, writeTool } from '../../src/sdk/tools.ts';
import { buildApplicationTool } from '../../src/tools/definition/application-tool.ts';
import { type ApiTurn, calls, promptTooLong, says, status, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { createRecord } from '../support/golden.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

type LibraryScenario = {
  readonly turns: readonly ApiTurn[];
  readonly options?: (project: TempProject) => AgentOptions;
};

const lookUp = buildApplicationTool({
  name: 'LookUp',
  prompt: 'Looks a customer up.',
  input: z.object({ id: z.string() }),
  isReadOnly: true,
  call: async ({ id }) => ({ content: `Customer ${id} is Ada.` }),
});

const LOOK_UP = calls(toolUse('LookUp', { id: '7' }, 'toolu_1'));

/** Each event adds a context; the first stop is objected to. */
const CONTEXT_HOOKS: HookGroups = {
  UserPromptSubmit: [{ hooks: [async () => ({ hookSpecificOutput: { additionalContext: 'of the prompt' } })] }],
  PreToolUse: [{ hooks: [async () => ({ hookSpecificOutput: { additionalContext: 'before the call' } })] }],
  PostToolUse: [{ hooks: [async () => ({ hookSpecificOutput: { additionalContext: 'after the call' } })] }],
  Stop: [
    {
      hooks: [
        async ({ stop_hook_active }) => (stop_hook_active === true ? {} : { decision: 'block', reason: 'Not yet.' }),
      ],
    },
  ],
};

const SCENARIOS: Readonly<Record<string, LibraryScenario>> = {
  'an agent without options answers': { turns: [says('Hello.')] },
  'a tool of the application is called': {
    turns: [LOOK_UP, says('She is Ada.')],
    options: () => ({ tools: [lookUp], systemPrompt: 'You are kind.' }),
  },
  'callbacks see and change each call': {
    turns: [LOOK_UP, calls(toolUse('LookUp', { id: '8' }, 'toolu_2')), says('Done.')],
    options: () => ({
      tools: [lookUp],
      beforeToolCall: ({ callId }) => (callId === 'toolu_2' ? { block: 'Not this one.' } : { input: { id: '70' } }),
      afterToolCall: () => ({ add: 'Seen.' }),
    }),
  },
  'hooks of the application run': {
    turns: [LOOK_UP, says('Done.'), says('Really done.')],
    options: ({ dir }) => ({ tools: [lookUp], hooks: createAgentHooks({ cwd: dir, hooks: CONTEXT_HOOKS }) }),
  },
  'a permission is asked and refused': {
    turns: [calls(toolUse('Write', { file_path: 'a.txt', content: 'alpha\n' }, 'toolu_1')), says('Refused.')],
    options: ({ dir }) => ({
      cwd: dir,
      tools: [writeTool({ cwd: dir, gate: rulesGate({ cwd: dir }) })],
      onPermission: async () => ({ behavior: 'deny', message: 'No.' }),
    }),
  },
  'a chain of models falls back': {
    turns: [status(529), says('I am the fallback.')],
    options: () => ({ model: [{ model: 'sonnet', maxRetries: 0 }, 'haiku'] }),
  },
  'turns, thinking and messages come from the options': {
    turns: [LOOK_UP, says('Never sent.')],
    options: () => ({
      tools: [lookUp],
      maxTurns: 1,
      thinking: 'high',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
      ],
    }),
  },
  'a conversation that is too long is summarized': {
    turns: [promptTooLong(), says('They said hello.'), says('Shorter.')],
    options: () => ({
      messages: [
        { role: 'user', content: 'Tell me a story. '.repeat(2_000) },
        { role: 'assistant', content: 'Once upon a time. '.repeat(2_000) },
      ],
    }),
  },
  'a turn is the last when the application says so': {
    turns: [LOOK_UP, says('Never sent.')],
    options: () => ({ tools: [lookUp], shouldStopAfterTurn: () => true, transformContext: (messages) => messages }),
  },
};

test.each(Object.entries(SCENARIOS))('%s', async (name, { turns, options }) => {
  await using project = await createTempProject();
  await using server = await startApiServer({ turns });
  const agent = createAgent({ apiKey: 'key', baseUrl: server.url, ...options?.(project) });
  const events: AgentEvent[] = [];
  agent.subscribe((event) => void events.push(event));
  await agent.prompt('go');
  const record = createRecord(project, server.url, { requests: server.all(), events, records: [] });
  await expect(record).toMatchFileSnapshot(`records/library-${name.replaceAll(/[^a-z]+/gi, '-')}.txt`);
});
