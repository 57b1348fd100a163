import { spawn } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { client, ndJsonStream, type RequestPermissionRequest, type SessionUpdate } from '@agentclientprotocol/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, says, text, toolUse } from '../support/api/reply.ts';
import { type ApiServer, gate, startApiServer } from '../support/api/server.ts';
import { bareEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { startHere } from '../support/run-here.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { storedFiles } from '../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { toWebStream } from '../support/web-stream.ts';

let project: TempProject;
let server: ApiServer;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\nbeta\n' });
});

afterEach(async () => {
  await server.close();
  await project.remove();
});

/** An editor made with the official SDK, and `ouro acp` as its agent, in this process or in its own. */
async function editor(
  choose: (request: RequestPermissionRequest) => string | undefined,
  flags: readonly string[] = [],
  start: (args: readonly string[], options: { cwd: string; env: Record<string, string> }) => AgentProgram = startHere,
) {
  const child = start(['acp', ...flags], { cwd: '/', env: bareEnvironment(project, server.url) });
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const connection = client({ name: 'editor' })
    .onNotification('session/update', ({ params }) => {
      updates.push(params.update);
    })
    .onRequest('session/request_permission', ({ params }) => {
      asked.push(params);
      const optionId = choose(params);
      return optionId === undefined
        ? new Promise<never>(() => undefined)
        : { outcome: { outcome: 'selected', optionId } };
    })
    .connect(ndJsonStream(Writable.toWeb(child.stdin), toWebStream(child.stdout)));
  const { agent } = connection;
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  return {
    agent,
    updates,
    asked,
    prompt: (sessionId: string, words: string) =>
      agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: words }] }),
    /** Closes the pipe as an editor that quits does. */
    async quit() {
      child.stdin.end();
      const [code] = await once(child, 'exit');
      return code;
    },
  };
}

/** A program behind pipes. */
type AgentProgram = EventEmitter & { readonly stdin: Writable; readonly stdout: Readable };

const asProcess = (args: readonly string[], options: { cwd: string; env: Record<string, string> }): AgentProgram =>
  spawn(LAUNCHER, [...args], { ...options, stdio: ['pipe', 'pipe', 'inherit'] });

const saidIn = (updates: readonly SessionUpdate[]) =>
  updates
    .flatMap((update) =>
      update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : [],
    )
    .join('');

test('a whole conversation: a read, an edit that is asked about, its diff, and the text around them', async () => {
  const path = join(project.dir, 'a.txt');
  server = await startApiServer({
    turns: [
      calls(text('I look.'), toolUse('Read', { file_path: path }, 'toolu_1')),
      calls(toolUse('Edit', { file_path: path, old_string: 'beta', new_string: 'gamma' }, 'toolu_2')),
      says('Changed.'),
      says('Bye.'),
    ],
  });
  const allowOnce = ({ options }: RequestPermissionRequest) =>
    options.find(({ kind }) => kind === 'allow_once')?.optionId;
  const zed = await editor(allowOnce, [], asProcess);
  const { sessionId } = await zed.agent.request('session/new', { cwd: project.dir, mcpServers: [] });
  expect(await zed.prompt(sessionId, 'change beta to gamma')).toEqual({ stopReason: 'end_turn' });
  expect(await readFile(path, 'utf8')).toBe('alpha\ngamma\n');
  expect(zed.asked).toMatchObject([
    {
      toolCall: {
        toolCallId: 'toolu_2',
        kind: 'edit',
        content: [{ type: 'diff', path, oldText: 'alpha\nbeta\n', newText: 'alpha\ngamma\n' }],
      },
    },
  ]);
  expect(saidIn(zed.updates)).toBe('I look.Changed.');
  expect(zed.updates).toContainEqual(
    expect.objectContaining({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'toolu_2',
      status: 'completed',
      content: [{ type: 'diff', path, oldText: 'alpha\nbeta\n', newText: 'alpha\ngamma\n' }],
    }),
  );
  expect(await zed.prompt(sessionId, 'thanks')).toEqual({ stopReason: 'end_turn' });
  expect(await zed.quit()).toBe(0);
});

