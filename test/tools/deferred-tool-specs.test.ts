import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Tool } from '../../src/contracts/tool.ts';
import { createDeferredSpecs } from '../../src/tools/deferred-tool-specs.ts';
import { buildTool } from '../../src/tools/definition/build-tool.ts';
import { createToolSearchTool } from '../../src/tools/tool-search.ts';
import { callTool } from '../support/call-tool.ts';

function toolNamed(name: string, prompt: string, source: Tool['source'] = 'mcp'): Tool {
  return buildTool({ name, prompt, source, input: z.object({}), call: async () => ({ content: '' }) });
}

const own = toolNamed('Read', 'Reads a file.', 'builtin');
const issues = toolNamed('mcp__hub__find_issues', 'Finds issues of a repository. Many words follow.');
const mail = toolNamed('mcp__post__send', 'Sends a letter to somebody.');

function setUp(windowTokens: number) {
  const all: Tool[] = [own, issues, mail];
  const deferral = createDeferredSpecs({
    listTools: () => all,
    windowTokens: () => windowTokens,
    countTokens: (text) => text.length,
  });
  const search = createToolSearchTool(deferral);
  all.push(search);
  const names = () => deferral.selectSpecs(all).map(({ name }) => name);
  return { search, names, specs: () => deferral.selectSpecs(all) };
}

test('descriptions that fit are all sent, without a search tool', () => {
  expect(setUp(1_000_000).names()).toEqual(['Read', 'mcp__hub__find_issues', 'mcp__post__send']);
});

test('when there are too many, descriptions of server tools are omitted', () => {
  const { names, specs } = setUp(1_000);
  expect(names()).toEqual(['Read', 'ToolSearch']);
  expect(specs()[1]?.description).toContain('Known by name: mcp__hub__find_issues, mcp__post__send');
});

test('a search by keywords loads matches, and changes nothing else', async () => {
  const { names, specs, search } = setUp(1_000);
  const before = specs()[1];
  const { content } = await callTool(search, { query: 'repository issues' });
  expect(content).toContain('- mcp__hub__find_issues: Finds issues of a repository.');
  expect(names()).toEqual(['Read', 'mcp__hub__find_issues', 'ToolSearch']);
  expect(specs().at(-1)).toEqual(before);
});

test('exact names are loaded with select', async () => {
  const { names, search } = setUp(1_000);
  await callTool(search, { query: 'select:mcp__post__send, mcp__hub__find_issues' });
  expect(names()).toEqual(['Read', 'mcp__hub__find_issues', 'mcp__post__send', 'ToolSearch']);
});

test('a search without a match lists the tools', async () => {
  const outcome = await callTool(setUp(1_000).search, { query: 'database' });
  expect(outcome).toMatchObject({ isError: true, content: expect.stringContaining('mcp__post__send') });
});

test('descriptions of servers are deferred above 20,000 tokens, however large the window is', () => {
  const large = toolNamed('mcp__large__tool', 'x'.repeat(21_000));
  const all = [own, large];
  const deferral = createDeferredSpecs({
    listTools: () => all,
    windowTokens: () => 1_000_000,
    countTokens: (text) => text.length,
  });
  const names = (tools: readonly Tool[]) => deferral.selectSpecs(tools).map(({ name }) => name);
  // Nothing could load them again.
  expect(names(all)).toEqual(['Read', 'mcp__large__tool']);
  expect(names([...all, createToolSearchTool(deferral)])).toEqual(['Read', 'ToolSearch']);
});
