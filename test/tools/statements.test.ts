import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { TOOL_STATEMENTS } from '../../src/tools/statements.ts';

const tools = fileURLToPath(new URL('../../src/tools', import.meta.url));

test('every tool of ours has a statement, named as its folder', () => {
  const folders = readdirSync(tools).filter((name) => existsSync(join(tools, name, `${name}.ts`)));
  const named = TOOL_STATEMENTS.map(({ name }) => name.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase());
  expect(named.toSorted()).toEqual(folders.toSorted());
});

test('no two tools share a name', () => {
  const names = TOOL_STATEMENTS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(new Set(names).size).toBe(names.length);
});