longTest('a session is loaded and replayed by another process', async () => {
  server = await startApiServer({ turns: [says('Hello, Ann.'), says('Ann.')] });
  const first = await editor(() => '', [], asProcess);
  const { sessionId } = await first.agent.request('session/new', { cwd: project.dir, mcpServers: [] });
  await first.prompt(sessionId, 'I am Ann');
  await first.quit();
  const second = await editor(() => '');
  await second.agent.request('session/load', { sessionId, cwd: project.dir, mcpServers: [] });
  expect(saidIn(second.updates)).toBe('Hello, Ann.');
  await second.prompt(sessionId, 'who am I?');
  expect(saidIn(second.updates)).toBe('Hello, Ann.Ann.');
  await second.quit();
});

longTest('a session that another editor has open is refused, and no copy of it is left', async () => {
  server = await startApiServer({ turns: [says('Hello, Ann.')] });
  const first = await editor(() => '');
  const { sessionId } = await first.agent.request('session/new', { cwd: project.dir, mcpServers: [] });
  await first.prompt(sessionId, 'I am Ann');
  const second = await editor(() => '', [], asProcess);
  const request = { sessionId, cwd: project.dir, mcpServers: [] };
  await expect(second.agent.request('session/load', request)).rejects.toThrow(/open in another ouro/);
  const stored = await storedFiles(project);
  expect(stored.map(({ id }) => id)).toEqual([sessionId]);
  const { sessions } = await second.agent.request('session/list', { cwd: project.dir });
  expect(sessions.map((session) => session.sessionId)).toEqual([sessionId]);
  await second.quit();
  await first.quit();
});

longTest('every command offered to an editor works there', async () => {
  server = await startApiServer({ turns: () => says('Done.') });
  const zed = await editor(() => '');
  const { sessionId } = await zed.agent.request('session/new', { cwd: project.dir, mcpServers: [] });
  const offered = () =>
    zed.updates.flatMap((update) =>
      update.sessionUpdate === 'available_commands_update' ? update.availableCommands.map(({ name }) => name) : [],
    );
  await expect.poll(offered).toContain('context');
  // These change or end the session of the test.
  for (const name of offered().filter((command) => !['clear', 'logout', 'trust'].includes(command)))
    await zed.prompt(sessionId, `/${name}`);
  expect(saidIn(zed.updates)).not.toContain('interactive mode only');
  expect(offered()).not.toContain('theme');
  await zed.quit();
});

test('a mode is set, confirmed and kept; a stored session is found again', async () => {
  server = await startApiServer({
    turns: [calls(toolUse('Write', { file_path: join(project.dir, 'b.txt'), content: 'beta\n' })), says('Written.')],
  });
  const zed = await editor(() => '', ['--model=claude-haiku-4-5', '--permission-mode=plan', '--trust']);
  const { sessionId, modes, configOptions } = await zed.agent.request('session/new', {
    cwd: project.dir,
    mcpServers: [],
  });
  expect(modes?.availableModes.map(({ id }) => id)).toContain('acceptEdits');
  expect({ mode: modes?.currentModeId, model: configOptions?.[0] }).toMatchObject({
    mode: 'plan',
    model: { currentValue: 'claude-haiku-4-5' },
  });
  await zed.agent.request('session/set_mode', { sessionId, modeId: 'acceptEdits' });
  await expect(zed.agent.request('session/set_mode', { sessionId, modeId: 'yolo' })).rejects.toThrow(/Unknown mode/);
  await zed.prompt(sessionId, 'write b.txt');
  expect(await readFile(join(project.dir, 'b.txt'), 'utf8')).toBe('beta\n');
  expect(zed.asked).toEqual([]);
  expect(zed.updates).toContainEqual({ sessionUpdate: 'current_mode_update', currentModeId: 'acceptEdits' });
  expect(zed.updates).toContainEqual(
    expect.objectContaining({ sessionUpdate: 'usage_update', size: expect.any(Number) }),
  );
  expect(await zed.agent.request('session/list', { cwd: project.dir })).toMatchObject({
    sessions: [{ sessionId, title: 'write b.txt', cwd: project.dir }],
  });
  await expect(zed.agent.request('session/new', { cwd: '/no/such/folder', mcpServers: [] })).rejects.toThrow(
    /Folder .* not found/,
  );
  expect(await zed.quit()).toBe(0);
});

