import { realpath } from 'node:fs/promises';
import type { Environment } from '../contracts/environment.ts';
import type { RunOptions } from '../contracts/face/run-options.ts';
import type { PermissionMode, Policy, Rule, RuleBehavior } from '../contracts/permission.ts';
import { rulesOfTexts } from '../permissions/collect-rules.ts';
import { folderTrust } from './folder-trust.ts';
import { makePolicy } from './make-policy.ts';
import { readSettings } from './read-settings.ts';

export type ExplainWish = {
  readonly cwd: string;
  readonly mode?: PermissionMode;
  readonly rules: { readonly [behavior in RuleBehavior]: readonly string[] };
  readonly trust?: 'this-run';
};

/** The policy a conversation in this folder would begin with, with rules of the command line on top. */
export async function explainPolicy(
  wish: ExplainWish,
  environment: Environment,
): Promise<{ readonly policy: Policy; readonly rules: readonly Rule[]; readonly problems: readonly string[] }> {
  const cwd = await realpath(wish.cwd);
  const trust = await folderTrust(cwd, environment, wish.trust);
  const options: Pick<RunOptions, 'cwd' | 'addDirs'> = { cwd, addDirs: [] };
  const loaded = await readSettings(options, environment, trust.trusted, trust.approves);
  const mode = wish.mode ?? loaded.merged.permissions?.defaultMode ?? 'default';
  const source = makePolicy({
    options,
    environment,
    cwd,
    trusted: trust.trusted,
    loaded: () => loaded,
    live: () => ({ mode, grants: [], directories: [] }),
    mayBypass: 'may bypass',
  });
  const behaviors: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];
  const given = behaviors.flatMap((behavior) =>
    rulesOfTexts(wish.rules[behavior], behavior, { source: 'flag', root: cwd }),
  );
  const rules = [...given, ...source.rules()];
  const problems = loaded.problems.map(
    ({ file, line, text }) => `${file}${line === undefined ? '' : `:${line}`} ${text}`,
  );
  return { policy: { ...source.policy(cwd), rules }, rules, problems };
}
