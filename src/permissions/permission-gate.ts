import { type CallDenial, describeRefusal } from '../contracts/denial.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { Decision, PermissionAnswer, Policy, RememberDestination, ToolFacts } from '../contracts/permission.ts';
import type { BeforeCall } from '../contracts/query.ts';
import type { CallRequest, GateVerdict } from '../contracts/tool.ts';
import { omitUndefined } from '../lib/json.ts';
import { type AnsweredScripts, createAnsweredScripts, getRuleKey } from './answered-scripts.ts';
import { type ApprovalDeps, decideWithInput, type PendingApproval, requestApproval } from './approval.ts';
import { getAnswerRememberScope, listCallRisks } from './call-risks.ts';
import { allowTrial, isWorthTrying, judgeTrial } from './command-trial.ts';
import { type DecisionWithPaths, decideAndRecordPaths, denyIfUnattended } from './decide.ts';
import { type DeniedCall, formatDenialMessage, getCallDenial } from './denial-message.ts';
import {
  askAboutScript,
  findChangedScript,
  findUnknownScript,
  listNamedScripts,
  type ScriptHashes,
} from './named-scripts.ts';
import { formatRule } from './rules/parse-rule.ts';

/** The dependencies of a gate. */
export type PermissionGateDeps = ApprovalDeps & {
  /** Returns the rules and folders in effect now, for a call's working directory. */
  readonly getPolicy: (cwd: string) => Policy;
  /** Called with every finished decision, before the call runs. */
  readonly onDecision: (entry: GateDecisionRecord) => void;
  /** Stores rules for "always allow"; awaited, so the next call already sees them. */
  readonly rememberRules: (rules: readonly string[], destination: RememberDestination) => Promise<void>;
  readonly changeMode: (mode: Policy['mode']) => void;
  /** Turns on the sandbox of commands for the session. */
  readonly turnOnSandbox?: () => void;
  /** Record of the scripts that answers are about; by default one for this gate. */
  readonly answeredScripts?: AnsweredScripts | undefined;
};

/** One finished decision, for the transcript, the result message and `/permissions`. */
export type GateDecisionRecord = {
  readonly request: CallRequest;
  readonly input: JsonObject;
  readonly verdict: 'allow' | 'deny';
  readonly by: 'decision' | 'hook' | 'judge' | 'answer';
  readonly decision: Decision;
  /** Text the model reads about a denial. */
  readonly message?: string;
};

type Gate = (request: CallRequest, hint: BeforeCall, signal: AbortSignal) => Promise<GateVerdict>;

/** Creates the gate every tool call passes: it decides, requests approval if needed, and records the outcome. */
export function createPermissionGate(deps: PermissionGateDeps): Gate {
  const { answeredScripts = createAnsweredScripts() } = deps;
  return async (request, hint, signal) => {
    const outcome = await checkCall(request, hint, { ...deps, answeredScripts }, signal);
    if (outcome.record !== undefined) deps.onDecision(outcome.record);
    return outcome.verdict;
  };
}

type AnsweringDeps = PermissionGateDeps & { readonly answeredScripts: AnsweredScripts };

/** `record` is absent for a call that could not succeed, about which nothing was decided. */
type Outcome = { readonly record?: GateDecisionRecord; readonly verdict: GateVerdict };

/** How often a call is asked about whose effects change while it waits. */
const MAX_QUESTIONS = 3;

async function checkCall(
  request: CallRequest,
  hint: BeforeCall,
  deps: AnsweringDeps,
  signal: AbortSignal,
  questions = 0,
): Promise<Outcome> {
  const judgement = await judgeCall(request, hint, deps);
  const { policy, facts, decision, scripts } = judgement;
  const by = decision.trace.at(-1)?.stage === 'hook' ? 'hook' : 'decision';
  if (decision.verdict === 'allow') return allowCall(request, request.input, decision, by);
  if (decision.verdict === 'deny') return denyUnanswered(request, { facts, decision, policy });
  if (isWorthTrying(judgement, request) && deps.canTry?.() === true)
    return allowCall(request, request.input, allowTrial(decision), 'decision');
  const obstacle = await checkPreconditions(request, deps, signal);
  if (obstacle !== undefined)
    return { verdict: { behavior: 'deny', message: obstacle, interrupt: false, cause: 'obstacle' } };
  const { answer, decision: judged } = await requestApproval(
    { request, facts, decision, policy, scripts },
    deps,
    signal,
  );
  const isAllowed = judged.verdict === 'allow' || answer?.behavior === 'allow';
  // The answer may have taken minutes: it only counts for what was asked.
  if (isAllowed && !signal.aborted && hasChanged(judgement, await judgeCall(request, hint, deps))) {
    if (questions + 1 < MAX_QUESTIONS) return checkCall(request, hint, deps, signal, questions + 1);
    const message = 'The files that the call names kept changing while it waited for approval, so it was not made.';
    const denial = { by: 'rule', reason: message } as const;
    return denyCall(request, withAnswer(judged, 'deny', message), 'decision', { message, denial });
  }
  if (judged.verdict === 'allow') return allowCall(request, request.input, judged, 'judge');
  if (answer === undefined) return denyUnanswered(request, { facts, decision: judged, policy });
  if (signal.aborted) {
    const message = 'The call was interrupted before it was allowed.';
    const denial = { by: 'interrupt' } as const;
    return denyCall(request, withAnswer(judged, 'deny', message), 'answer', { message, denial, interrupt: true });
  }
  if (answer.behavior === 'allow') {
    const outcome = await applyApproval({ request, facts, decision: judged, policy }, answer, deps);
    await deps.answeredScripts.add(scripts, answer.remember && bindRules(answer.remember, judged));
    return outcome;
  }
  const { by: source = 'user', note, message: reason, interrupt = false } = answer;
  if (source === 'unattended') return denyUnanswered(request, { facts, decision: judged, policy }, note);
  const denial = { by: source, ...(reason === undefined ? {} : { reason }) };
  const message = describeRefusal(denial, note);
  const decided = withAnswer(judged, 'deny', `The answer was no: ${message}`);
  return denyCall(request, decided, 'answer', { message, denial, interrupt });
}

