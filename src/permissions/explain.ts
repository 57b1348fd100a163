import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import {
  type Decision,
  PERMISSION_MODES,
  type PermissionMode,
  type Policy,
  type RuleBehavior,
  type ToolTraits,
  type TraceStep,
} from '../contracts/permission.ts';
import { getErrorPhrase } from '../lib/errors.ts';
import { omitUndefined } from '../lib/json.ts';
import { createToolFactsLookup, type DecisionSources, findToolTraits } from './create-decision-context.ts';
import { decide } from './decide.ts';
import { formatRuleSource } from './decision-context.ts';
import { findRuleProblems } from './lint-rules.ts';
import { diskFs } from './permission-fs.ts';
import { parseRule } from './rules/parse-rule.ts';
import { getRuleFamily } from './rules/rule-families.ts';

const modeSchema = z.string().transform((text, context): PermissionMode => {
  const mode = PERMISSION_MODES.find((known) => known === text);
  if (mode !== undefined) return mode;
  context.addIssue({ code: 'custom', message: `unknown mode "${text}", valid modes: ${PERMISSION_MODES.join(', ')}` });
  return z.NEVER;
});
const ruleListSchema = z.array(z.string()).optional();
const caseSchema = z.lazy(() =>
  z.object({
    id: z.json().optional(),
    tool: z.string().min(1),
    input: z.json().default({}),
    cwd: z.string().optional(),
    mode: modeSchema.optional(),
    rules: z.object({ allow: ruleListSchema, deny: ruleListSchema, ask: ruleListSchema }).optional(),
    trusted: z.boolean().optional(),
  }),
);

/** The policy to decide by, and the tools its rules are about. */
type Basis = { readonly policy: Policy; readonly tools: readonly ToolTraits[] };

/** Explains why one call would be allowed, denied or need approval, as text or as JSON. */
export function explainCall(
  call: { readonly tool: string; readonly text: string },
  { policy, tools }: Basis,
  format: 'text' | 'json',
): { readonly ok: true; readonly output: string } | { readonly ok: false; readonly problem: string } {
  const input = parseCallInput(call.tool, call.text, tools);
  if (input === undefined) return { ok: false, problem: `The input of ${call.tool} must be a JSON object.` };
  const decision = decideCase({ tool: call.tool, input }, policy, {
    fs: diskFs,
    getToolFacts: createToolFactsLookup(tools),
  });
  const { verdict, reasons, trace, suggestions, unanalysed = [] } = decision;
  const formatted =
    format === 'text'
      ? formatDecision(decision)
      : JSON.stringify({
          verdict,
          reasons,
          trace: serializeDecisionTrace(trace),
          ...(unanalysed.length === 0 ? {} : { unanalysed }),
          suggestions: suggestions.map(({ rule }) => rule),
        });
  return { ok: true, output: formatted };
}

/** Answers one line of `--batch` input with one line of output. An invalid line never results in `allow`. */
export function explainCallBatchLine(
  text: string,
  number: number,
  { policy, tools }: Basis,
): { readonly line: JsonObject; readonly problem?: string } {
  const parsed = parseCase(text, tools);
  if (!parsed.ok) {
    const problem = `Line ${number}: ${parsed.problem}`;
    const trace = [{ stage: 'facts', verdict: 'ask', text: problem }];
    return {
      line: { ...(parsed.id === undefined ? {} : { id: parsed.id }), verdict: 'ask', error: problem, trace },
      problem,
    };
  }
  return {
    line: { ...answerCase(parsed.explainCase, policy, { fs: diskFs, getToolFacts: createToolFactsLookup(tools) }) },
  };
}

/** Explains one line of text, the main input of a call of the tool, in one line: verdict, who decides, input, why. */
export function explainCallLine(
  call: { readonly tool: string; readonly text: string },
  { policy, tools }: Basis,
  format: 'text' | 'json',
): string {
  const input = parseCallInput(call.tool, call.text, tools) ?? {};
  const sources = { fs: diskFs, getToolFacts: createToolFactsLookup(tools) };
  const explainCase = { tool: call.tool, input };
  const decision = decideCase(explainCase, policy, sources);
  const { verdict, reasons } = decision;
  const [by, why] = [findDecider(explainCase, decision, policy, sources), reasons.join(' ')];
  if (format === 'json') return JSON.stringify({ input: call.text, verdict, by, why });
  return [verdict, by, call.text, why].map((field) => field.replace(/\s+/g, ' ')).join('\t');
}

