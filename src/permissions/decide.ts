import type { JsonObject } from '../contracts/json.ts';
import type {
  Decision,
  PermissionMode,
  Policy,
  ResolvedLink,
  Rule,
  ToolFacts,
  TraceStep,
} from '../contracts/permission.ts';
import { canJudgeDecideCall } from './auto-mode.ts';
import { hasLookalikeText } from './call-risks.ts';
import { collectCallFindings, listToolBlockers } from './collect-call-findings.ts';
import { createDecisionContext, type DecisionSources } from './create-decision-context.ts';
import { type AnalysisFindings, type DecisionContext, type Requirement, resolveCallPath } from './decision-context.ts';
import { createBoundedFs, type PermissionFs } from './permission-fs.ts';
import { parseRule } from './rules/parse-rule.ts';
import { addRunOutsideFindings, addSandboxDenialFindings } from './sandbox-exceptions/run-outside.ts';

import { addWritePathFindings } from './sandbox-exceptions/write-paths.ts';

/** Decides about a call: deny rules, breakers, ask rules, the mode, what allows it. Errors mean `ask`. */
export function decide(facts: ToolFacts, policy: Policy, fs: PermissionFs): Decision {
  return decideAndRecordPaths(facts, policy, fs).decision;
}

/** A decision with the real path of everything that was looked up for it, by its path as written. */
export type DecisionWithPaths = { readonly decision: Decision; readonly realPaths: ReadonlyMap<string, string> };

/** Decides about a call, and returns the paths that the decision is based on. */
export function decideAndRecordPaths(facts: ToolFacts, policy: Policy, fs: PermissionFs): DecisionWithPaths {
  const realPaths = new Map<string, string>();
  return { decision: decideRecorded(facts, policy, fs, realPaths), realPaths };
}

function decideRecorded(facts: ToolFacts, policy: Policy, fs: PermissionFs, realPaths: Map<string, string>): Decision {
  try {
    const context = createDecisionContext(facts, policy, createBoundedFs(fs), ({ lexical, real }) =>
      realPaths.set(lexical, real),
    );
    // The folder that the call runs in is part of what it does.
    resolveCallPath(context, policy.cwd, '.');
    const collected = addSandboxDenialFindings(context, collectCallFindings(context));
    const findings = addWritePathFindings(context, addRunOutsideFindings(context, collected));
    return combineFindings(context, {
      ...findings,
      blockers: [...listToolBlockers(context), ...findings.blockers],
    });
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : 'an unknown reason';
    const text = `The call could not be analysed (${why}), so it needs approval.`;
    return { ...EMPTY_DECISION, verdict: 'ask', reasons: [text], trace: [{ stage: 'facts', verdict: 'ask', text }] };
  }
}

/** Turns an `ask` into a denial that says so, in a run where approval cannot be requested. */
export function denyIfUnattended(
  decision: Decision,
  { canAsk, note: text = 'This run cannot ask for approval, so it is denied.' }: UnattendedRun,
): Decision {
  if (decision.verdict !== 'ask' || canAsk) return decision;
  const trace: readonly TraceStep[] = [...decision.trace, { stage: 'answer', verdict: 'deny', text }];
  return { ...decision, verdict: 'deny', reasons: [...decision.reasons, text], trace };
}

/** Tells whether approval can be requested; `note` says why it could not. */
type UnattendedRun = { readonly canAsk: boolean; readonly note?: string };

const EMPTY_DECISION = { reasons: [], matched: [], trace: [], suggestions: [], targets: [], hardens: [] } as const;

/** Returns the mode in effect: `bypassPermissions` counts only where it was confirmed. */
function resolveMode(policy: Policy): PermissionMode {
  return policy.mode === 'bypassPermissions' && !policy.canBypass ? 'default' : policy.mode;
}

