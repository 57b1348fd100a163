import { expect, test } from 'vitest';
import { createToolFactsLookup } from '../../src/permissions/create-decision-context.ts';
import { getRuleFamily, RENAMED_TOOLS } from '../../src/permissions/rules/rule-families.ts';
import { TOOL_TRAITS } from '../../src/tools/tool-traits.ts';

const factsOf = createToolFactsLookup(TOOL_TRAITS);

test('a tool without facts may touch anything, whatever its name', () => {
  const silent = createToolFactsLookup([{ name: 'Silent' }]);
  expect(['Silent', 'Nobody', 'constructor', 'mcp__git__push'].map((tool) => silent(tool, {}, '/').kind)).toEqual([
    'other',
    'other',
    'other',
    'mcp',
  ]);
});

test('a tool is recognized by its earlier names too', () => {
  expect(factsOf('Agent', { subagent_type: 'explore' }, '/')).toMatchObject({ tool: 'Task', specifier: 'explore' });
  const aliases = TOOL_TRAITS.flatMap(({ name, aliases = [] }) => aliases.map((alias) => [alias, name]));
  expect(Object.fromEntries(aliases)).toEqual(RENAMED_TOOLS);
});

test('rules match the facts reported by a tool', () => {
  const family = { shell: 'command', read: 'read', edit: 'edit', fetch: 'domain', agent: 'name', skill: 'name' };
  const wanted = new Map<string, string>(Object.entries(family));
  for (const { name } of TOOL_TRAITS)
    expect([name, getRuleFamily(name)]).toEqual([name, wanted.get(factsOf(name, {}, '/').kind)]);
});

test('a pattern that leaves its folder names its target', () => {
  expect(factsOf('Glob', { pattern: '../x/*.ts', path: 'src' }, '/ws').reads).toEqual(['src', 'src/../x/']);
  expect(factsOf('Grep', { pattern: 'x', glob: '/etc/*' }, '/ws').reads).toEqual(['/ws', '/etc/']);
});
