import type { JsonObject } from '../contracts/json.ts';
import type { Policy } from '../contracts/permission.ts';
import { decide } from './decide.ts';
import type { Sight } from './explain.ts';
import { parseRule } from './rules/rules.ts';

/** Does a call fit a rule, on the widest reading? For hooks that watch some calls only. */
export function fitsRule(
  text: string,
  call: { readonly tool: string; readonly input: JsonObject },
  policy: Policy,
  { fs, factsOf }: Sight,
): boolean {
  const rule = parseRule(text, 'deny', { source: 'session', root: policy.workspaceRoots[0] ?? policy.cwd });
  // A guard whose condition nobody can read watches everything.
  if (rule.problem !== undefined) return true;
  return decide(factsOf(call.tool, call.input, policy.cwd), { ...policy, rules: [rule] }, fs).matched.includes(rule);
}
