import type { JsonObject } from '../contracts/json.ts';
import type { Policy } from '../contracts/permission.ts';
import { decide } from './decide.ts';
import { factsOf } from './facts.ts';
import type { PermissionFs } from './paths/fs.ts';
import { parseRule } from './rules/rules.ts';

/** Does a call fit a rule, on the widest reading? For hooks that watch some calls only. */
export function fitsRule(
  text: string,
  call: { readonly tool: string; readonly input: JsonObject },
  policy: Policy,
  fs: PermissionFs,
): boolean {
  const rule = parseRule(text, 'deny', { source: 'session', root: policy.workspaceRoots[0] ?? policy.cwd });
  // A guard whose condition nobody can read watches everything.
  if (rule.problem !== undefined) return true;
  return decide(factsOf(call.tool, call.input, policy.cwd), { ...policy, rules: [rule] }, fs).matched.includes(rule);
}
