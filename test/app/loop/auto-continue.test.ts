import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { reduceAutoContinue } from '../../../src/app/loop/auto-continue.ts';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import type { CliRunOptions } from '../../../src/contracts/frontend/cli-run-options.ts';
import { type ApiTurn, calls, delayed, says, status, toolUse } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { processesMarked } from '../../support/processes.ts';
import { someOf } from '../../support/runs.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

let project: TempProject;
beforeEach(async () => {
  project = await createTempProject();
});
afterEach(() => project.remove());

const inBackground = (command: string, more: object = {}) =>
  calls(toolUse('Bash', { command, run_in_background: true, ...more }));

async function opened(turns: readonly ApiTurn[], options: Partial<CliRunOptions> = {}) {
  const server = await startApiServer({ turns });
  const made = await composed(project, server.url, { allowedTools: ['Bash'], frontend: 'screen', ...options });
  return {
    ...made,
    server,
    notices: () => made.events.flatMap((event) => (event.type === 'notice' ? [event.text] : [])),
    async [Symbol.asyncDispose]() {
      await made.close();
      await server.close();
    },
  };
}

test('the end of a background command starts the next turn with its output', async () => {
  await using at = await opened([inBackground('until [ -e go ]; do sleep 0.05; done; exit 3'), says('It runs.')]);
  expect(await at.conversation.agent.prompt('build it')).toMatchObject({ reason: 'completed' });
  expect(at.server.requests()).toHaveLength(2);
  await project.write('go', '');
  const { raw } = await at.server.waitForRequest(3);
  expect(raw).toContain('nobody typed it');
  expect(raw).toMatch(/Background shell shell_1 \(until .*\) ended with exit code 3\./);
  await at.conversation.waitForAutoContinue?.();
  expect(at.server.requests()).toHaveLength(3);
  expect(at.notices()).toContainEqual(expect.stringMatching(/^Background shell shell_1 .* ended with exit code 3\.$/));
});

test('output that arrives during a turn starts another one afterwards, unless a request included it', async () => {
  const gate = Promise.withResolvers<void>();
  await using at = await opened([inBackground('exit 0'), delayed(gate.promise, says('It runs.'))]);
  const running = at.conversation.agent.prompt('go');
  await vi.waitFor(() => expect(at.notices()).toContainEqual(expect.stringContaining('ended well')));
  const isReported = (await at.server.waitForRequest(2)).raw.includes('ended well');
  gate.resolve();
  await running;
  await at.conversation.waitForAutoContinue?.();
  expect(at.server.requests()).toHaveLength(isReported ? 2 : 3);
});

test.each(someOf(['sleep 300', 'setsid sleep 300 & exit 3']))(
  'a session that ends in the middle of a turn emits the end of its background command %s',
  async (command) => {
    const { promise: never } = Promise.withResolvers<void>();
    await using at = await opened([inBackground(command), delayed(never, says('never'))]);
    const running = at.conversation.agent.prompt('go');
    await at.server.waitForRequest(2);
    const listCommands = async () => (await processesMarked(project.marker)).map((one) => one.command);
    // The shell must have begun before its absence means that it has ended.
    await vi.waitFor(async () => {
      const commands = await listCommands();
      expect(commands).toContainEqual(expect.stringContaining('sleep 300'));
      expect(commands).not.toContainEqual(expect.stringContaining('exit 3'));
    });
    await at.close();
    await running;
    const states = at.events.flatMap((event) => (event.type === 'background' ? [event.state] : []));
    expect(states).toEqual(['started', command.includes('exit 3') ? 'failed' : 'stopped']);
    expect(at.notices().at(-1)).toMatch(/^Background shell shell_1 .* ended /);
  },
);

test('a line that was waited for starts a turn while the command still runs', async () => {
  const serve = 'until [ -e go ]; do sleep 0.05; done; echo listening on 80; echo ready; sleep 300';
  await using at = await opened([inBackground(serve, { wake_on: 'listening|ready' }), says('It starts.')]);
  await at.conversation.agent.prompt('serve it');
  await project.write('go', '');
  expect((await at.server.waitForRequest(3)).raw).toContain('Background shell shell_1 printed: listening on 80');
  expect(at.conversation.background()).toHaveLength(1);
});

test.each<[string, Partial<CliRunOptions>]>(
  someOf([
    ['when the settings say so', { settings: '{"wakeOnBackground": false}' }],
    ['when the budget is used up', { maxBudgetUsd: 0.0000001 }],
    ['while something is printed', { frontend: 'print' }],
  ]),
)('no turn starts automatically %s', async (_, options) => {
  await using at = await opened([inBackground('until [ -e go ]; do sleep 0.05; done'), says('It runs.')], options);
  await at.conversation.agent.prompt('go');
  const asked = at.server.requests().length;
  await project.write('go', '');
  await vi.waitFor(() => expect(at.conversation.background()).toEqual([]));
  await at.conversation.waitForAutoContinue?.();
  expect(at.server.requests()).toHaveLength(asked);
});

test('after a failure the user decides', async () => {
  await using at = await opened([inBackground('until [ -e go ]; do sleep 0.05; done'), status(400, 'no')]);
  expect(await at.conversation.agent.prompt('go')).toMatchObject({ reason: 'api_error' });
  await project.write('go', '');
  await vi.waitFor(() => expect(at.notices()).toContainEqual(expect.stringContaining('ended well')));
  await at.conversation.waitForAutoContinue?.();
  expect(at.server.requests()).toHaveLength(2);
});

describe('reduceWaking', () => {
  const rest = { isDue: false, inARow: 0, isAtRest: true };
  const ended: AgentEvent = { type: 'background', id: 's', callId: 'c', kind: 'shell', title: 't', state: 'completed' };
  const said = (origin: 'prompt' | 'background'): AgentEvent => ({
    type: 'message_end',
    message: { role: 'user', id: 'm', origin, blocks: [] },
  });

  test('a stopped command starts no turn, a finished one does', () => {
    expect(reduceAutoContinue(rest, { ...ended, state: 'stopped' })).toEqual(rest);
    expect(reduceAutoContinue(rest, { ...ended, state: 'started' })).toEqual(rest);
    expect(reduceAutoContinue(rest, { ...ended, state: 'failed' })).toEqual({ ...rest, isDue: true });
  });

  test('automatic turns are counted until the user sends a message', () => {
    const twice = [said('background'), said('background')].reduce(reduceAutoContinue, rest);
    expect(twice.inARow).toBe(2);
    expect(reduceAutoContinue(twice, said('prompt')).inARow).toBe(0);
  });
});
