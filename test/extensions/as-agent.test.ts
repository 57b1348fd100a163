import { expect, test } from 'vitest';
import type { AgentKind } from '../../src/contracts/extension.ts';
import type { PermissionMode } from '../../src/contracts/permission.ts';
import { asAgent } from '../../src/extensions/as-agent.ts';
import { runOptions } from '../support/run-options.ts';

function modeAs(source: AgentKind['source'], permissionMode: PermissionMode): string | undefined {
  const kind: AgentKind = { name: 'a', description: '', prompt: 'p', source, disallowedTools: [], permissionMode };
  const role = asAgent(runOptions({ face: 'print', agent: 'a' }), [kind]);
  return role.ok ? role.options.permissionMode : role.problem;
}

test('an agent of the project may tighten the mode it is started in, never loosen it', () => {
  expect(modeAs('project', 'bypassPermissions')).toBe('default');
  expect(modeAs('project', 'acceptEdits')).toBe('default');
  expect(modeAs('project', 'plan')).toBe('plan');
  expect(modeAs('user', 'acceptEdits')).toBe('acceptEdits');
});
