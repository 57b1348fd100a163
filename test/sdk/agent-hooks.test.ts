import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { HookEvent } from '../../src/contracts/hook.ts';
import type { JsonObject } from '../../src/contracts/json.ts';
import { createAgent } from '../../src/sdk/agent/create-agent.ts';
import type { AgentOptions } from '../../src/sdk/agent/options.ts';
import { createAgentHooks, type HookGroups } from '../../src/sdk/agent-hooks.ts';
import { buildTool } from '../../src/tools/definition/build-tool.ts';
import { calls, type ScriptedReply, says, scripted } from '../support/loop/scripted.ts';
import { createTempProject } from '../support/temp-project.ts';

const ran: unknown[] = [];
const pay = buildTool({
  name: 'Pay',
  prompt: 'Pays.',
  input: z.object({ sum: z.number() }),
  call: async ({ sum }) => {
    ran.push(sum);
    return { content: `paid ${sum} with card 4111` };
  },
});

const paying = (sum: number) => calls({ name: 'Pay', input: { sum } });

/** An agent with hooks, what its hooks were told, and what its model was asked. */
async function talk(replies: readonly ScriptedReply[], groups: HookGroups, options: AgentOptions = {}) {
  ran.length = 0;
  const script = scripted(replies);
  const reported: string[] = [];
  const hooks = createAgentHooks({
    cwd: '/',
    hooks: groups,
    onNotice: (level, text) => reported.push(`${level}: ${text}`),
  });
  const agent = createAgent({ model: script.model, tools: [pay], hooks, ...options });
  const end = await agent.prompt('pay');
  await hooks.close();
  return { end, reported, ran: [...ran], requests: JSON.stringify(script.requests()) };
}

const on = (event: HookEvent, ...hooks: NonNullable<HookGroups[HookEvent]>[number]['hooks']): HookGroups => ({
  [event]: [{ hooks }],
});

test('a function may deny a call, change it, and add to its result', async () => {
  const guard = async ({ tool_input }: JsonObject): Promise<JsonObject> => {
    const { sum } = z.object({ sum: z.number() }).parse(tool_input);
    if (sum > 50) return { decision: 'block', reason: 'Too much.' };
    return { hookSpecificOutput: { updatedInput: { sum: sum + 1 } } };
  };
  const note = async (): Promise<JsonObject> => ({ hookSpecificOutput: { additionalContext: 'Write it down.' } });
  const { ran: paid, requests } = await talk([paying(80), paying(8), says('done')], {
    PreToolUse: [{ matcher: 'Pay', hooks: [guard] }],
    PostToolUse: [{ hooks: [note] }],
  });
  expect(paid).toEqual([9]);
  expect(requests).toContain('Too much.');
  expect(requests).toContain('Write it down.');
});

test('a command from a settings file guards too, and gets its input on stdin', async () => {
  await using project = await createTempProject();
  const command = `cat > '${join(project.dir, 'seen.json')}'; echo 'Not today.' >&2; exit 2`;
  const { ran: paid, requests } = await talk([paying(1), says('done')], on('PreToolUse', { type: 'command', command }));
  expect(paid).toEqual([]);
  expect(requests).toContain('Not today.');
  expect(JSON.parse(await project.read('seen.json'))).toMatchObject({
    hook_event_name: 'PreToolUse',
    tool_name: 'Pay',
    tool_input: { sum: 1 },
  });
});

test('the application sees the input changed by hooks, and hooks see the result of the application', async () => {
  const seen: unknown[] = [];
  const receive = async ({ tool_response }: JsonObject): Promise<JsonObject> => {
    seen.push(tool_response);
    return {};
  };
  const change = async (): Promise<JsonObject> => ({ hookSpecificOutput: { updatedInput: { sum: 7 } } });
  await talk(
    [paying(1), says('done')],
    { ...on('PreToolUse', change), ...on('PostToolUse', receive) },
    {
      beforeToolCall: ({ input }) => {
        seen.push(input.sum);
        return undefined;
      },
      afterToolCall: (_call, outcome) => ({
        outcome: { ...outcome, content: String(outcome.content).replace('4111', '[card]') },
      }),
    },
  );
  expect(seen).toEqual([7, 'paid 7 with card [card]']);
});

test('a prompt can be blocked or extended, an end blocked, and a compaction blocked', async () => {
  const refused = await talk(
    [says('never')],
    on('UserPromptSubmit', async () => ({ decision: 'block', reason: 'No.' })),
  );
  expect([refused.end.reason, refused.requests]).toEqual(['hook_stopped', '[]']);

  let asked = 0;
  const more = await talk([says('one'), says('two')], {
    ...on('UserPromptSubmit', async () => ({ hookSpecificOutput: { additionalContext: 'It is Monday.' } })),
    ...on('Stop', async () => {
      asked += 1;
      return asked === 1 ? { decision: 'block', reason: 'Say more.' } : {};
    }),
  });
  expect(more.requests).toContain('It is Monday.');
  expect(more.requests).toContain('Say more.');

  const hooks = createAgentHooks({
    cwd: '/',
    hooks: on('PreCompact', async () => ({ decision: 'block', reason: 'Keep all.' })),
  });
  const agent = createAgent({ model: scripted([says('yes')]).model, hooks });
  await agent.prompt('hi');
  expect(await agent.compact()).toEqual({ ok: false, why: 'Keep all.' });
});

test('output and errors of hooks are reported', async () => {
  const { reported } = await talk(
    [says('done')],
    on('Stop', async () => ({ systemMessage: 'Bye.' }), { type: 'command', command: 'exit 1' }),
  );
  expect(reported).toEqual(['warn: The Stop hook "exit 1" ended with code 1.', 'info: Bye.']);
  expect(() => createAgentHooks({ cwd: '/', hooks: JSON.parse('{"PreTool":[]}') })).toThrow(
    'Unknown hook event PreTool',
  );
  expect(() => createAgentHooks({ cwd: '/', hooks: on('Stop', { type: 'http' }) })).toThrow('has no command or URL');
});

test.each([
  ['allow', [8]],
  ['deny', []],
])('a PermissionRequest hook may %s a call before anybody is asked', async (behavior, paid) => {
  const decide = async (): Promise<JsonObject> => ({ hookSpecificOutput: { decision: { behavior } } });
  const asked: string[] = [];
  const { ran: sums } = await talk([paying(8), says('done')], on('PermissionRequest', decide), {
    beforeToolCall: async () => ({ ask: 'It costs money.' }),
    async onPermission({ toolName }) {
      asked.push(toolName);
      return { behavior: 'deny' };
    },
  });
  expect({ sums, asked }).toEqual({ sums: paid, asked: [] });
});
