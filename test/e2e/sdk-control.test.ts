import { access, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type PermissionUpdate, query, type SDKMessage } from '@anthropic-ai/claude-agent-sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, reply, says, text, thinking, toolUse } from '../support/api/reply.ts';
import { gate } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { conversation, createSdkHost, resultsOf, type SdkHost } from '../support/sdk-host.ts';

/** What hosts may do to a conversation while it goes on. */
let host: SdkHost;

beforeEach(async () => {
  host = await createSdkHost();
});

afterEach(() => host.close());

const exists = (name: string) =>
  access(join(host.root, name)).then(
    () => true,
    () => false,
  );

test('a suggestion accepted by the host is a rule from then on', async () => {
  await host.api(
    calls(toolUse('Bash', { command: 'touch one' }, 'toolu_1')),
    calls(toolUse('Bash', { command: 'touch two' }, 'toolu_2')),
    says('done'),
  );
  const suggested: (readonly PermissionUpdate[])[] = [];
  await host.ask('go', {
    canUseTool: async (_name, input, { suggestions = [], toolUseID }) => {
      suggested.push(suggestions);
      return {
        behavior: 'allow',
        updatedInput: input,
        updatedPermissions: [
          {
            type: 'addRules',
            behavior: 'allow',
            destination: 'session',
            rules: [{ toolName: 'Bash', ruleContent: 'touch:*' }],
          },
        ],
        toolUseID,
      };
    },
  });
  expect(suggested).toHaveLength(1);
  expect(suggested[0]).toEqual(
    expect.arrayContaining([expect.objectContaining({ type: 'addRules', behavior: 'allow', destination: 'session' })]),
  );
  expect([await exists('one'), await exists('two')]).toEqual([true, true]);
});

longTest('a suggested mode for an edit applies to the next one', async () => {
  const write = (name: string) => calls(toolUse('Write', { file_path: join(host.root, name), content: 'x\n' }));
  await host.api(write('one.txt'), write('two.txt'), says('done'));
  let asked = 0;
  const received = await host.ask('go', {
    canUseTool: async (_name, input, { suggestions = [] }) => {
      asked += 1;
      return {
        behavior: 'allow',
        updatedInput: input,
        updatedPermissions: suggestions.filter(({ type }) => type === 'setMode'),
      };
    },
  });
  expect(asked).toBe(1);
  expect([await exists('one.txt'), await exists('two.txt')]).toEqual([true, true]);
  expect(received).toContainEqual(
    expect.objectContaining({ type: 'system', subtype: 'status', permissionMode: 'acceptEdits' }),
  );
});

longTest('a denial with interrupt ends the turn', async () => {
  await host.api(calls(toolUse('Bash', { command: 'touch one' }, 'toolu_1')), says('never asked'));
  const running = query({
    prompt: 'go',
    options: host.options({
      canUseTool: async () => ({ behavior: 'deny', message: 'stop it', interrupt: true }),
    }),
  });
  const received: SDKMessage[] = [];
  try {
    for await (const message of running) received.push(message);
  } catch {
    // The SDK throws after an error result.
  }
  expect(resultsOf(received)).toMatchObject([{ subtype: 'error_during_execution', is_error: true }]);
  expect(host.server().requests()).toHaveLength(1);
  expect(await exists('one')).toBe(false);
});

test('questions and plans go to the host like calls', async () => {
  const questions = [
    {
      question: 'Which one?',
      header: 'One',
      multiSelect: false,
      options: [
        { label: 'A', description: 'a' },
        { label: 'B', description: 'b' },
      ],
    },
  ];
  await host.api(
    calls(toolUse('AskUserQuestion', { questions }, 'toolu_1')),
    calls(toolUse('ExitPlanMode', { plan: 'First this.' }, 'toolu_2')),
    says('done'),
  );
  const asked: string[] = [];
  await host.ask('go', {
    permissionMode: 'plan',
    canUseTool: async (name, input) => {
      asked.push(`${name} ${String(input.plan ?? '')}`.trim());
      return { behavior: 'allow', updatedInput: { ...input, answers: { 'Which one?': 'B' } } };
    },
  });
  expect(asked).toEqual(['AskUserQuestion', 'ExitPlanMode First this.']);
  expect(host.sent(1)).toMatch(/Which one\?.*B/);
});