longTest('cancel withdraws an open permission request, and nothing runs', async () => {
  server = await startApiServer({ turns: [calls(toolUse('Bash', { command: 'touch b.txt' }, 'toolu_1'))] });
  const { closed, open } = gate();
  const zed = await editor(() => {
    open();
    return undefined;
  });
  const { sessionId } = await zed.agent.request('session/new', { cwd: project.dir, mcpServers: [] });
  const prompted = zed.prompt(sessionId, 'go');
  await closed;
  await zed.agent.notify('session/cancel', { sessionId });
  expect(await prompted).toEqual({ stopReason: 'cancelled' });
  expect(await readdir(project.dir)).toEqual(['a.txt']);
  expect(await zed.quit()).toBe(0);
});

longTest('cancel aborts the request, and the prompt ends as cancelled', async () => {
  const { closed, open } = gate();
  server = await startApiServer({
    turns: [says('never', { faults: [{ at: 3, do: 'wait', until: closed, pings: 'pings' }] })],
  });
  const zed = await editor(() => '');
  const { sessionId } = await zed.agent.request('session/new', { cwd: project.dir, mcpServers: [] });
  const prompted = zed.prompt(sessionId, 'wait');
  const request = await server.waitForRequest(1);
  await zed.agent.notify('session/cancel', { sessionId });
  expect(await prompted).toEqual({ stopReason: 'cancelled' });
  await request.closed;
  open();
  await zed.quit();
});

longTest('instructions of an untrusted folder do not reach the model, those of a trusted one do', async () => {
  await project.write('CLAUDE.md', 'Speak of herons.');
  server = await startApiServer({ turns: () => says('Hi.') });
  const zed = await editor(() => '');
  const { sessionId } = await zed.agent.request('session/new', { cwd: project.dir, mcpServers: [] });
  await zed.prompt(sessionId, 'hello');
  await zed.quit();
  expect(server.requests()[0]?.raw).not.toContain('herons');
  const trusting = await editor(() => '', ['--trust']);
  const second = await trusting.agent.request('session/new', { cwd: project.dir, mcpServers: [] });
  await trusting.prompt(second.sessionId, 'hello');
  await trusting.quit();
  expect(server.requests().at(-1)?.raw).toContain('Speak of herons.');
});

longTest('the end of a background command starts its own turn, which a prompt may join', async () => {
  const { closed, open } = gate();
  const inBackground = { command: 'until [ -e go ]; do sleep 0.05; done', run_in_background: true };
  server = await startApiServer({
    turns: [
      calls(toolUse('Bash', inBackground)),
      says('It runs.'),
      says('It is built.', { faults: [{ at: 3, do: 'wait', until: closed, pings: 'pings' }] }),
      says('And pushed.'),
    ],
  });
  const zed = await editor(({ options }) => options.find(({ kind }) => kind === 'allow_once')?.optionId);
  const { sessionId } = await zed.agent.request('session/new', { cwd: project.dir, mcpServers: [] });
  expect(await zed.prompt(sessionId, 'build it')).toEqual({ stopReason: 'end_turn' });
  await project.write('go', '');
  const woken = await server.waitForRequest(3);
  expect(woken.raw).toContain('nobody typed it');
  const joined = zed.prompt(sessionId, 'and push it');
  await expect.poll(() => JSON.stringify(zed.updates)).toContain('ended well');
  open();
  expect(await joined).toEqual({ stopReason: 'end_turn' });
  expect(saidIn(zed.updates)).toBe('It runs.It is built.And pushed.');
  expect(server.requests()[3]?.raw).toContain('and push it');
  expect(await zed.quit()).toBe(0);
});

longTest('an editor is asked before a model that repeats itself is stopped', async () => {
  server = await startApiServer({ turns: () => calls(toolUse('Read', { file_path: 'missing.txt' })) });
  const { agent, asked, prompt, quit } = await editor(() => '0');
  const { sessionId } = await agent.request('session/new', { cwd: project.dir, mcpServers: [] });
  await prompt(sessionId, 'go');
  expect(asked.map(({ toolCall, options }) => [toolCall.title, options.map(({ name }) => name)])).toEqual([
    [expect.stringContaining('The model repeats itself'), ['Stop', 'Go on']],
  ]);
  expect(server.requests()).toHaveLength(8);
  await quit();
});