function combineFindings(context: DecisionContext, findings: AnalysisFindings): Decision {
  const mode = resolveMode(context.policy);
  const blockers = dedupeSteps(findings.blockers);
  const blockersAt = (stage: TraceStep['stage'], verdict?: TraceStep['verdict']) =>
    blockers.filter((step) => step.stage === stage && (verdict === undefined || step.verdict === verdict));
  const denials = [...blockersAt('deny'), ...blockersAt('breaker', 'deny')];
  if (denials.length > 0) return createDecision(context, findings, 'deny', denials, [...denials]);
  const strict = mode === 'plan' || mode === 'dontAsk' ? 'deny' : 'ask';
  const breakers = blockersAt('breaker');
  const askRules = blockersAt('ask');
  const steps = findings.requirements.map((requirement) => evaluateRequirement(requirement, mode, context));
  const unanswered = findings.requirements.filter((_, index) => steps[index]?.verdict === 'ask');
  const refused = steps.filter((step) => step.verdict === 'deny');
  if (refused.length > 0)
    return {
      ...createDecision(context, findings, 'deny', refused, [...breakers, ...askRules, ...steps]),
      ...listParts(findings, steps),
    };
  if (breakers.length > 0) {
    const trace =
      strict === 'deny' ? [...breakers, modeStep(mode, 'deny', 'nothing that needs approval runs')] : breakers;
    return createDecision(context, findings, strict, breakers, [...trace, ...askRules, ...steps]);
  }
  if (askRules.length > 0) {
    const verdict = mode === 'dontAsk' ? 'deny' : 'ask';
    const trace =
      verdict === 'deny' ? [...askRules, modeStep(mode, 'deny', 'nothing that needs approval runs')] : askRules;
    return createDecision(context, findings, verdict, askRules, [...trace, ...steps], unanswered);
  }
  const asking = steps.filter((step) => step.verdict === 'ask');
  if (asking.length > 0 || steps.length === 0) {
    const decision = {
      ...createDecision(context, findings, 'ask', asking, steps, unanswered),
      ...listParts(findings, steps),
    };
    return mode === 'auto' && canJudgeDecideCall(context.facts, unanswered)
      ? { ...decision, mayBeJudged: true }
      : decision;
  }
  return createDecision(context, findings, 'allow', steps, steps);
}

/** Lists the parts of a command line that are refused, and those that would run alone; nothing if there are not both. */
function listParts(
  { requirements, unanalysed }: AnalysisFindings,
  steps: readonly TraceStep[],
): Pick<Decision, 'parts'> {
  // A requirement of the line as a whole says nothing about its parts.
  const isOfLine = requirements.some(({ part }, index) => part === undefined && steps[index]?.verdict !== 'allow');
  const parts = [...new Set(requirements.flatMap(({ part }) => part ?? []))];
  const isAllowed = (part: string) =>
    requirements.every((requirement, index) => requirement.part !== part || steps[index]?.verdict === 'allow');
  const allowed = parts.filter(isAllowed);
  const hasBoth = allowed.length > 0 && allowed.length < parts.length && !isOfLine && unanalysed.length === 0;
  return hasBoth ? { parts: { refused: parts.filter((part) => !isAllowed(part)), allowed } } : {};
}

/** Evaluates one requirement: a rule or default may allow it, then the mode allows or denies it, otherwise it asks. */
function evaluateRequirement(requirement: Requirement, mode: PermissionMode, context: DecisionContext): TraceStep {
  const { subject, text, reason } = requirement;
  const rule = requirement.allowedBy?.by === 'rule' ? requirement.allowedBy.rule : undefined;
  if (requirement.allowedBy?.by === 'default') return { stage: 'default', verdict: 'allow', subject, text };
  const changes = requirement.kind !== 'read' && requirement.kind !== 'fetch';
  if (mode === 'plan' && (changes || (requirement.kind === 'fetch' && rule === undefined))) {
    return {
      ...modeStep(mode, 'deny', 'only reading is allowed'),
      subject,
      text: `${text} In plan mode only reading is allowed.`,
    };
  }
  if (rule !== undefined) return { stage: 'allow', verdict: 'allow', subject, rule, text };
  if (mode === 'bypassPermissions') {
    const { asks = 'by mode' } = requirement;
    if (asks === 'by mode') return modeStep(mode, 'allow', 'everything runs that no rule denies', subject);
    const why =
      asks === 'in every mode'
        ? ' While deny or ask rules exist, a command that cannot be analysed needs approval.'
        : '';
    return { stage: 'mode', verdict: 'ask', mode, subject, text: `${text}${why}` };
  }
  if ((mode === 'acceptEdits' || mode === 'auto') && requirement.editScope === 'workspace')
    return modeStep(mode, 'allow', 'edits in the workspace are allowed', subject);
  if (mode === 'dontAsk')
    return {
      ...modeStep(mode, 'deny', 'only calls that a rule allows run'),
      subject,
      text: `${text} In mode dontAsk it would need an allow rule.`,
    };
  if (isAllowedBySandbox(requirement, context))
    return { stage: 'default', verdict: 'allow', subject, text: `${subject} runs inside the sandbox.` };
  return { stage: 'default', verdict: 'ask', subject, text, ...(reason === undefined ? {} : { reason }) };
}

/** Reads still need approval: what a command reads reaches the model, sandboxed or not. */
function isAllowedBySandbox(
  { kind, editScope, holdsIn, asks = 'by mode' }: Requirement,
  { facts, policy }: DecisionContext,
): boolean {
  if (policy.sandbox !== 'unasked' || facts.kind !== 'shell' || facts.outside !== undefined) return false;
  return asks === 'by mode' && (kind === 'command' || holdsIn !== undefined || editScope === 'workspace');
}

function modeStep(mode: PermissionMode, verdict: 'allow' | 'deny', why: string, subject?: string): TraceStep {
  return {
    stage: 'mode',
    verdict,
    mode,
    text: `In mode ${mode} ${why}.`,
    ...(subject === undefined ? {} : { subject }),
  };
}

