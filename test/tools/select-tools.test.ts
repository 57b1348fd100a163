import { expect, test } from 'vitest';
import { parseRule } from '../../src/permissions/rules/parse-rule.ts';
import { createBashOutputTool } from '../../src/tools/bash/bash-output.ts';
import { createKillShellTool } from '../../src/tools/bash/kill-shell.ts';
import { createShellRegistry } from '../../src/tools/bash/shell-registry.ts';
import { memoizeToolSelector } from '../../src/tools/select-tools.ts';

test('tools are selected again when a tool or a denial of a tool has changed, and only then', () => {
  const shells = createShellRegistry(Date.now, () => undefined);
  const [one, other] = [createBashOutputTool(shells), createKillShellTool(shells, () => false)];
  const deny = (text: string) => parseRule(text, 'deny', { source: 'user', root: '/' });
  let selections = 0;
  const select = memoizeToolSelector((tools, rules) => {
    selections += 1;
    return tools.filter(({ name }) => !rules.some((rule) => rule.tool === name));
  });
  const first = select([one, other], []);
  expect(select([one, other], [deny('Bash(rm:*)')])).toBe(first);
  expect(selections).toBe(1);
  expect(select([one], [])).toEqual([one]);
  expect(select([other], [])).toEqual([other]);
  expect(select([other], [deny(other.name)])).toEqual([]);
  expect(selections).toBe(4);
});