test('hooks of every kind are called with their input', async () => {
  await host.api(
    calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_1')),
    calls(toolUse('Read', { file_path: 'no.txt' }, 'toolu_2')),
    says('one'),
    says('two'),
  );
  const events: string[] = [];
  let objections = 0;
  const recorder = {
    hooks: [
      async (input: { readonly hook_event_name: string }) => {
        const { hook_event_name: name } = input;
        const more =
          'tool_response' in input
            ? ' +response'
            : 'error' in input
              ? ' +error'
              : 'source' in input
                ? ` ${String(input.source)}`
                : '';
        events.push(`${name}${more}`);
        return {};
      },
    ],
  };
  const received = await host.ask('go', {
    includeHookEvents: true,
    hooks: {
      SessionStart: [recorder],
      UserPromptSubmit: [recorder],
      PostToolUse: [recorder],
      PostToolUseFailure: [recorder],
      SessionEnd: [recorder],
      Stop: [
        {
          hooks: [
            async () => {
              objections += 1;
              events.push('Stop');
              return objections === 1 ? { decision: 'block', reason: 'say it again' } : {};
            },
          ],
        },
      ],
    },
  });
  expect(events.slice(0, 6)).toEqual([
    'SessionStart startup',
    'UserPromptSubmit',
    'PostToolUse +response',
    'PostToolUseFailure +error',
    'Stop',
    'Stop',
  ]);
  const reported = received.flatMap((message) =>
    message.type === 'system' && (message.subtype === 'hook_started' || message.subtype === 'hook_response')
      ? [message]
      : [],
  );
  // Every start has its answer, by the same id.
  expect(reported.map(({ hook_id: id }) => reported.filter((one) => one.hook_id === id).length)).toEqual(
    reported.map(() => 2),
  );
  expect(reported.at(-1)).toMatchObject({ subtype: 'hook_response', outcome: 'success', output: '' });
  expect(host.sent(3)).toContain('say it again');
  expect(resultsOf(received)).toMatchObject([{ result: 'two' }]);
  expect(
    received.filter((message) => message.type === 'system' && message.subtype === 'hook_response').length,
  ).toBeGreaterThan(4);
});

longTest('a hook allows a call, changes its input, or makes it ask', async () => {
  await host.api(
    calls(toolUse('Bash', { command: 'touch one' }, 'toolu_1')),
    calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_2')),
    says('done'),
  );
  const asked: string[] = [];
  const decide = (decision: 'allow' | 'ask', more: object = {}) => ({
    hooks: [
      async () => ({
        hookSpecificOutput: { hookEventName: 'PreToolUse' as const, permissionDecision: decision, ...more },
      }),
    ],
  });
  await host.ask('go', {
    canUseTool: async (name, input) => {
      asked.push(name);
      return { behavior: 'allow', updatedInput: input };
    },
    hooks: {
      PreToolUse: [
        { matcher: 'Bash', ...decide('allow', { updatedInput: { command: 'echo changed by a hook' } }) },
        { matcher: 'Read', ...decide('ask', { permissionDecisionReason: 'better ask' }) },
      ],
    },
  });
  expect(host.sent(1)).toContain('changed by a hook');
  expect(asked).toEqual(['Read']);
  expect(host.sent(2)).toContain('alpha');
});

longTest('a failing hook of the host is reported and blocks nothing', async () => {
  await host.api(calls(toolUse('Read', { file_path: 'a.txt' }, 'toolu_1')), says('done'));
  const received = await host.ask('go', {
    hooks: {
      PreToolUse: [
        {
          hooks: [
            async () => {
              throw new Error('out of order');
            },
          ],
        },
      ],
    },
  });
  expect(resultsOf(received)).toMatchObject([{ subtype: 'success', result: 'done' }]);
  expect(JSON.stringify(received)).toContain('out of order');
});

longTest('thinking tokens, model and mode change between turns', async () => {
  await host.api(says('one'), reply([thinking('hm'), text('two')]), says('three'));
  const person = conversation();
  const running = query({ prompt: person.prompts, options: host.options({ model: 'claude-sonnet-4-5' }) });
  person.say('first');
  let results = 0;
  for await (const message of running) {
    if (message.type !== 'result') continue;
    results += 1;
    if (results === 1) await running.setMaxThinkingTokens(4000);
    if (results === 2) await running.setMaxThinkingTokens(null);
    if (results === 3) person.end();
    else person.say('next');
  }
  expect(
    host
      .server()
      .requests()
      .map(({ raw }) => /"thinking":\{"type":"enabled","budget_tokens":4000\}/.test(raw)),
  ).toEqual([false, true, false]);
});

