import type { JsonObject, JsonValue } from '../contracts/json.ts';
import type { Decision, PermissionMode, Policy, RuleBehavior, TraceStep } from '../contracts/permission.ts';
import { decide } from './decide.ts';
import type { FactsOf } from './facts.ts';
import { sourceOf } from './paths/finding.ts';
import type { PermissionFs } from './paths/fs.ts';
import { parseRule } from './rules/rules.ts';

/** One question to the rules, as `ouro permissions explain` and each line of `--batch` put it. */
export type ExplainCase = {
  readonly id?: JsonValue;
  readonly tool: string;
  readonly input: JsonObject;
  readonly cwd?: string;
  readonly mode?: PermissionMode;
  readonly rules?: { readonly [behavior in RuleBehavior]?: readonly string[] };
  /** A case with a folder or rules of its own is about a trusted folder unless it says otherwise. */
  readonly trusted?: boolean;
};

export type ExplainAnswer = {
  readonly id?: JsonValue;
  readonly verdict: RuleBehavior;
  readonly trace: readonly JsonValue[];
};

/** What a decision has to see beside the policy: the disk, and what tools say of their calls. */
export type Sight = { readonly fs: PermissionFs; readonly factsOf: FactsOf };

/** Decides one case; rules given with it replace those of the policy, its folder becomes the workspace. */
export function decideCase(given: ExplainCase, base: Policy, { fs, factsOf }: Sight): Decision {
  const rules = given.rules;
  const behaviors: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];
  const cwd = given.cwd ?? base.cwd;
  const policy: Policy = {
    ...base,
    mode: given.mode ?? base.mode,
    canBypass: true,
    trusted: given.trusted ?? (base.trusted || given.cwd !== undefined || rules !== undefined),
    cwd,
    workspaceRoots: given.cwd === undefined ? base.workspaceRoots : [given.cwd],
    rules:
      rules === undefined
        ? base.rules
        : behaviors.flatMap((behavior) =>
            (rules[behavior] ?? []).map((text) => parseRule(text, behavior, { source: 'flag', root: cwd })),
          ),
  };
  return decide(factsOf(given.tool, given.input, cwd), policy, fs);
}

/** One answer of `--batch`. */
export function answerCase(given: ExplainCase, base: Policy, sight: Sight): ExplainAnswer {
  const decision = decideCase(given, base, sight);
  return {
    ...(given.id === undefined ? {} : { id: given.id }),
    verdict: decision.verdict,
    trace: traceJson(decision.trace),
  };
}

/** A trace as plain data: for the transcript, for CI, for hosts. */
export function traceJson(trace: readonly TraceStep[]): readonly JsonObject[] {
  return trace.map((step) => ({
    stage: step.stage,
    text: step.text,
    ...(step.verdict === undefined ? {} : { verdict: step.verdict }),
    ...(step.subject === undefined ? {} : { subject: step.subject }),
    ...(step.mode === undefined ? {} : { mode: step.mode }),
    ...(step.rule === undefined
      ? {}
      : {
          rule: step.rule.text,
          behavior: step.rule.behavior,
          source: step.rule.source,
          ...(step.rule.file === undefined ? {} : { file: step.rule.file }),
          ...(step.rule.line === undefined ? {} : { line: step.rule.line }),
        }),
  }));
}

/** A decision for people: the verdict, then every step that led to it. */
export function explainText(decision: Decision): string {
  const steps = decision.trace.map((step) => {
    const rule =
      step.rule === undefined
        ? ''
        : `\n           rule ${step.rule.text} · ${step.rule.behavior} · ${sourceOf(step.rule)}`;
    return `  ${step.stage.padEnd(8)} ${step.verdict ?? ''} ${step.text}${rule}`;
  });
  const unread = (decision.unanalysed ?? []).map((text) => `  unread   ${text}`);
  const isPart = decision.suggestions.some((each) => each.leaves !== undefined);
  const rules = decision.suggestions.map((each) => `  ${each.rule} (${each.covers})`);
  return [
    decision.verdict,
    ...steps,
    ...unread,
    ...(rules.length === 0 ? [] : [`Rules that would allow ${isPart ? 'a part of it' : 'it'}:`, ...rules]),
  ].join('\n');
}
