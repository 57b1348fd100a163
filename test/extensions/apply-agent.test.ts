import { expect, test } from 'vitest';
import type { SubAgentDefinition } from '../../src/contracts/extension.ts';
import type { PermissionMode } from '../../src/contracts/permission.ts';
import { applyAgentToOptions } from '../../src/extensions/apply-agent.ts';
import { runOptions } from '../support/run-options.ts';

function modeAs(source: SubAgentDefinition['source'], permissionMode: PermissionMode): string | undefined {
  const kind: SubAgentDefinition = {
    name: 'a',
    description: '',
    prompt: 'p',
    source,
    disallowedTools: [],
    permissionMode,
  };
  const role = applyAgentToOptions(runOptions({ frontend: 'print', agent: 'a' }), [kind]);
  return role.ok ? role.options.permissionMode : role.problem;
}

test('a project agent may tighten the mode it is started in, never loosen it', () => {
  expect(modeAs('project', 'bypassPermissions')).toBe('default');
  expect(modeAs('project', 'acceptEdits')).toBe('default');
  expect(modeAs('project', 'plan')).toBe('plan');
  expect(modeAs('user', 'acceptEdits')).toBe('acceptEdits');
});
