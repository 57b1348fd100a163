import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { TOOL_TRAITS } from '../../src/tools/tool-traits.ts';

const folder = fileURLToPath(new URL('../../src/tools', import.meta.url));

test('the list has the traits of every tool', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const declared = files.flatMap((name) =>
    [
      ...readFileSync(join(folder, name), 'utf8').matchAll(
        /^export const (\w+)Traits: (?:ToolTraits|BuiltInToolTraits)\b/gm,
      ),
    ].map(([, tool]) => tool?.toLowerCase()),
  );
  expect(declared.toSorted()).toEqual(TOOL_TRAITS.map(({ name }) => name.toLowerCase()).toSorted());
});

test('no two tools share a name', () => {
  const names = TOOL_TRAITS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(new Set(names).size).toBe(names.length);
});
