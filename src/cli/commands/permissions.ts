import { createReadStream } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readSettings } from '../../app/read-settings.ts';
import { loadFolderTrust } from '../../app/trust/folder-trust.ts';
import type { FlagValuesOf } from '../../command/define-flag.ts';
import { parseFlagValues } from '../../command/flag-values.ts';
import { type ProcessIo, readNonBlankLines } from '../../command/process-io.ts';
import { SUBCOMMANDS, type SubcommandInput } from '../../command/subcommands.ts';
import { UsageError } from '../../command/usage-error.ts';
import type { Environment } from '../../contracts/environment.ts';
import type { CliRunOptions } from '../../contracts/frontend/cli-run-options.ts';
import type { PermissionMode, Policy, RuleBehavior } from '../../contracts/permission.ts';
import { getErrorPhrase } from '../../lib/errors.ts';
import { formatCount } from '../../lib/text/format.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { explainCall, explainCallBatchLine, explainCallLine, formatRuleProblems } from '../../permissions/explain.ts';
import { createPermissionPolicySource } from '../../permissions/permission-policy-source.ts';
import { parseRuleTexts } from '../../permissions/rules/parse-rule.ts';
import { createPrivateTmp } from '../../sandbox/private-tmp.ts';
import { createReadOnlySandbox } from '../../sandbox/read-only/read-only-sandbox.ts';
import { TOOL_TRAITS } from '../../tools/tool-traits.ts';

type Flags = FlagValuesOf<typeof SUBCOMMANDS.permissions.flags>;

const USAGE = `Usage: ouro permissions explain <Tool> '<input>', ouro permissions explain --batch Bash [file], ouro permissions explain --batch < cases, or ouro permissions lint.`;

/** Runs `ouro permissions explain|lint`: prints what the permission rules decide, without running anything. */
export async function runPermissionsSubcommand({ args, flags: rawFlags, io }: SubcommandInput): Promise<number> {
  const flags = parseFlagValues(SUBCOMMANDS.permissions.flags, rawFlags);
  const [action, tool, ...input] = args;
  const explainer = await loadPermissionExplainer(createExplainRequest(flags, io), io.environment);
  for (const problem of explainer.problems) io.stderr.write(`${sanitize(problem, 'line')}\n`);
  switch (action) {
    case 'lint': {
      const findings = explainer.listRuleProblems();
      const noFindings = `${formatCount(explainer.rules.length, 'rule')} checked, no problems found.\n`;
      const jsonFindings = findings.map(({ data }) => data);
      if (flags.json) io.stdout.write(`${JSON.stringify(jsonFindings, null, 2)}\n`);
      else io.stdout.write(findings.length === 0 ? noFindings : formatFindings(findings));
      return findings.length === 0 && explainer.problems.length === 0 ? 0 : 1;
    }
    case 'explain': {
      if (tool === undefined && flags.batch === true) return explainBatch(explainer, io);
      if (tool === undefined || (flags.batch === true && input.length > 1)) throw new UsageError(USAGE);
      if (flags.batch === true) return explainLines(explainer, { tool, file: input[0], json: flags.json === true }, io);
      const answer = explainer.explainCall({ tool, text: input.join(' ') }, flags.json ? 'json' : 'text');
      if (!answer.ok) throw new UsageError(answer.problem);
      io.stdout.write(`${flags.json ? answer.output : sanitize(answer.output, 'prompt')}\n`);
      return 0;
    }
    default:
      throw new UsageError(USAGE);
  }
}

/** Explains each line of a file, or of stdin, as one call of the tool. */
async function explainLines(
  explainer: PermissionExplainer,
  { tool, file, json }: { readonly tool: string; readonly file: string | undefined; readonly json: boolean },
  io: ProcessIo,
): Promise<number> {
  const chunks = file === undefined ? io.stdin.chunks() : createReadStream(resolve(io.cwd, file));
  try {
    for await (const { text } of readNonBlankLines(chunks)) {
      const line = explainer.explainText({ tool, text }, json ? 'json' : 'text');
      io.stdout.write(`${json ? line : sanitize(line, 'prompt')}\n`);
    }
  } catch (thrown) {
    if (file === undefined) throw thrown;
    throw new UsageError(`${file} cannot be read: ${getErrorPhrase(thrown)}.`);
  }
  return 0;
}

