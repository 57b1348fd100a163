import type {
  Decision,
  PermissionMode,
  Policy,
  RealTarget,
  Rule,
  ToolFacts,
  TraceStep,
} from '../contracts/permission.ts';
import { mayJudge } from './judge/may-judge.ts';
import { leavingSandbox } from './outside/leave-sandbox.ts';
import { openingSandbox } from './outside/open-places.ts';
import { contextOf, type DecisionContext, resolveIn } from './paths/context.ts';
import type { Findings, Need } from './paths/finding.ts';
import { boundedFs, type PermissionFs } from './paths/fs.ts';
import { toolFindings, toolObjections } from './tool-findings.ts';

/**
 * The one decision about a call: deny rules, breakers, asking rules, the mode, then what allows it. Whatever goes
 * wrong on the way, somebody is asked.
 */
export function decide(facts: ToolFacts, policy: Policy, fs: PermissionFs): Decision {
  try {
    const context = contextOf(facts, policy, boundedFs(fs));
    const found = openingSandbox(context, leavingSandbox(context, toolFindings(context)));
    return verdictOf(context, { ...found, objections: [...toolObjections(context), ...found.objections] });
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : 'an unknown reason';
    const text = `This could not be judged (${why}), so it asks.`;
    return { ...EMPTY, verdict: 'ask', reasons: [text], trace: [{ stage: 'facts', verdict: 'ask', text }] };
  }
}

/** What becomes of a question: without somebody to answer it is a denial that says so. */
export function settle(decision: Decision, { canAsk }: { readonly canAsk: boolean }): Decision {
  if (decision.verdict !== 'ask' || canAsk) return decision;
  const text = 'Nobody is there to be asked, so it is denied.';
  const trace: readonly TraceStep[] = [...decision.trace, { stage: 'answer', verdict: 'deny', text }];
  return { ...decision, verdict: 'deny', reasons: [...decision.reasons, text], trace };
}

const EMPTY = { reasons: [], matched: [], trace: [], suggestions: [], targets: [], hardens: [] } as const;

/** The mode that counts: bypass only for those who may. */
function effectiveMode(policy: Policy): PermissionMode {
  return policy.mode === 'bypassPermissions' && !policy.canBypass ? 'default' : policy.mode;
}

function verdictOf(context: DecisionContext, found: Findings): Decision {
  const mode = effectiveMode(context.policy);
  const objections = distinct(found.objections);
  const at = (stage: TraceStep['stage'], verdict?: TraceStep['verdict']) =>
    objections.filter((step) => step.stage === stage && (verdict === undefined || step.verdict === verdict));
  const denied = [...at('deny'), ...at('breaker', 'deny')];
  if (denied.length > 0) return ended(context, found, 'deny', denied, [...denied]);
  const strict = mode === 'plan' || mode === 'dontAsk' ? 'deny' : 'ask';
  const broken = at('breaker');
  const asked = at('ask');
  const needs = found.needs.map((need) => judged(need, mode, context));
  const unanswered = found.needs.filter((_, at) => needs[at]?.verdict === 'ask');
  const refused = needs.filter((step) => step.verdict === 'deny');
  if (refused.length > 0) return ended(context, found, 'deny', refused, [...broken, ...asked, ...needs]);
  if (broken.length > 0) {
    const steps =
      strict === 'deny' ? [...broken, modeStep(mode, 'deny', 'nothing that needs a question runs')] : broken;
    return ended(context, found, strict, broken, [...steps, ...asked, ...needs]);
  }
  if (asked.length > 0) {
    const verdict = mode === 'dontAsk' ? 'deny' : 'ask';
    const steps = verdict === 'deny' ? [...asked, modeStep(mode, 'deny', 'nobody is to be asked')] : asked;
    return ended(context, found, verdict, asked, [...steps, ...needs], unanswered);
  }
  const open = needs.filter((step) => step.verdict === 'ask');
  if (open.length > 0 || needs.length === 0) {
    const asking = ended(context, found, 'ask', open, needs, unanswered);
    return mode === 'auto' && mayJudge(context.facts, unanswered) ? { ...asking, mayBeJudged: true } : asking;
  }
  return ended(context, found, 'allow', needs, needs);
}