test('files are restored to their state before a message of the host', async () => {
  await host.api(
    calls(toolUse('Read', { file_path: join(host.root, 'a.txt') })),
    calls(toolUse('Edit', { file_path: join(host.root, 'a.txt'), old_string: 'alpha', new_string: 'beta' })),
    says('changed'),
  );
  const person = conversation();
  const uuid = '0b5bb2a5-65c3-4be6-9b8f-3b5c1a39a3f6';
  const running = query({
    prompt: person.prompts,
    options: host.options({
      permissionMode: 'acceptEdits',
      enableFileCheckpointing: true,
      extraArgs: { 'replay-user-messages': null },
    }),
  });
  person.say('change it', { uuid });
  for await (const message of running) {
    if (message.type === 'user' && 'isReplay' in message && message.isReplay) expect(message.uuid).toBe(uuid);
    if (message.type !== 'result') continue;
    expect(await readFile(join(host.root, 'a.txt'), 'utf8')).toBe('beta\n');
    expect(await running.rewindFiles(uuid, { dryRun: true })).toEqual({
      canRewind: true,
      filesChanged: [join(host.root, 'a.txt')],
      insertions: 1,
      deletions: 1,
    });
    expect(await readFile(join(host.root, 'a.txt'), 'utf8')).toBe('beta\n');
    expect(await running.rewindFiles(uuid)).toMatchObject({
      canRewind: true,
      filesChanged: [join(host.root, 'a.txt')],
    });
    expect(await readFile(join(host.root, 'a.txt'), 'utf8')).toBe('alpha\n');
    expect(await running.rewindFiles('no-such-message')).toMatchObject({ canRewind: false });
    person.end();
  }
});

test('requests for context, files, agents and settings are answered; files shown to the host may be edited', async () => {
  const edit = toolUse('Edit', { file_path: 'a.txt', old_string: 'alpha', new_string: 'beta' });
  await host.api(says('one'), calls(edit), says('edited'));
  const file = join(host.root, 'a.txt');
  const person = conversation();
  const running = query({
    prompt: person.prompts,
    options: host.options({
      permissionMode: 'acceptEdits',
      agents: { pirate: { description: 'says arr', prompt: 'arr' } },
    }),
  });
  person.say('first');
  for await (const message of running) {
    if (message.type !== 'result') continue;
    if (message.num_turns === 2) {
      person.end();
      continue;
    }
    expect((await running.supportedAgents()).map(({ name }) => name)).toContain('pirate');
    expect(await running.getContextUsage()).toMatchObject({
      totalTokens: expect.any(Number),
      maxTokens: expect.any(Number),
    });
    expect(await running.readFile('a.txt')).toMatchObject({ contents: 'alpha\n' });
    await expect(running.stopTask('none')).rejects.toThrow(/no background task/);
    expect(await running.backgroundTasks('toolu_none')).toBe(false);
    expect((await running.reloadOutputStyles()).available_output_styles).toContain('default');
    expect((await running.reinitialize()).models.length).toBeGreaterThan(0);
    await expect(running.seedReadState('a.txt', 1)).rejects.toThrow(/has changed since/);
    await running.seedReadState('a.txt', (await stat(file)).mtimeMs);
    person.say('edit what I have shown you');
  }
  expect(await readFile(file, 'utf8')).toBe('beta\n');
});

longTest('an aborted query ends its process and its request', async () => {
  const { closed, open } = gate();
  await host.api(says('never', { faults: [{ at: 4, do: 'wait', until: closed, pings: 'pings' }] }));
  const abortController = new AbortController();
  const running = query({ prompt: 'go', options: host.processOptions({ abortController }) });
  void host
    .server()
    .waitForRequest(1)
    .then(() => abortController.abort());
  await expect(
    (async () => {
      for await (const _ of running);
    })(),
  ).rejects.toThrow();
  await host.server().waitForSocketClosed(1);
  open();
});

longTest('a run without persistence leaves no session, and continue takes the newest', async () => {
  await host.api(says('one'), says('two'), says('three'));
  const [gone] = resultsOf(await host.ask('xyzzy', { persistSession: false }));
  const [kept] = resultsOf(await host.ask('I am Ann', { sessionId: '7f7e2b0a-9a56-4d1b-8d3c-5d8c3c1c9c11' }));
  const [next] = resultsOf(await host.ask('who am I?', { continue: true }));
  expect(kept?.session_id).toBe('7f7e2b0a-9a56-4d1b-8d3c-5d8c3c1c9c11');
  expect(next?.session_id).toBe(kept?.session_id);
  expect(gone?.session_id).not.toBe(kept?.session_id);
  expect(host.sent(2)).toContain('I am Ann');
  expect(host.sent(2)).not.toContain('xyzzy');
});