/** Explains JSON lines from stdin, in order; the exit code is 1 when a line could not be parsed. */
async function explainBatch(explainer: PermissionExplainer, io: ProcessIo): Promise<number> {
  let code = 0;
  for await (const { number, text } of readNonBlankLines(io.stdin.chunks())) {
    const { line, problem } = explainer.explainLine(text, number);
    io.stdout.write(`${JSON.stringify(line)}\n`);
    if (problem === undefined) continue;
    io.stderr.write(`${sanitize(problem, 'line')}\n`);
    code = 1;
  }
  return code;
}

function createExplainRequest(
  { mode, allow, deny, ask, cwd, trust }: Flags,
  io: ProcessIo,
): PermissionExplainerOptions {
  return {
    cwd: resolve(io.cwd, cwd ?? '.'),
    rules: { allow, deny, ask },
    ...(mode === undefined ? {} : { mode }),
    ...(trust ? { trust: 'this-run' } : {}),
  };
}

function formatFindings(findings: ReturnType<PermissionExplainer['listRuleProblems']>): string {
  return findings.map(({ text }) => `${sanitize(text, 'line')}\n`).join('');
}

/** The options of `ouro permissions`. */
type PermissionExplainerOptions = {
  readonly cwd: string;
  readonly mode?: PermissionMode;
  readonly rules: { readonly [behavior in RuleBehavior]: readonly string[] };
  readonly trust?: 'this-run';
};

/** Explains decisions by the rules of a folder, without running anything. */
type PermissionExplainer = Awaited<ReturnType<typeof loadPermissionExplainer>>;
type ExplainedCall = ReturnType<typeof explainCall>;

/** Creates an explainer with the policy of a new session in a folder, plus rules of the command line. */
export async function loadPermissionExplainer(options: PermissionExplainerOptions, environment: Environment) {
  const cwd = await realpath(options.cwd);
  const trust = await loadFolderTrust(cwd, environment, options.trust);
  const runOptions: Pick<CliRunOptions, 'cwd' | 'addDirs'> = { cwd, addDirs: [] };
  const loaded = await readSettings(runOptions, environment, trust.isTrusted, trust.isApproved);
  const mode = options.mode ?? loaded.merged.permissions?.defaultMode ?? 'default';
  const source = createPermissionPolicySource(
    {
      ...{ options: runOptions, environment, cwd, trusted: trust.isTrusted, canBypass: true },
      getLoadedSettings: () => loaded,
      getLive: () => ({ mode, grants: [], directories: [] }),
    },
    { getSandboxPolicy: () => ({ canEnforceReadOnly: readOnlySandbox.canEnforceReadOnly }) },
  );
  const readOnlySandbox = createReadOnlySandbox({
    environment,
    sessionFolder: environment.ouroHome,
    getPolicy: source.getUnsandboxedPolicy,
    privateTmp: createPrivateTmp(Date.now),
    now: Date.now,
  });
  const behaviors: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];
  const extraRules = behaviors.flatMap((behavior) =>
    parseRuleTexts(options.rules[behavior], behavior, { source: 'flag', root: cwd }),
  );
  const rules = [...extraRules, ...source.getRules()];
  /** Problems of the settings files. */
  const problems = loaded.problems.map(
    ({ file, line, text }) => `${file}${line === undefined ? '' : `:${line}`} ${text}`,
  );
  const policy: Policy = { ...source.getPolicy(cwd), rules };
  const basis = { policy, tools: TOOL_TRAITS };
  return {
    rules,
    problems,
    explainCall: (call: { readonly tool: string; readonly text: string }, format: 'text' | 'json'): ExplainedCall =>
      explainCall(call, basis, format),
    explainText: (call: { readonly tool: string; readonly text: string }, format: 'text' | 'json'): string =>
      explainCallLine(call, basis, format),
    /** Answers one line of `--batch`; the number is for error messages. */
    explainLine: (text: string, number: number): ReturnType<typeof explainCallBatchLine> =>
      explainCallBatchLine(text, number, basis),
    listRuleProblems: (): ReturnType<typeof formatRuleProblems> => formatRuleProblems(policy, basis.tools),
  };
}