type Decider = 'rule' | 'mode' | 'list' | 'sandbox' | 'person';

/**
 * Returns who decides: a rule, the mode, the list of what only reads, the read-only sandbox without which the call would
 * ask, or the person who is asked.
 */
function findDecider(
  explainCase: ExplainCase,
  { verdict, trace, enforce }: Decision,
  base: Policy,
  sources: DecisionSources,
): Decider {
  if (verdict === 'ask') return 'person';
  const hasStep = (stage: TraceStep['stage']) => trace.some((step) => step.stage === stage && step.verdict === verdict);
  if (hasStep(verdict)) return 'rule';
  if (hasStep('mode')) return 'mode';
  if (enforce?.kind !== 'read-only') return 'list';
  const unsandboxed = decideCase(explainCase, { ...base, canEnforceReadOnly: () => false }, sources);
  return unsandboxed.verdict === 'allow' ? 'list' : 'sandbox';
}

type ParsedCase =
  | { readonly ok: true; readonly explainCase: Parameters<typeof answerCase>[0] }
  | { readonly ok: false; readonly id?: JsonValue; readonly problem: string };

function parseCase(text: string, tools: readonly ToolTraits[]): ParsedCase {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return { ok: false, problem: `not JSON (${getErrorPhrase(thrown)}).` };
  }
  const parsed = caseSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const id = z.object({ id: z.json() }).safeParse(value);
    const field = issue === undefined || issue.path.length === 0 ? 'it' : issue.path.join('.');
    return {
      ok: false,
      ...(id.success ? { id: id.data.id } : {}),
      problem: `${field}: ${issue?.message ?? 'invalid'}.`,
    };
  }
  const { id, tool, input: rawInput, cwd, mode, rules, trusted } = parsed.data;
  const input = parseCallInput(tool, rawInput, tools);
  const idField = id === undefined ? {} : { id };
  if (input === undefined) return { ok: false, ...idField, problem: `the input of ${tool} must be a JSON object.` };
  return {
    ok: true,
    explainCase: {
      ...idField,
      tool,
      input,
      ...omitUndefined({ cwd, mode, trusted }),
      ...(rules === undefined
        ? {}
        : { rules: { allow: rules.allow ?? [], deny: rules.deny ?? [], ask: rules.ask ?? [] } }),
    },
  };
}

