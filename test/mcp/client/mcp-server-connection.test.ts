import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import {
  type JSONRPCMessage,
  ListResourcesRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { openMcpServerConnection } from '../../../src/mcp/client/mcp-server-connection.ts';
import { hubInside } from '../in-process.ts';
import { inTime } from '../servers.ts';

test('changes of a resource that was read are reported; others are not', async () => {
  const followed: string[] = [];
  let emit: (uri: string) => Promise<void> = async () => undefined;
  await using started = await hubInside({ capabilities: { resources: { subscribe: true } } }, (server) => {
    emit = (uri) => server.sendResourceUpdated({ uri });
    server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ uri: 'a:1', name: 'one' }] }));
    server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => ({ contents: [{ uri, text: uri }] }));
    server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
      followed.push(uri);
      return {};
    });
  });
  await emit('a:1');
  await started.hub.readResourceBlocks('inside', 'a:1', inTime());
  await started.hub.readResourceBlocks('inside', 'a:1', inTime());
  await emit('a:1');
  await emit('b:2');
  expect(followed).toEqual(['a:1']);
  expect(started.changes.filter(({ kind }) => kind === 'resource')).toEqual([
    { kind: 'resource', server: 'inside', uri: 'a:1' },
  ]);
});

test('only requests without an answer are cancelled when their signal aborts', async () => {
  const [transport, server] = InMemoryTransport.createLinkedPair();
  const seen: string[] = [];
  const waiting = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  const results: Readonly<Record<string, Record<string, unknown>>> = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
    'tools/list': { tools: [] },
  };
  server.onmessage = (message: JSONRPCMessage) => {
    if (!('method' in message)) return;
    seen.push(message.method);
    const result = results[message.method];
    if ('id' in message && result !== undefined) void server.send({ jsonrpc: '2.0', id: message.id, result });
    if (message.method === 'tools/call') waiting.resolve();
    if (message.method === 'notifications/cancelled') cancelled.resolve();
  };
  await server.start();
  const controller = new AbortController();
  const none = () => undefined;
  const connection = await openMcpServerConnection(
    {
      transport,
      describeExit: none,
      server: 's',
      version: '1',
      getRoots: () => [],
      ask: undefined,
      sample: undefined,
      getSamplingVerdict: () => 'deny',
      isRemote: false,
      callTimeoutMs: () => 60_000,
      onNotification: none,
      onClosed: none,
      onListChanged: none,
      onListTruncated: none,
      onResourceChanged: none,
      onDeclined: none,
      onSampled: none,
      onVisited: none,
    },
    controller.signal,
  );
  await connection.listTools(controller.signal);
  const context = { callId: '', cwd: '/', signal: controller.signal, report: none, ask: async () => undefined };
  const call = expect(connection.callTool('slow', {}, context)).rejects.toThrow();
  await waiting.promise;
  controller.abort();
  await call;
  await cancelled.promise;
  await connection.close();
  expect(seen.join()).toBe('initialize,notifications/initialized,tools/list,tools/call,notifications/cancelled');
});
