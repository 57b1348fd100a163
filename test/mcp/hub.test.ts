import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { MARKER, marked } from '../../src/lib/processes/process-tree.ts';
import { callTool } from '../support/call-tool.ts';
import { expectNoneLeft, processesMarked } from '../support/processes.ts';
import { createTempProject } from '../support/temp-project.ts';
import { configured, EVERYTHING, FILESYSTEM, inTime, STUB, startHub, startRemote, stdio, stub } from './servers.ts';

type Hub = ReturnType<typeof startHub>['hub'];

function tool(hub: Hub, name: string) {
  const found = hub.tools().find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no ${name} among ${hub.tools().map((each) => each.name)}.`);
  return found;
}

test.concurrent('a server on pipes brings tools, prompts, resources and instructions, and leaves no process', async () => {
  const marker = randomUUID();
  {
    await using started = startHub([stdio('every thing', EVERYTHING)], { newMarker: () => marker });
    const { hub } = started;
    await hub.settled();
    expect(hub.states()).toMatchObject([{ name: 'every thing', status: 'connected', scope: 'user' }]);
    const echo = await callTool(tool(hub, 'mcp__every_thing__echo'), { message: 'hello' });
    expect(echo.content).toBe('Echo: hello');
    const sum = await callTool(tool(hub, 'mcp__every_thing__get-sum'), { a: 2, b: 3 });
    expect(sum.content).toContain('5');
    const image = await callTool(tool(hub, 'mcp__every_thing__get-tiny-image'), {});
    expect(image.content).toContainEqual(expect.objectContaining({ type: 'image' }));
    expect(hub.instructions()).toHaveLength(1);
    const resources = await hub.resources('every thing', inTime());
    expect(resources.length).toBeGreaterThan(3);
    const template = resources.find(({ uri }) => uri.includes('{'));
    expect(template?.name).toMatch(/fill in what stands in braces/);
    const filled = template?.uri.replace(/\{[^}]*\}/, '1') ?? '';
    expect(await hub.read('every thing', filled, inTime())).not.toEqual([]);
    expect(await hub.read('every thing', resources[0]?.uri ?? '', inTime())).not.toEqual([]);
    expect(await hub.prompt('mcp__every_thing__args-prompt', 'Paris', inTime())).toMatchObject({ ok: true });
    expect(await hub.prompt('mcp__every_thing__args-prompt', '', inTime())).toEqual({
      ok: false,
      why: 'Give it <city>.',
    });
    expect(await processesMarked(`${MARKER}=${marker}`)).not.toEqual([]);
  }
  await expectNoneLeft(`${MARKER}=${marker}`);
});

test.concurrent('a long call tells its progress, and an aborted one ends at once', async () => {
  await using started = startHub([stub('slow')]);
  const { hub } = started;
  await hub.settled();
  const work = tool(hub, 'mcp__slow__count');
  const done = await callTool(work, { steps: 2 });
  expect(done.isError ?? false).toBe(false);
  const notes: string[] = [];
  const controller = new AbortController();
  const call = callTool(
    work,
    { steps: 300 },
    {
      signal: controller.signal,
      report: (progress) => {
        notes.push(progress.kind === 'note' ? progress.text : '');
        controller.abort();
      },
    },
  );
  await expect(call).rejects.toThrow('stopped');
  expect(notes[0]).toContain('of 300');
});

test.concurrent('a question of a server is asked in the name of the call that runs', async () => {
  await using started = startHub([stdio('asks', EVERYTHING)]);
  const { hub } = started;
  await hub.settled();
  const asked: string[] = [];
  const outcome = await callTool(
    tool(hub, 'mcp__asks__trigger-elicitation-request'),
    {},
    {
      ask: async (question) => {
        asked.push(JSON.stringify(question));
        return undefined;
      },
    },
  );
  expect(asked.join()).toContain('asks');
  expect(JSON.stringify(outcome.content)).toMatch(/cancel|decline/i);
});

test.concurrent.each([
  ['streamableHttp', 'http'],
  ['sse', 'sse'],
] as const)('a server over %s answers, and its end is told', async (transport, kind) => {
  const remote = await startRemote(transport);
  await using started = startHub([configured('far', { kind, url: remote.url, headers: {} })], { backoffMs: 5 });
  const { hub } = started;
  await hub.settled();
  const echo = tool(hub, 'mcp__far__echo');
  expect((await callTool(echo, { message: 'hi' })).content).toBe('Echo: hi');
  await remote[Symbol.asyncDispose]();
  await expect(callTool(echo, { message: 'hi' })).rejects.toThrow(/far/);
});

test.concurrent('a server of files serves its folder', async () => {
  await using project = await createTempProject({ 'notes.txt': 'remember' });
  await using started = startHub([stdio('files', FILESYSTEM, project.dir)], { roots: () => [project.dir] });
  const { hub } = started;
  await hub.settled();
  const read = tool(hub, 'mcp__files__read_text_file');
  expect((await callTool(read, { path: `${project.dir}/notes.txt` })).content).toContain('remember');
});

test.concurrent('servers that do not start are told with their reason, and hold up nobody', async () => {
  await using started = startHub(
    [
      configured('missing', { kind: 'stdio', command: 'no-such-program-at-all', args: [], env: {} }),
      configured('dies', {
        kind: 'stdio',
        command: 'node',
        args: ['-e', 'console.error("no licence"); process.exit(3)'],
        env: {},
      }),
      configured('silent', { kind: 'stdio', command: 'sleep', args: ['600'], env: {} }),
      configured('deaf', { kind: 'http', url: 'http://127.0.0.1:9/mcp', headers: {} }),
    ],
    { limits: () => ({ startMs: 700 }) },
  );
  const { hub, changes } = started;
  expect(hub.states().map(({ status }) => status)).toEqual(['pending', 'pending', 'pending', 'pending']);
  await hub.settled();
  const errors = Object.fromEntries(hub.states().map(({ name, status, error }) => [name, `${status}: ${error}`]));
  expect(errors).toMatchObject({
    missing: expect.stringContaining('no-such-program-at-all'),
    dies: expect.stringContaining('no licence'),
    silent: expect.stringContaining('did not answer within 0.7 s'),
    deaf: expect.stringContaining('failed'),
  });
  expect(changes.filter(({ kind }) => kind === 'state')).toHaveLength(4);
});

test.concurrent('a server that dies is started again, and its tools work as before', async () => {
  const marker = randomUUID();
  await using started = startHub([stub('mortal')], { newMarker: () => marker, backoffMs: 5 });
  const { hub, changes } = started;
  await hub.settled();
  for (const { pid } of await processesMarked(`${MARKER}=${marker}`)) process.kill(pid, 'SIGKILL');
  while (!changes.some((change) => change.kind === 'state' && change.words.includes('started again'))) {
    await new Promise(setImmediate);
  }
  await hub.settled();
  expect((await callTool(tool(hub, 'mcp__mortal__echo'), { message: 'again' })).content).toBe('Echo: again');
});

test.concurrent('switched off it offers nothing; switched on it is back; removed it is gone', async () => {
  await using started = startHub([stub('one')]);
  const { hub } = started;
  await hub.settled();
  await hub.toggle('one', 'off');
  expect([hub.states()[0]?.status, hub.tools().length]).toEqual(['disabled', 0]);
  expect(await hub.toggle('one', 'on')).toEqual({ ok: true });
  expect(hub.tools().map(({ name }) => name)).toEqual(['mcp__one__echo', 'mcp__one__count']);
  await hub.remove('one');
  expect([hub.states(), hub.tools()]).toEqual([[], []]);
  expect(await hub.reconnect('one')).toEqual({ ok: false, why: 'There is no MCP server one.' });
});

test.concurrent('a server leaves nothing, whatever it put out of sight', async () => {
  const marker = randomUUID();
  const line = `env -i setsid -f sleep 300 >/dev/null 2>&1; exec "$0" "$@"`;
  const launch = { kind: 'stdio', command: 'bash', args: ['-c', line, STUB.command, ...STUB.args], env: {} } as const;
  {
    await using hidden = startHub([configured('hidden', launch)], { newMarker: () => marker });
    await hidden.hub.settled();
    expect(hidden.hub.states()).toMatchObject([{ status: 'connected' }]);
    expect((await marked(marker)).length).toBeGreaterThan(1);
  }
  expect(await marked(marker)).toEqual([]);
});