type Judgement = Pick<PendingApproval, 'policy' | 'facts' | 'decision'> &
  Pick<DecisionWithPaths, 'realPaths'> & { readonly scripts: ScriptHashes };

async function judgeCall(request: CallRequest, hint: BeforeCall, deps: AnsweringDeps): Promise<Judgement> {
  const policy = deps.getPolicy(request.cwd);
  const facts = getRequestFacts(request, deps);
  const { decision, realPaths } = decideAndRecordPaths(facts, policy, deps.fs);
  const scripts = decision.verdict === 'deny' ? new Map() : listNamedScripts(facts, request.cwd, deps.fs);
  const isByRule = decision.verdict === 'allow' && decision.matched.some(({ behavior }) => behavior === 'allow');
  const checked =
    isByRule && scripts.size > 0 ? limitToAnswers(decision, scripts, await deps.answeredScripts.read()) : decision;
  const tried = judgeTrial(checked, request, policy, deps.fs);
  return { policy, facts, decision: applyHookHints(tried, hint), realPaths, scripts };
}

/** Leaves out the rules that a user made wider than what was asked about: these cover every script. */
function bindRules({ rules, destination }: RememberedRules, { suggestions }: Decision): RememberedRules {
  const offered = suggestions.map(({ rule }) => rule);
  return { rules: rules.filter((rule) => offered.includes(rule) || !rule.endsWith('*)')), destination };
}

/** Asks about scripts that are not as they were when they were allowed, or that the answer with the rule did not see. */
function limitToAnswers(decision: Decision, scripts: ScriptHashes, answered: ScriptHashes): Decision {
  const isAnswer = decision.matched.some(({ tool, specifier }) =>
    answered.has(getRuleKey(formatRule(tool, specifier))),
  );
  const changed =
    findChangedScript(answered, scripts, isAnswer ? 'all' : 'some') ??
    (isAnswer ? findUnknownScript(scripts) : undefined);
  return changed === undefined ? decision : askAboutScript(decision, changed, answered, scripts.get(changed));
}

/** True if a call is denied meanwhile, asks for another reason, or names a path or script that is another by now. */
function hasChanged(asked: Judgement, now: Judgement): boolean {
  if (now.decision.verdict === 'deny') return true;
  const hasNewReason =
    now.decision.verdict === 'ask' && now.decision.reasons.some((reason) => !asked.decision.reasons.includes(reason));
  const leadsElsewhere = [...now.realPaths].some(([path, real]) => (asked.realPaths.get(path) ?? real) !== real);
  const isOther = findChangedScript(asked.scripts, now.scripts) !== undefined;
  const isNew = [...now.scripts.keys()].some((path) => !asked.scripts.has(path));
  return hasNewReason || leadsElsewhere || isOther || isNew;
}

/**
 * Returns the reason why a call cannot succeed, so that nobody is asked about it in vain. Looked for only where somebody
 * would be asked: otherwise a denied call could learn about files it may not read.
 */
async function checkPreconditions(
  request: CallRequest,
  deps: PermissionGateDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  return deps.askUser === undefined ? undefined : request.checkPreconditions?.(signal);
}

/** Returns the facts of a call with the analysis that it carries. */
function getRequestFacts(
  { tool, input, cwd, shell, blocked }: CallRequest,
  { getToolFacts }: PermissionGateDeps,
): ToolFacts {
  const facts = getToolFacts(tool, input, cwd);
  return { ...facts, ...omitUndefined({ shell, blocked }) };
}

function denyUnanswered(request: CallRequest, call: DeniedCall, note?: string): Outcome {
  const { decision } = call;
  const settled = denyIfUnattended(decision, { canAsk: false, ...(note === undefined ? {} : { note }) });
  const by = decision.trace.at(-1)?.stage === 'hook' ? 'hook' : 'decision';
  const message = formatDenialMessage({ ...call, decision: settled });
  return denyCall(request, settled, by, { message, denial: getCallDenial(settled) });
}

