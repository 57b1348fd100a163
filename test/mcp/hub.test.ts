import { randomUUID } from 'node:crypto';
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  ListToolsRequestSchema,
  RootsListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import type { CallContext } from '../../src/contracts/tool.ts';
import { CALL_MARKER, listMarkedProcesses } from '../../src/lib/processes/process-tree.ts';
import { callTool } from '../support/call-tool.ts';
import { processesMarked } from '../support/processes.ts';
import { someOf } from '../support/runs.ts';
import { hubInside } from './in-process.ts';
import { startOld, startPresent } from './remote-servers.ts';
import { configured, inTime, STUB, startHub, stub } from './servers.ts';

type Hub = ReturnType<typeof startHub>['hub'];

function tool(hub: Hub, name: string) {
  const found = hub.listTools().find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no ${name} among ${hub.listTools().map((each) => each.name)}.`);
  return found;
}

test.concurrent('a long call reports progress, and an aborted one ends at once', async () => {
  await using started = await hubInside({ capabilities: { tools: {} } }, (server) => {
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'count', inputSchema: { type: 'object' } }],
    }));
    server.setRequestHandler(
      CallToolRequestSchema,
      async ({ params: { _meta: meta } }, { sendNotification, signal }) => {
        const params = { progressToken: meta?.progressToken ?? '', progress: 1, total: 300, message: 'one' };
        await sendNotification({ method: 'notifications/progress', params });
        // It never ends by itself.
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
      },
    );
  });
  const notes: string[] = [];
  const controller = new AbortController();
  const report: CallContext['report'] = (progress) => {
    notes.push(progress.kind === 'note' ? progress.text : '');
    controller.abort();
  };
  const call = callTool(tool(started.hub, 'mcp__inside__count'), {}, { signal: controller.signal, report });
  await expect(call).rejects.toThrow('stopped');
  expect(notes).toEqual(['one (1 of 300)']);
});

test.concurrent('an elicitation of a server is shown in the name of the running call', async () => {
  await using started = await hubInside({ capabilities: { tools: {} } }, (server) => {
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'ask', inputSchema: { type: 'object' } }],
    }));
    server.setRequestHandler(CallToolRequestSchema, async (_, { sendRequest }) => {
      const params = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } };
      const { action } = await sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema);
      return { content: [{ type: 'text', text: action }] };
    });
  });
  const asked: string[] = [];
  const ask: CallContext['ask'] = async (question) => {
    asked.push(question.kind === 'elicitation' ? `${question.server}: ${question.message}` : question.kind);
    return undefined;
  };
  const outcome = await callTool(tool(started.hub, 'mcp__inside__ask'), {}, { ask });
  expect([asked, outcome.content]).toEqual([['inside: Which?'], 'cancel']);
});

test.concurrent.each(
  someOf([
    ['sse', startOld],
    ['http', startPresent],
  ] as const),
)('a server over %s answers, and its end is told', async (kind, start) => {
  const remote = await start();
  await using started = startHub([configured('far', { kind, url: remote.url, headers: {} })], { backoffMs: 5 });
  const { hub } = started;
  await hub.whenSettled();
  const simple = tool(hub, 'mcp__far__test_simple_text');
  expect((await callTool(simple, {})).content).toContain('simple text response');
  await remote.close();
  await expect(callTool(simple, {})).rejects.toThrow(/far/);
});

test.concurrent('argument completion is requested from the server of the prompt', async () => {
  const remote = await startPresent();
  const launch = { kind: 'http', url: remote.url, headers: {} } as const;
  await using started = startHub([configured('far', launch)]);
  await started.hub.whenSettled();
  const completions = (typed: string) =>
    started.hub.completeArguments('mcp__far__test_prompt_with_arguments', typed, inTime());
  expect(await completions('arg2=pari')).toEqual(['arg2=paris']);
  expect(await completions('a b ')).toEqual([]);
  await remote.close();
});

test.concurrent('added folders are reported before the next call', async () => {
  const received: string[] = [];
  let folders = ['/one'];
  await using started = await hubInside(
    { capabilities: { tools: {} } },
    (server) => {
      server.setRequestHandler(ListToolsRequestSchema, () => ({
        tools: [{ name: 'look', inputSchema: { type: 'object' } }],
      }));
      server.setNotificationHandler(RootsListChangedNotificationSchema, () => void received.push('changed'));
      server.setRequestHandler(CallToolRequestSchema, async () => {
        const { roots } = await server.listRoots();
        received.push(...roots.map(({ uri }) => uri));
        return { content: [] };
      });
    },
    { getRoots: () => folders },
  );
  const look = tool(started.hub, 'mcp__inside__look');
  await callTool(look, {});
  folders = ['/one', '/two'];
  await callTool(look, {});
  expect(received).toEqual(['file:///one', 'changed', 'file:///one', 'file:///two']);
});

test.concurrent('servers that do not start are reported with their reason, and delay nothing', async () => {
  await using started = startHub(
    [
      configured('missing', { kind: 'stdio', command: 'no-such-program-at-all', args: [], env: {} }),
      configured('dies', {
        kind: 'stdio',
        command: 'sh',
        args: ['-c', 'echo no licence >&2; exit 3'],
        env: {},
      }),
      configured('deaf', { kind: 'http', url: 'http://127.0.0.1:9/mcp', headers: {} }),
    ],
    { getLimits: () => ({ startMs: 60_000 }) },
  );
  const { hub, changes } = started;
  expect(hub.listStates().map(({ status }) => status)).toEqual(['pending', 'pending', 'pending']);
  await hub.whenSettled();
  const errors = Object.fromEntries(hub.listStates().map(({ name, status, error }) => [name, `${status}: ${error}`]));
  expect(errors).toMatchObject({
    missing: expect.stringContaining('no-such-program-at-all'),
    dies: expect.stringContaining('no licence'),
    deaf: expect.stringContaining('failed'),
  });
  expect(changes.filter(({ kind }) => kind === 'state')).toHaveLength(3);
});

test.concurrent('a server that says nothing is given up after the limit', async () => {
  const silent = configured('silent', { kind: 'stdio', command: 'wc', args: ['-c'], env: {} });
  await using started = startHub([silent], { getLimits: () => ({ startMs: 50 }) });
  await started.hub.whenSettled();
  expect(started.hub.listStates()).toMatchObject([
    { name: 'silent', status: 'failed', error: expect.stringContaining('did not answer within 0.05 s') },
  ]);
});

test.concurrent('a server that dies is restarted, and its tools work as before', async () => {
  const marker = randomUUID();
  await using started = startHub([stub('mortal')], { newMarker: () => marker, backoffMs: 5 });
  const { hub, changes } = started;
  await hub.whenSettled();
  for (const { pid } of await processesMarked(`${CALL_MARKER}=${marker}`)) process.kill(pid, 'SIGKILL');
  while (!changes.some((change) => change.kind === 'state' && change.message.includes('being restarted'))) {
    await new Promise(setImmediate);
  }
  await hub.whenSettled();
  expect((await callTool(tool(hub, 'mcp__mortal__echo'), { message: 'again' })).content).toBe('Echo: again');
});

test.concurrent('a disabled server offers nothing; enabled again it does; a removed one is gone', async () => {
  await using started = startHub([stub('one')]);
  const { hub } = started;
  await hub.whenSettled();
  await hub.toggle('one', 'off');
  expect([hub.listStates()[0]?.status, hub.listTools().length]).toEqual(['disabled', 0]);
  expect(await hub.toggle('one', 'on')).toEqual({ ok: true });
  expect(hub.listTools().map(({ name }) => name)).toEqual(['mcp__one__echo']);
  await hub.removeServer('one');
  expect([hub.listStates(), hub.listTools()]).toEqual([[], []]);
  expect(await hub.reconnect('one')).toEqual({ ok: false, problem: 'There is no MCP server one.' });
});

test.concurrent('a server leaves no process, whatever it hides', async () => {
  const marker = randomUUID();
  const line = `env -i setsid -f sleep 300 >/dev/null 2>&1; exec "$0" "$@"`;
  const launch = { kind: 'stdio', command: 'bash', args: ['-c', line, STUB.command, ...STUB.args], env: {} } as const;
  {
    await using hidden = startHub([configured('hidden', launch)], { newMarker: () => marker });
    await hidden.hub.whenSettled();
    expect(hidden.hub.listStates()).toMatchObject([{ status: 'connected' }]);
    expect((await listMarkedProcesses(marker)).length).toBeGreaterThan(1);
  }
  expect(await listMarkedProcesses(marker)).toEqual([]);
});

/** A server on pipes whose only tool misbehaves. */
const misbehaving = (reaction: string) => `
  const closeInput = () => {
    process.on('uncaughtException', () => undefined);
    require('node:fs').closeSync(0);
    setInterval(() => undefined, 60_000);
  };
  const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const serverInfo = { name: 'odd', version: '1' };
    const result = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo },
      'tools/list': { tools: [{ name: 'odd', inputSchema: { type: 'object' } }] },
    }[method];
    if (result !== undefined) send({ id, result });
    else if (method === 'tools/call') ${reaction};
  });`;

test.concurrent.each([
  ['closes its output and stays', "require('node:fs').closeSync(1)", /ended during the call \(closed its output\)/],
  ['closes its input and stays', 'closeInput()', /ended during the call \(closed its input\)/],
  ['answers with neither a result nor an error', 'send({ id })', /its answer is not valid JSON-RPC/],
  ['answers with both', "send({ id, result: {}, error: { code: 1, message: 'x' } })", /is not valid JSON-RPC/],
])('a call of a server that %s ends at once', async (_, reaction, message) => {
  const launch = { kind: 'stdio', command: process.execPath, args: ['-e', misbehaving(reaction)], env: {} } as const;
  await using started = startHub([configured('odd', launch)], { probeIntervalMs: 20 });
  await started.hub.whenSettled();
  await expect(callTool(tool(started.hub, 'mcp__odd__odd'), {})).rejects.toThrow(message);
});
