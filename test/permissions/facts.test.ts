import { expect, test } from 'vitest';
import { factsFrom } from '../../src/permissions/facts.ts';
import { familyOf, RENAMED } from '../../src/permissions/rules/families.ts';
import { TOOL_STATEMENTS } from '../../src/tools/statements.ts';

const factsOf = factsFrom(TOOL_STATEMENTS);

test('a tool that says nothing touches anything, whatever it is called', () => {
  const silent = factsFrom([{ name: 'Silent' }]);
  expect(['Silent', 'Nobody', 'constructor', 'mcp__git__push'].map((tool) => silent(tool, {}, '/').kind)).toEqual([
    'other',
    'other',
    'other',
    'mcp',
  ]);
});

test('a tool is known by its earlier names too', () => {
  expect(factsOf('Agent', { subagent_type: 'explore' }, '/')).toMatchObject({ tool: 'Task', specifier: 'explore' });
  const aliases = TOOL_STATEMENTS.flatMap(({ name, aliases = [] }) => aliases.map((alias) => [alias, name]));
  expect(Object.fromEntries(aliases)).toEqual(RENAMED);
});

test('what rules say of a tool is what the tool says of itself', () => {
  const family = { shell: 'command', read: 'read', edit: 'edit', fetch: 'domain', agent: 'name', skill: 'name' };
  const wanted = new Map<string, string>(Object.entries(family));
  for (const { name } of TOOL_STATEMENTS)
    expect([name, familyOf(name)]).toEqual([name, wanted.get(factsOf(name, {}, '/').kind)]);
});

test('a pattern that leads out of its folder names where it leads', () => {
  expect(factsOf('Glob', { pattern: '../x/*.ts', path: 'src' }, '/ws').reads).toEqual(['src', 'src/../x/']);
  expect(factsOf('Grep', { pattern: 'x', glob: '/etc/*' }, '/ws').reads).toEqual(['/ws', '/etc/']);
});
