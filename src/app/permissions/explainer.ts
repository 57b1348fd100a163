import { realpath } from 'node:fs/promises';
import type { Environment } from '../../contracts/environment.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { PermissionMode, Policy, Rule, RuleBehavior } from '../../contracts/permission.ts';
import { explainCall, explainLine, lintPolicy } from '../../permissions/explain-call.ts';
import { rulesOfTexts } from '../../permissions/rules/collect-rules.ts';
import { TOOL_STATEMENTS } from '../../tools/statements.ts';
import { folderTrust } from '../settings/folder-trust.ts';
import { readSettings } from '../settings/read-settings.ts';
import { makePolicy } from './policy.ts';

export type ExplainWish = {
  readonly cwd: string;
  readonly mode?: PermissionMode;
  readonly rules: { readonly [behavior in RuleBehavior]: readonly string[] };
  readonly trust?: 'this-run';
};

/** What the rules of a folder say, without running anything. */
export type Explainer = {
  readonly rules: readonly Rule[];
  /** What is wrong with the settings they were read from. */
  readonly problems: readonly string[];
  readonly call: (call: { readonly tool: string; readonly text: string }, form: 'text' | 'json') => ExplainedCall;
  /** One line of a batch; its number is for people. */
  readonly line: (text: string, number: number) => ReturnType<typeof explainLine>;
  readonly lint: () => ReturnType<typeof lintPolicy>;
};
type ExplainedCall = ReturnType<typeof explainCall>;

/** Explains by the policy a conversation in this folder would begin with, with rules of the command line on top. */
export async function openExplainer(wish: ExplainWish, environment: Environment): Promise<Explainer> {
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
    mayBypass: true,
  });
  const behaviors: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];
  const given = behaviors.flatMap((behavior) =>
    rulesOfTexts(wish.rules[behavior], behavior, { source: 'flag', root: cwd }),
  );
  const rules = [...given, ...source.rules()];
  const problems = loaded.problems.map(
    ({ file, line, text }) => `${file}${line === undefined ? '' : `:${line}`} ${text}`,
  );
  const policy: Policy = { ...source.policy(cwd), rules };
  const known = { policy, tools: TOOL_STATEMENTS };
  return {
    rules,
    problems,
    call: (call, form) => explainCall(call, known, form),
    line: (text, number) => explainLine(text, number, known),
    lint: () => lintPolicy(policy, known.tools),
  };
}
