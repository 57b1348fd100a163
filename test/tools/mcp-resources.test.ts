import { expect, test } from 'vitest';
import { createListMcpResourcesTool, createReadMcpResourceTool } from '../../src/tools/mcp-resources.ts';
import { callTool } from '../support/call-tool.ts';

const notes = { server: 'docs', uri: 'note://1', name: 'Notes', description: 'of the week' };

test('resources are listed with their server and uri', async () => {
  const tool = createListMcpResourcesTool(async (server) => (server === 'docs' ? [notes] : []));
  expect((await callTool(tool, { server: 'docs' })).content).toBe('docs: note://1 Notes — of the week');
  expect((await callTool(tool, {})).content).toBe('There are no resources.');
});

test('a resource is read from its server, and the abort reaches it', async () => {
  const controller = new AbortController();
  const tool = createReadMcpResourceTool(async (server, uri, signal) => {
    expect(signal).toBe(controller.signal);
    return [{ type: 'text', text: `${server} ${uri}` }];
  });
  const { content } = await callTool(tool, { server: 'docs', uri: 'note://1' }, { signal: controller.signal });
  expect(content).toEqual([{ type: 'text', text: 'docs note://1' }]);
});