function createDecision(
  context: DecisionContext,
  findings: AnalysisFindings,
  verdict: Decision['verdict'],
  causes: readonly TraceStep[],
  trace: readonly TraceStep[],
  unanswered: readonly Requirement[] = findings.requirements,
): Decision {
  const steps = dedupeSteps(trace);
  const matched = [...new Set(steps.flatMap((step): readonly Rule[] => (step.rule === undefined ? [] : [step.rule])))];
  const hasBreaker = findings.blockers.some((step) => step.stage === 'breaker');
  return {
    verdict,
    reasons:
      causes.length === 0 ? ['Nothing is known about this call.'] : [...new Set(causes.map((step) => step.text))],
    matched,
    trace: steps,
    ...(findings.unanalysed.length === 0 ? {} : { unanalysed: findings.unanalysed }),
    suggestions:
      verdict !== 'ask' || hasBreaker || findings.unanalysed.length > 0 ? [] : collectSuggestions(unanswered),
    targets: listLinkedTargets(context),
    // Kept even for a denial: copies and search hardening also apply when the user allows the call.
    ...(findings.taintedFiles === undefined || findings.taintedFiles.length === 0
      ? {}
      : { copies: findings.taintedFiles }),
    ...(findings.opens === undefined || verdict === 'deny' ? {} : { opens: findings.opens }),
    ...collectWrites(context, findings.requirements),
    ...collectSecrets(findings),
    // In bypass mode everything may run, so a command that needs more than reading must not fail.
    ...(verdict === 'allow' && findings.enforce !== undefined && resolveMode(context.policy) !== 'bypassPermissions'
      ? { enforce: findings.enforce }
      : {}),
    hardens: verdict === 'allow' ? findings.hardens : findings.hardens.filter((hardening) => hardening === 'search'),
  };
}

function collectWrites(
  { fs }: DecisionContext,
  requirements: readonly Requirement[],
): Pick<Decision, 'writes' | 'creates'> {
  const writes = [...new Set(requirements.flatMap(({ path }) => path ?? []))];
  const moved = new Set(requirements.flatMap(({ path = '', movesFiles }) => (movesFiles === true ? [path] : [])));
  const creates = writes.filter((path) => !moved.has(path) && fs.lstat(path) === undefined);
  return { ...(writes.length === 0 ? {} : { writes }), ...(creates.length === 0 ? {} : { creates }) };
}

function collectSecrets({ requirements, secrets = [] }: AnalysisFindings): Pick<Decision, 'secrets'> {
  const all = [...requirements.flatMap(({ secret }) => secret ?? []), ...secrets];
  return all.length === 0 ? {} : { secrets: [...new Set(all)] };
}

/** Suggests one rule per open requirement; nothing if one has none, except commands, which are named. */
function collectSuggestions(requirements: readonly Requirement[]): Decision['suggestions'] {
  const open = requirements.filter(({ allowedBy }) => allowedBy === undefined);
  // A rule with letters that look like others would be read as another one.
  const rules = open.flatMap(({ suggestion }) =>
    suggestion === undefined || hasLookalikeText(suggestion.rule) ? [] : [suggestion],
  );
  const distinct = rules.filter((rule, index) => rules.findIndex((other) => other.rule === rule.rule) === index);
  const rest = open.filter(({ suggestion }) => suggestion === undefined);
  if (rest.length === 0) return distinct;
  if (rest.some(({ kind }) => kind !== 'command')) return [];
  const names = [...new Set(rest.map(({ subject }) => subject.split(/\s/, 1)[0] ?? ''))];
  return distinct.map((rule) => ({ ...rule, uncovered: names }));
}

function listLinkedTargets(context: DecisionContext): readonly ResolvedLink[] {
  const { reads = [], writes = [], opens = [] } = context.facts;
  return [...reads, ...writes, ...opens].flatMap((path) => {
    const resolved = resolveCallPath(context, context.policy.cwd, path);
    return resolved.real === resolved.lexical ? [] : [{ path: resolved.lexical, real: resolved.real }];
  });
}

function dedupeSteps(steps: readonly TraceStep[]): readonly TraceStep[] {
  const seen = new Set<string>();
  return steps.filter((step) => {
    const key = `${step.stage}\n${step.verdict}\n${step.text}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Returns whether a call matches a rule in its widest reading; used by hooks with a condition. */
export function matchesRule(
  text: string,
  call: { readonly tool: string; readonly input: JsonObject },
  policy: Policy,
  { fs, getToolFacts }: DecisionSources,
): boolean {
  const rule = parseRule(text, 'deny', { source: 'session', root: policy.workspaceRoots[0] ?? policy.cwd });
  // A hook with an invalid condition watches every call.
  if (rule.problem !== undefined) return true;
  return decide(getToolFacts(call.tool, call.input, policy.cwd), { ...policy, rules: [rule] }, fs).matched.includes(
    rule,
  );
}
