import { CallToolRequestSchema, ElicitResultSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import type { CallContext } from '../../../src/contracts/tool.ts';
import { callTool } from '../../support/call-tool.ts';
import { hubInside } from '../in-process.ts';

const named = (count: number) => ({
  tools: Array.from({ length: count }, (_, at) => ({ name: `t${at}`, inputSchema: { type: 'object' as const } })),
});

test('a user is asked a few questions at a time, however many a server has', async () => {
  let open = 0;
  let most = 0;
  await using started = await hubInside({ capabilities: { tools: {} } }, (server) => {
    server.setRequestHandler(ListToolsRequestSchema, () => named(1));
    server.setRequestHandler(CallToolRequestSchema, async () => {
      const params = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } };
      const asked = Array.from({ length: 200 }, () =>
        server.request({ method: 'elicitation/create', params }, ElicitResultSchema).then(
          ({ action }) => action,
          () => 'refused',
        ),
      );
      const answers = await Promise.all(asked);
      return { content: [{ type: 'text', text: `${answers.filter((one) => one === 'refused').length} refused` }] };
    });
  });
  const ask: CallContext['ask'] = async () => {
    open += 1;
    most = Math.max(most, open);
    await new Promise(setImmediate);
    open -= 1;
    return { kind: 'elicitation', action: 'decline', reason: 'Nobody is there.' };
  };
  const [tool] = started.hub.listTools();
  const outcome = tool === undefined ? undefined : await callTool(tool, {}, { ask });
  expect(outcome?.attachment).toBe(
    '<reminder>\ninside asked for input during this call and got none. Nobody is there.\n</reminder>',
  );
  expect([most <= 5, /^1\d\d refused$/.test(String(outcome?.content))]).toEqual([true, true]);
  // Not every no is told.
  expect(started.changes.filter(({ kind }) => kind === 'state').length).toBeLessThanOrEqual(5);
});

test('a list that changes all the time is requested at intervals and bounded', async () => {
  let listed = 0;
  await using started = await hubInside({ capabilities: { tools: { listChanged: true } } }, (server) => {
    server.setRequestHandler(ListToolsRequestSchema, async () => {
      listed += 1;
      // Each answer is out of date at once.
      for (let times = 0; times < 300; times += 1) await server.sendToolListChanged();
      return named(3_000 + listed);
    });
  });
  await new Promise(setImmediate);
  expect(listed).toBeLessThanOrEqual(20);
  expect(started.hub.listTools()).toHaveLength(2_000);
  const reported = started.changes.flatMap((change) => (change.kind === 'state' ? [change.message] : []));
  expect(reported).toEqual(['MCP server inside offers too many tools; only the first 2000 are used.']);
});

test('a list at the limit, and one in pages, are reported only when something is omitted', async () => {
  const reported = async (pages: readonly number[]) => {
    await using started = await hubInside({ capabilities: { tools: {} } }, (server) => {
      server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
        const page = Number(params?.cursor ?? 0);
        const { tools } = named(pages[page] ?? 0);
        const next = page + 1 < pages.length ? { nextCursor: String(page + 1) } : {};
        return { tools: tools.map((tool, at) => ({ ...tool, name: `p${page}-${at}` })), ...next };
      });
    });
    return [started.hub.listTools().length, started.changes.filter(({ kind }) => kind === 'state').length];
  };
  expect(await reported([2_000])).toEqual([2_000, 0]);
  expect(await reported([1_000, 1_000])).toEqual([2_000, 0]);
  expect(await reported([1_999, 2])).toEqual([2_000, 1]);
  expect(await reported([2_000, 1])).toEqual([2_000, 1]);
  expect(await reported([10, 20, 30])).toEqual([60, 0]);
});

test('endless progress is shown at intervals', async () => {
  const notes: string[] = [];
  await using started = await hubInside({ capabilities: { tools: {} } }, (server) => {
    server.setRequestHandler(ListToolsRequestSchema, () => named(1));
    server.setRequestHandler(CallToolRequestSchema, async ({ params: { _meta: meta } }, { sendNotification }) => {
      for (let progress = 1; progress <= 300; progress += 1)
        await sendNotification({
          method: 'notifications/progress',
          params: { progressToken: meta?.progressToken ?? '', progress },
        });
      return { content: [] };
    });
  });
  const [tool] = started.hub.listTools();
  const report: CallContext['report'] = (progress) => void (progress.kind === 'note' && notes.push(progress.text));
  if (tool !== undefined) await callTool(tool, {}, { report });
  expect([notes[0], notes.length < 100]).toEqual(['1', true]);
});

test('completion of a URL elicitation reaches the one who was sent there', async () => {
  let reported = async () => {};
  await using started = await hubInside({ capabilities: { tools: {} } }, (server) => {
    server.setRequestHandler(ListToolsRequestSchema, () => named(1));
    server.setRequestHandler(CallToolRequestSchema, async () => {
      const params = { mode: 'url', message: 'Go', url: 'https://example.com', elicitationId: 'one' } as const;
      await server.request({ method: 'elicitation/create', params }, ElicitResultSchema);
      return { content: [] };
    });
    reported = async () => {
      for (const elicitationId of ['other', 'one'])
        await server.notification({ method: 'notifications/elicitation/complete', params: { elicitationId } });
    };
  });
  const [tool] = started.hub.listTools();
  const ask: CallContext['ask'] = async () => ({ kind: 'elicitation', action: 'accept' });
  if (tool !== undefined) await callTool(tool, {}, { ask });
  await reported();
  await new Promise(setImmediate);
  expect(started.changes.filter(({ kind }) => kind === 'visited')).toEqual([
    { kind: 'visited', server: 'inside', id: 'one' },
  ]);
});

test('outside any call the frontend of the conversation is asked', async () => {
  let ask = async (): Promise<string> => '';
  await using started = await hubInside(
    { capabilities: {} },
    (server) => {
      ask = async () => {
        const params = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } };
        return (await server.request({ method: 'elicitation/create', params }, ElicitResultSchema)).action;
      };
    },
    { ask: async () => ({ kind: 'elicitation', action: 'accept', content: {} }) },
  );
  expect([await ask(), started.changes]).toEqual(['accept', []]);
});

test('an elicitation is withdrawn when its server is gone', async () => {
  await using started = await hubInside({ capabilities: { tools: {} } }, (server) => {
    server.setRequestHandler(ListToolsRequestSchema, () => named(1));
    server.setRequestHandler(CallToolRequestSchema, async () => {
      const params = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } };
      await server.request({ method: 'elicitation/create', params }, ElicitResultSchema);
      return { content: [] };
    });
  });
  const withdrawn = Promise.withResolvers<string>();
  const ask: CallContext['ask'] = async (_, signal) => {
    signal?.addEventListener('abort', () => withdrawn.resolve('withdrawn'));
    void started.hub.toggle('inside', 'off');
    return new Promise(() => undefined);
  };
  const [tool] = started.hub.listTools();
  const call = tool === undefined ? undefined : callTool(tool, {}, { ask }).catch(() => 'ended');
  expect([await withdrawn.promise, await call]).toEqual(['withdrawn', 'ended']);
});
