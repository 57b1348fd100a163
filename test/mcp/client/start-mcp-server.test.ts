import { expect, test } from 'vitest';
import type { HostMcpServer } from '../../../src/contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../../src/contracts/json.ts';
import { startHub } from '../servers.ts';

type Answer = JsonObject | 'refused' | Promise<JsonObject>;

const TOOLS = { tools: [{ name: 'buy', inputSchema: { type: 'object' } }] };
const PROMPTS = { prompts: [{ name: 'offer' }] };
const never = new Promise<JsonObject>(() => undefined);

/** A server in this process that answers as it is told, one page after the other. */
function shop(lists: Readonly<Record<string, Answer | readonly Answer[]>>): HostMcpServer {
  const pages = new Map<string, number>();
  const answers: Readonly<Record<string, Answer | readonly Answer[]>> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {}, prompts: {} },
      serverInfo: { name: 'shop', version: '1.0.0' },
    },
    ...lists,
  };
  return {
    name: 'shop',
    async send({ id, method }) {
      if (id === undefined) return undefined;
      const given = answers[String(method)];
      const page = pages.get(String(method)) ?? 0;
      pages.set(String(method), page + 1);
      const answer = await (Array.isArray(given) ? given[page] : given);
      if (answer === 'refused') return { jsonrpc: '2.0', id, error: { code: -32603, message: 'not today' } };
      return { jsonrpc: '2.0', id, result: answer ?? {} };
    },
    onMessage: () => undefined,
  };
}

const PATIENT = { toolsMs: 60_000, promptsMs: 60_000 };

async function start(lists: Readonly<Record<string, Answer | readonly Answer[]>>, listWaits = PATIENT) {
  const started = startHub([], { hostServers: [shop(lists)], getLimits: () => ({ startMs: 60_000 }), listWaits });
  await started.hub.whenSettled();
  const { hub, changes } = started;
  const reported = () => changes.flatMap((change) => (change.kind === 'state' ? [change.message] : []));
  const offered = () => ({
    tools: hub.listTools().map(({ name }) => name),
    prompts: hub.listPrompts().map(({ name }) => name),
  });
  return { ...started, reported, offered };
}

test.concurrent('a server that does not list its prompts is used with its tools', async () => {
  await using shopping = await start({ 'tools/list': TOOLS, 'prompts/list': never }, { ...PATIENT, promptsMs: 1 });
  expect(shopping.offered()).toEqual({ tools: ['mcp__shop__buy'], prompts: [] });
  expect(shopping.hub.listStates()).toMatchObject([{ status: 'connected' }]);
});

test.concurrent('late tools and prompts are offered when they arrive', async () => {
  const [tools, prompts] = [Promise.withResolvers<JsonObject>(), Promise.withResolvers<JsonObject>()];
  await using shopping = await start(
    { 'tools/list': tools.promise, 'prompts/list': prompts.promise },
    { toolsMs: 1, promptsMs: 1 },
  );
  expect(shopping.offered()).toEqual({ tools: [], prompts: [] });
  expect(shopping.reported()).toEqual([
    'MCP server shop has not listed its tools yet; they become available when it does.',
  ]);
  const known = shopping.hub.whenCommandListed('mcp__shop__offer');
  prompts.resolve(PROMPTS);
  await known;
  expect(shopping.offered()).toEqual({ tools: [], prompts: ['mcp__shop__offer'] });
  tools.resolve(TOOLS);
  while (shopping.offered().tools.length === 0) await new Promise(setImmediate);
  expect(shopping.offered()).toEqual({ tools: ['mcp__shop__buy'], prompts: ['mcp__shop__offer'] });
});

test('a server that refuses to list its tools is not used, one that refuses its prompts is', async () => {
  await using without = await start({ 'tools/list': 'refused', 'prompts/list': PROMPTS });
  expect(without.hub.listStates()).toMatchObject([{ status: 'failed', error: expect.stringContaining('not today') }]);
  await using half = await start({ 'tools/list': TOOLS, 'prompts/list': 'refused' });
  expect(half.offered()).toEqual({ tools: ['mcp__shop__buy'], prompts: [] });
});

test('of a list whose next page is refused, the pages before are used', async () => {
  await using shopping = await start({
    'tools/list': [{ ...TOOLS, nextCursor: 'two' }, 'refused'],
    'prompts/list': PROMPTS,
  });
  expect(shopping.offered()).toEqual({ tools: ['mcp__shop__buy'], prompts: ['mcp__shop__offer'] });
});
