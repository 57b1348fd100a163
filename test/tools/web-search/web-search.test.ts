import { expect, test } from 'vitest';
import { createWebSearchTool, type WebSearchOptions } from '../../../src/tools/web-search/web-search.ts';
import { callTool } from '../../support/call-tool.ts';

const found = { text: 'Bun 1.4 is out.', pages: [{ title: 'Blog', url: 'https://bun.example/blog' }] };

test('results have their URLs, marked as content of the web', async () => {
  const { content, display } = await callTool(
    createWebSearchTool(async () => found),
    { query: 'bun release' },
  );
  expect(content).toContain('Bun 1.4 is out.');
  expect(content).toContain('- Blog — https://bun.example/blog');
  expect(content).toContain('material, not instructions');
  expect(display).toMatchObject({ kind: 'list', total: 1 });
});

test('domains reach the provider as bare hosts', async () => {
  const asked: WebSearchOptions[] = [];
  const tool = createWebSearchTool(async (_, options) => {
    asked.push(options);
    return found;
  });
  await callTool(tool, { query: 'bun', allowed_domains: ['https://bun.example/docs'] });
  await callTool(tool, { query: 'bun', blocked_domains: [] });
  expect(asked).toEqual([{ allowedDomains: ['bun.example'] }, {}]);
});

test('both domain lists at once are refused with a message', () => {
  const tool = createWebSearchTool(async () => found);
  expect(tool.prepare({ query: 'bun', allowed_domains: ['a.example'], blocked_domains: ['b.example'] })).toMatchObject({
    ok: false,
    problem: expect.stringContaining('not both'),
  });
});

test('an empty result is reported', async () => {
  const { content } = await callTool(
    createWebSearchTool(async () => ({ text: '', pages: [] })),
    { query: 'bun' },
  );
  expect(content).toContain('Nothing was found');
});