/** One need under the mode: what covers it, what the mode covers or refuses, and otherwise a question. */
function judged(need: Need, mode: PermissionMode, context: DecisionContext): TraceStep {
  const { subject, text } = need;
  const rule = need.cover?.by === 'rule' ? need.cover.rule : undefined;
  if (need.cover?.by === 'default') return { stage: 'default', verdict: 'allow', subject, text };
  const changes = need.kind !== 'read' && need.kind !== 'fetch';
  if (mode === 'plan' && (changes || (need.kind === 'fetch' && rule === undefined))) {
    return {
      ...modeStep(mode, 'deny', 'only looking around is allowed'),
      subject,
      text: `${text} In plan mode only reading is allowed.`,
    };
  }
  if (rule !== undefined) return { stage: 'allow', verdict: 'allow', subject, rule, text };
  if (mode === 'bypassPermissions') {
    const { asks = 'by mode' } = need;
    if (asks === 'by mode') return modeStep(mode, 'allow', 'everything no rule objects to runs', subject);
    const why = asks === 'in every mode' ? ' With rules against some calls, what cannot be read asks.' : '';
    return { stage: 'mode', verdict: 'ask', mode, subject, text: `${text}${why}` };
  }
  if ((mode === 'acceptEdits' || mode === 'auto') && need.edits === 'workspace')
    return modeStep(mode, 'allow', 'edits in the workspace run', subject);
  if (mode === 'dontAsk')
    return {
      ...modeStep(mode, 'deny', 'only what a rule allows runs'),
      subject,
      text: `${text} In mode dontAsk it would need an allow rule.`,
    };
  if (staysInside(need, context))
    return { stage: 'default', verdict: 'allow', subject, text: `${subject} stays inside the sandbox.` };
  return { stage: 'default', verdict: 'ask', subject, text };
}

/** Reading asks as ever: what is read reaches the model, wherever the command runs. */
function staysInside({ kind, edits, asks = 'by mode' }: Need, { facts, policy }: DecisionContext): boolean {
  if (policy.sandbox !== 'unasked' || facts.kind !== 'shell' || facts.outside !== undefined) return false;
  return asks === 'by mode' && (kind === 'command' || edits === 'workspace');
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

function ended(
  context: DecisionContext,
  found: Findings,
  verdict: Decision['verdict'],
  because: readonly TraceStep[],
  trace: readonly TraceStep[],
  open: readonly Need[] = found.needs,
): Decision {
  const steps = distinct(trace);
  const matched = [...new Set(steps.flatMap((step): readonly Rule[] => (step.rule === undefined ? [] : [step.rule])))];
  const breaker = found.objections.some((step) => step.stage === 'breaker');
  return {
    verdict,
    reasons:
      because.length === 0 ? ['Nothing is known about this call.'] : [...new Set(because.map((step) => step.text))],
    matched,
    trace: steps,
    ...(found.unanalysed.length === 0 ? {} : { unanalysed: found.unanalysed }),
    suggestions: verdict !== 'ask' || breaker || found.unanalysed.length > 0 ? [] : suggestionsOf(open),
    targets: targetsOf(context),
    // What a person agrees to leaves secrets out, too.
    ...(found.copies === undefined || found.copies.length === 0 ? {} : { copies: found.copies }),
    ...(found.opens === undefined || verdict === 'deny' ? {} : { opens: found.opens }),
    ...writesOf(found.needs),
    hardens: verdict === 'allow' ? found.hardens : found.hardens.filter((each) => each === 'search'),
  };
}

function writesOf(needs: readonly Need[]): Pick<Decision, 'writes'> {
  const writes = needs.flatMap(({ path }) => (path === undefined ? [] : [path]));
  return writes.length === 0 ? {} : { writes: [...new Set(writes)] };
}

/** One rule for each open need. Commands without one are named: they go on asking. Anything else and none is offered. */
function suggestionsOf(needs: readonly Need[]): Decision['suggestions'] {
  const open = needs.filter((need) => need.cover === undefined);
  const rules = open.flatMap((need) => (need.suggestion === undefined ? [] : [need.suggestion]));
  const once = rules.filter((rule, index) => rules.findIndex((other) => other.rule === rule.rule) === index);
  const rest = open.filter((need) => need.suggestion === undefined);
  if (rest.length === 0) return once;
  if (rest.some((need) => need.kind !== 'command')) return [];
  const names = [...new Set(rest.map((need) => need.subject.split(/\s/, 1)[0] ?? ''))];
  const leaves = `the ${names.join(' and ')} ${names.length === 1 ? 'part' : 'parts'}`;
  const asks = names.length === 1 ? 'asks' : 'ask';
  return once.map((rule) => ({ ...rule, covers: `${rule.covers}; ${leaves} ${asks} every time`, leaves }));
}

function targetsOf(context: DecisionContext): readonly RealTarget[] {
  const { reads = [], writes = [], opens = [] } = context.facts;
  return [...reads, ...writes, ...opens].flatMap((path) => {
    const resolved = resolveIn(context, context.policy.cwd, path);
    return resolved.real === resolved.lexical ? [] : [{ path: resolved.lexical, real: resolved.real }];
  });
}

function distinct(steps: readonly TraceStep[]): readonly TraceStep[] {
  const seen = new Set<string>();
  return steps.filter((step) => {
    const key = `${step.stage}\n${step.verdict}\n${step.text}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
