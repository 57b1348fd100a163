import { realpath } from 'node:fs/promises';
import type { Environment } from '../../contracts/environment.ts';
import type { CliRunOptions } from '../../contracts/frontend/cli-run-options.ts';
import type { PermissionMode, Policy, Rule, RuleBehavior } from '../../contracts/permission.ts';
import { explainCall, explainCallBatchLine, formatRuleProblems } from '../../permissions/explain.ts';
import { createPermissionPolicySource } from '../../permissions/permission-policy-source.ts';
import { parseRuleTexts } from '../../permissions/rules/parse-rule.ts';
import { createReadOnlySandbox } from '../../sandbox/read-only/read-only-sandbox.ts';
import { TOOL_TRAITS } from '../../tools/tool-traits.ts';
import { readSettings } from '../read-settings.ts';
import { loadFolderTrust } from '../trust/folder-trust.ts';

/** The options of `ouro permissions`. */
export type PermissionExplainerOptions = {
  readonly cwd: string;
  readonly mode?: PermissionMode;
  readonly rules: { readonly [behavior in RuleBehavior]: readonly string[] };
  readonly trust?: 'this-run';
};

/** Explains decisions by the rules of a folder, without running anything. */
export type PermissionExplainer = {
  readonly rules: readonly Rule[];
  /** Problems of the settings files. */
  readonly problems: readonly string[];
  readonly explainCall: (
    call: { readonly tool: string; readonly text: string },
    format: 'text' | 'json',
  ) => ExplainedCall;
  /** Answers one line of `--batch`; the number is for error messages. */
  readonly explainLine: (text: string, number: number) => ReturnType<typeof explainCallBatchLine>;
  readonly listRuleProblems: () => ReturnType<typeof formatRuleProblems>;
};
type ExplainedCall = ReturnType<typeof explainCall>;

/** Creates an explainer with the policy of a new session in a folder, plus rules of the command line. */
export async function openPermissionExplainer(
  options: PermissionExplainerOptions,
  environment: Environment,
): Promise<PermissionExplainer> {
  const cwd = await realpath(options.cwd);
  const trust = await loadFolderTrust(cwd, environment, options.trust);
  const runOptions: Pick<CliRunOptions, 'cwd' | 'addDirs'> = { cwd, addDirs: [] };
  const loaded = await readSettings(runOptions, environment, trust.isTrusted, trust.isApproved);
  const mode = options.mode ?? loaded.merged.permissions?.defaultMode ?? 'default';
  const source = createPermissionPolicySource({
    options: runOptions,
    environment,
    cwd,
    trusted: trust.isTrusted,
    getLoadedSettings: () => loaded,
    getLive: () => ({ mode, grants: [], directories: [] }),
    canBypass: true,
    canEnforceReadOnly: () => readOnlySandbox.canEnforceReadOnly(),
  });
  const readOnlySandbox = createReadOnlySandbox({
    environment,
    sessionFolder: environment.ouroHome,
    getPolicy: source.getUnsandboxedPolicy,
    now: Date.now,
  });
  const behaviors: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];
  const extraRules = behaviors.flatMap((behavior) =>
    parseRuleTexts(options.rules[behavior], behavior, { source: 'flag', root: cwd }),
  );
  const rules = [...extraRules, ...source.getRules()];
  const problems = loaded.problems.map(
    ({ file, line, text }) => `${file}${line === undefined ? '' : `:${line}`} ${text}`,
  );
  const policy: Policy = { ...source.getPolicy(cwd), rules };
  const basis = { policy, tools: TOOL_TRAITS };
  return {
    rules,
    problems,
    explainCall: (call, format) => explainCall(call, basis, format),
    explainLine: (text, number) => explainCallBatchLine(text, number, basis),
    listRuleProblems: () => formatRuleProblems(policy, basis.tools),
  };
}