async function applyApproval(
  { request, facts, decision, policy }: PendingApproval,
  answer: Extract<PermissionAnswer, { behavior: 'allow' }>,
  deps: PermissionGateDeps,
): Promise<Outcome> {
  const { remember, updatedInput, note } = answer;
  const redecided = updatedInput === undefined ? undefined : decideWithInput(request, updatedInput, policy, deps);
  if (redecided?.verdict === 'deny') {
    const message = formatDenialMessage({ facts, decision: redecided, policy });
    return denyCall(request, redecided, 'answer', { message, denial: getCallDenial(redecided) });
  }
  const stored = remember === undefined ? [] : selectRememberedRules(remember, facts, decision);
  for (const { rules, destination } of stored) await deps.rememberRules(rules, destination);
  if (answer.mode !== undefined) deps.changeMode(answer.mode);
  if (answer.sandbox !== undefined) deps.turnOnSandbox?.();
  const added = stored.map(({ rules, destination }) => ` Rules added (${destination}): ${rules.join(', ')}.`).join('');
  const changed = updatedInput === undefined ? '' : ' The input was changed.';
  const sandboxed = answer.sandbox === undefined ? '' : ' Commands run in the sandbox from now on.';
  const text = `The answer was yes.${added}${changed}${sandboxed}`;
  const approved = withAnswer(withNewInput(decision, redecided), 'allow', text);
  return allowCall(request, updatedInput ?? request.input, approved, 'answer', note);
}

type RememberedRules = NonNullable<Extract<PermissionAnswer, { behavior: 'allow' }>['remember']>;

/**
 * Selects the rules of an answer that are stored. What publishes, deletes or reads secrets is remembered for the session
 * at most; the rules offered for other parts of the command are stored as chosen.
 */
function selectRememberedRules(
  { rules, destination }: RememberedRules,
  facts: ToolFacts,
  decision: Decision,
): readonly RememberedRules[] {
  const scope = getAnswerRememberScope(facts, decision, listCallRisks(facts, decision.secrets));
  if (scope === 'always') return [{ rules, destination }];
  if (scope === 'never') return [];
  const offered = new Set(decision.suggestions.map(({ rule }) => rule));
  return [
    { rules: rules.filter((rule) => offered.has(rule)), destination },
    { rules: rules.filter((rule) => !offered.has(rule)), destination: 'session' as const },
  ].filter((group) => group.rules.length > 0);
}

/** Takes hardenings, tainted copies and sandbox exceptions from the decision about the input that actually runs. */
function withNewInput(
  { hardens, copies, opens, writes, creates, ...rest }: Decision,
  redecided: Decision | undefined,
): Decision {
  const decided = redecided ?? { opens, copies, writes, creates };
  return {
    ...rest,
    hardens: redecided?.hardens ?? hardens,
    ...omitUndefined({
      ...{ copies: decided.copies, opens: decided.opens },
      ...{ writes: decided.writes, creates: decided.creates },
    }),
  };
}

function allowCall(
  request: CallRequest,
  input: JsonObject,
  decision: Decision,
  by: GateDecisionRecord['by'],
  note?: string,
): Outcome {
  const verdict = {
    behavior: 'allow',
    input,
    ...(note === undefined ? {} : { note }),
    // A user who allowed more than reading knows what may happen.
    ...(by !== 'decision' || decision.enforce === undefined ? {} : { enforce: decision.enforce }),
  } as const;
  return { record: { request, input, verdict: 'allow', by, decision }, verdict };
}

function denyCall(
  request: CallRequest,
  decision: Decision,
  by: GateDecisionRecord['by'],
  denied: { readonly message: string; readonly denial: CallDenial; readonly interrupt?: boolean },
): Outcome {
  const { message, denial, interrupt = false } = denied;
  return {
    record: { request, input: request.input, verdict: 'deny', by, decision, message },
    verdict: { behavior: 'deny', message, interrupt, denial },
  };
}

/** A hook may tighten a decision; its `allow` answers a plain ask, but never a denial, a breaker or an ask rule. */
function applyHookHints(decision: Decision, hint: Pick<BeforeCall, 'ask' | 'allow' | 'deny'>): Decision {
  const withHookStep = (verdict: Decision['verdict'], text: string): Decision => ({
    ...decision,
    verdict,
    reasons: [text, ...(verdict === 'allow' ? [] : decision.reasons)],
    trace: [...decision.trace, { stage: 'hook', verdict, text }],
  });
  if (hint.deny !== undefined) return withHookStep('deny', hint.deny);
  if (decision.verdict === 'deny') return decision;
  if (hint.ask !== undefined) return withHookStep('ask', hint.ask);
  const isProtected = decision.trace.some(({ stage }) => stage === 'breaker' || stage === 'ask');
  if (hint.allow !== undefined && decision.verdict === 'ask' && !isProtected)
    return withHookStep('allow', `A hook allows it: ${hint.allow}`);
  return decision;
}

/** Returns the decision with the answer to its approval request as the last step. */
function withAnswer(decision: Decision, verdict: 'allow' | 'deny', text: string): Decision {
  return { ...decision, verdict, trace: [...decision.trace, { stage: 'answer', verdict, text }] };
}