/** Parses the input of a call: an object stays as it is, a plain text becomes the main input of the tool. */
function parseCallInput(tool: string, rawInput: JsonValue, tools: readonly ToolTraits[]): JsonObject | undefined {
  if (isJsonObject(rawInput)) return rawInput;
  if (typeof rawInput !== 'string') return undefined;
  const key = findToolTraits(tools, tool)?.mainInput;
  // A command may itself start with a brace.
  const isObject = rawInput.trimStart().startsWith('{') && getRuleFamily(tool) !== 'command';
  if (key !== undefined && !isObject) return { [key]: rawInput };
  if (rawInput.trim() === '') return {};
  try {
    const parsed: JsonValue = JSON.parse(rawInput);
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the problems of the rules, each as text and as JSON. */
export function formatRuleProblems(
  { rules }: Pick<Policy, 'rules'>,
  tools: readonly ToolTraits[],
): readonly { readonly text: string; readonly data: JsonObject }[] {
  return findRuleProblems(rules, tools).map(({ rule, kind, text }) => {
    const { behavior, source, file, line } = rule;
    const location = { ...omitUndefined({ file, line }) };
    return { text: `${kind}: ${text}`, data: { kind, rule: rule.text, behavior, source, ...location, text } };
  });
}

/** One call to explain, as `ouro permissions explain` and each line of `--batch` describe it. */
type ExplainCase = {
  readonly id?: JsonValue;
  readonly tool: string;
  readonly input: JsonObject;
  readonly cwd?: string;
  readonly mode?: PermissionMode;
  readonly rules?: { readonly [behavior in RuleBehavior]?: readonly string[] };
  /** Defaults to true for a case with its own folder or rules. */
  readonly trusted?: boolean;
};

/** One line of `--batch` output. */
type ExplainAnswer = {
  readonly id?: JsonValue;
  readonly verdict: RuleBehavior;
  readonly by: Decider;
  readonly trace: readonly JsonValue[];
};

/** Decides one case. Its rules replace those of the policy, its folder becomes the workspace. */
function decideCase(explainCase: ExplainCase, base: Policy, { fs, getToolFacts }: DecisionSources): Decision {
  const rules = explainCase.rules;
  const behaviors: readonly RuleBehavior[] = ['deny', 'ask', 'allow'];
  const cwd = explainCase.cwd ?? base.cwd;
  const policy: Policy = {
    ...base,
    mode: explainCase.mode ?? base.mode,
    canBypass: true,
    // A case with rules or a folder of its own tests rules, not the trust in this machine's folders.
    trusted: explainCase.trusted ?? (base.trusted || explainCase.cwd !== undefined || rules !== undefined),
    cwd,
    workspaceRoots: explainCase.cwd === undefined ? base.workspaceRoots : [explainCase.cwd],
    rules:
      rules === undefined
        ? base.rules
        : behaviors.flatMap((behavior) =>
            (rules[behavior] ?? []).map((text) => parseRule(text, behavior, { source: 'flag', root: cwd })),
          ),
  };
  return decide(getToolFacts(explainCase.tool, explainCase.input, cwd), policy, fs);
}

/** Returns the verdict and trace of one case, as a line of `--batch` output. */
function answerCase(explainCase: ExplainCase, base: Policy, sources: DecisionSources): ExplainAnswer {
  const decision = decideCase(explainCase, base, sources);
  return {
    ...(explainCase.id === undefined ? {} : { id: explainCase.id }),
    verdict: decision.verdict,
    by: findDecider(explainCase, decision, base, sources),
    trace: serializeDecisionTrace(decision.trace),
  };
}

/** Converts a trace to JSON, for the transcript, CI and SDK hosts. */
export function serializeDecisionTrace(trace: readonly TraceStep[]): readonly JsonObject[] {
  return trace.map((step) => ({
    stage: step.stage,
    text: step.text,
    ...omitUndefined({ verdict: step.verdict, subject: step.subject, mode: step.mode }),
    ...(step.rule === undefined
      ? {}
      : {
          rule: step.rule.text,
          behavior: step.rule.behavior,
          source: step.rule.source,
          ...omitUndefined({ file: step.rule.file, line: step.rule.line }),
        }),
  }));
}

/** Formats a decision as text: the verdict, then every step that led to it. */
export function formatDecision(decision: Decision): string {
  const steps = decision.trace.map((step) => {
    const rule =
      step.rule === undefined
        ? ''
        : `\n           rule ${step.rule.text} · ${step.rule.behavior} · ${formatRuleSource(step.rule)}`;
    return `  ${step.stage.padEnd(8)} ${step.verdict ?? ''} ${step.text}${rule}`;
  });
  const unanalysed = (decision.unanalysed ?? []).map((text) => `  unknown  ${text}`);
  const isPartial = decision.suggestions.some(({ uncovered }) => uncovered !== undefined);
  const rules = decision.suggestions.map(
    ({ rule, covers, uncovered = [] }) => `  ${rule} (${covers}${describeUncovered(uncovered)})`,
  );
  return [
    decision.verdict,
    ...steps,
    ...unanalysed,
    ...(rules.length === 0 ? [] : [`Rules that would allow ${isPartial ? 'part of it' : 'it'}:`, ...rules]),
  ].join('\n');
}

function describeUncovered(names: readonly string[]): string {
  if (names.length === 0) return '';
  const part = names.length === 1 ? 'part asks' : 'parts ask';
  return `; the ${names.join(' and ')} ${part} every time`;
}
