import {
  ListResourcesRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { hubInside } from '../in-process.ts';
import { inTime } from '../servers.ts';

test('changes of a resource that was read are reported; others are not', async () => {
  const followed: string[] = [];
  let tell: (uri: string) => Promise<void> = async () => undefined;
  await using started = await hubInside({ capabilities: { resources: { subscribe: true } } }, (server) => {
    tell = (uri) => server.sendResourceUpdated({ uri });
    server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ uri: 'a:1', name: 'one' }] }));
    server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => ({ contents: [{ uri, text: uri }] }));
    server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
      followed.push(uri);
      return {};
    });
  });
  await tell('a:1');
  await started.hub.readResourceBlocks('inside', 'a:1', inTime());
  await started.hub.readResourceBlocks('inside', 'a:1', inTime());
  await tell('a:1');
  await tell('b:2');
  expect(followed).toEqual(['a:1']);
  expect(started.changes.filter(({ kind }) => kind === 'resource')).toEqual([
    { kind: 'resource', server: 'inside', uri: 'a:1' },
  ]);
});
