import type { Display } from '../contracts/display.ts';
import type { JsonObject } from '../contracts/json.ts';
import type {
  Decision,
  PermissionAnswer,
  PermissionMode,
  PermissionRequest,
  Policy,
  RememberDestination,
  ToolFacts,
} from '../contracts/permission.ts';
import type { BeforeCall } from '../contracts/query.ts';
import type { CallRequest, GateVerdict } from '../contracts/tool.ts';
import { hiddenCharacter } from './bash/check-bytes.ts';
import { callRisks } from './call-risks.ts';
import { decide, settle } from './decide.ts';
import { exactRule } from './exact-rule.ts';
import type { FactsOf } from './facts.ts';
import { ruleSays } from './paths/finding.ts';
import type { PermissionFs } from './paths/fs.ts';
import { FAMILY_WORD } from './rules/families.ts';

/** One finished decision, for the transcript, the result message and `/permissions`. */
export type GateRecord = {
  readonly request: CallRequest;
  readonly input: JsonObject;
  readonly verdict: 'allow' | 'deny';
  readonly by: 'decision' | 'hook' | 'answer';
  readonly decision: Decision;
  /** What the model reads about a denial. */
  readonly message?: string;
};

export type GateParts = {
  /** The rules and folders of this moment, as seen from the call's working folder. */
  readonly policy: (cwd: string) => Policy;
  readonly fs: PermissionFs;
  /** What a call would touch, as its tool says. */
  readonly factsOf: FactsOf;
  /** A hook that may answer in the person's place; what it says nothing to is asked as ever. */
  readonly askHook?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer | undefined>;
  /** Absent when nobody is there: a question is then a denial. */
  readonly ask?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
  /** What the call would change, to be shown with the question. */
  readonly preview?: (facts: ToolFacts, cwd: string, signal: AbortSignal) => Promise<Display | undefined>;
  readonly record: (entry: GateRecord) => void;
  /** Stores rules for "always"; awaited, so the next call already sees them. */
  readonly remember: (rules: readonly string[], destination: RememberDestination) => Promise<void>;
  readonly changeMode: (mode: Policy['mode']) => void;
  readonly newId: () => string;
};

type Gate = (request: CallRequest, hint: BeforeCall, signal: AbortSignal) => Promise<GateVerdict>;

/** The door every call goes through: decides, asks if need be, and writes down what came of it. */
export function createGate(parts: GateParts): Gate {
  return async (request, hint, signal) => {
    const outcome = await outcomeOf(request, hint, parts, signal);
    parts.record(outcome.record);
    return outcome.verdict;
  };
}

type Outcome = { readonly record: GateRecord; readonly verdict: GateVerdict };

async function outcomeOf(
  request: CallRequest,
  hint: BeforeCall,
  parts: GateParts,
  signal: AbortSignal,
): Promise<Outcome> {
  const policy = parts.policy(request.cwd);
  const facts = parts.factsOf(request.tool, request.input, request.cwd);
  const decision = withHints(decide(facts, policy, parts.fs), hint);
  const by = decision.trace.at(-1)?.stage === 'hook' ? 'hook' : 'decision';
  if (decision.verdict === 'allow') return allowed(request, request.input, decision, by);
  const answer =
    decision.verdict === 'deny' ? undefined : await answerTo({ request, facts, decision, policy }, parts, signal);
  if (answer === undefined) {
    const settled = settle(decision, { canAsk: false });
    return refused(request, settled, by, { message: denialMessage(request.tool, settled, policy.mode) });
  }
  if (signal.aborted) {
    const message = 'The call was interrupted before it was allowed.';
    return refused(request, answered(decision, 'deny', message), 'answer', { message, interrupt: true });
  }
  if (answer.behavior === 'allow') return allowedByAnswer({ request, facts, decision, policy }, answer, parts);
  const { interrupt = false } = answer;
  const message = answer.message ?? 'The user refused this call. Ask what they would rather have, or go another way.';
  return refused(request, answered(decision, 'deny', `The answer was no: ${message}`), 'answer', {
    message,
    interrupt,
  });
}

/** A call that somebody has to be asked about. */
type Question = {
  readonly request: CallRequest;
  readonly facts: ToolFacts;
  readonly decision: Decision;
  readonly policy: Policy;
};

/** What a hook or a person says; nothing when nobody is there. */
async function answerTo(
  { request, facts, decision, policy }: Question,
  parts: GateParts,
  signal: AbortSignal,
): Promise<PermissionAnswer | undefined> {
  if ((parts.ask ?? parts.askHook) === undefined) return undefined;
  const preview = await parts.preview?.(facts, request.cwd, signal);
  const risks = callRisks(facts);
  const exact = exactRule({ facts, decision, policy }, risks, parts.fs);
  const asked = { ...questionOf(request, facts, decision, parts.newId()), risks, ...exact };
  const question = preview === undefined ? asked : { ...asked, preview };
  const ofHook = await parts.askHook?.(question, signal);
  // A hook may refuse anything, but its yes is none to a breaker, nor to one that its own input trips.
  const input = ofHook?.behavior === 'allow' ? ofHook.updatedInput : undefined;
  const judged = input === undefined ? decision : decideAgain(request, input, policy, parts);
  const isGuarded = judged.trace.some(({ stage }) => stage === 'breaker');
  const isTaken = ofHook !== undefined && (ofHook.behavior === 'deny' || !isGuarded);
  return isTaken ? ofHook : parts.ask?.(question, signal);
}

/** Other input is another call: what is denied stays denied, whoever wrote it. */
function decideAgain(request: CallRequest, input: JsonObject, policy: Policy, parts: GateParts): Decision {
  return decide(parts.factsOf(request.tool, input, request.cwd), policy, parts.fs);
}

async function allowedByAnswer(
  { request, decision, policy }: Question,
  answer: Extract<PermissionAnswer, { behavior: 'allow' }>,
  parts: GateParts,
): Promise<Outcome> {
  const { remember, updatedInput, note } = answer;
  const again = updatedInput === undefined ? undefined : decideAgain(request, updatedInput, policy, parts);
  if (again?.verdict === 'deny')
    return refused(request, again, 'answer', { message: denialMessage(request.tool, again, policy.mode) });
  if (remember !== undefined) await parts.remember(remember.rules, remember.destination);
  if (answer.mode !== undefined) parts.changeMode(answer.mode);
  const always =
    remember === undefined ? '' : ` From now on by ${remember.rules.join(', ')} (${remember.destination}).`;
  const changed = updatedInput === undefined ? '' : ' The input was changed.';
  const allowing = answered(decision, 'allow', `The answer was yes.${always}${changed}`);
  return allowed(request, updatedInput ?? request.input, allowing, 'answer', note);
}

function allowed(
  request: CallRequest,
  input: JsonObject,
  decision: Decision,
  by: GateRecord['by'],
  note?: string,
): Outcome {
  const verdict = { behavior: 'allow', input, ...(note === undefined ? {} : { note }) } as const;
  return { record: { request, input, verdict: 'allow', by, decision }, verdict };
}

function refused(
  request: CallRequest,
  decision: Decision,
  by: GateRecord['by'],
  { message, interrupt = false }: { readonly message: string; readonly interrupt?: boolean },
): Outcome {
  return {
    record: { request, input: request.input, verdict: 'deny', by, decision, message },
    verdict: { behavior: 'deny', message, interrupt },
  };
}

/** A hook may tighten; its allow answers a plain question, never a denial, a breaker or an asking rule. */
function withHints(decision: Decision, hint: Pick<BeforeCall, 'ask' | 'allow' | 'deny'>): Decision {
  const step = (verdict: Decision['verdict'], text: string): Decision => ({
    ...decision,
    verdict,
    reasons: [text, ...(verdict === 'allow' ? [] : decision.reasons)],
    trace: [...decision.trace, { stage: 'hook', verdict, text }],
  });
  if (hint.deny !== undefined) return step('deny', hint.deny);
  if (decision.verdict === 'deny') return decision;
  if (hint.ask !== undefined) return step('ask', `A hook asks: ${hint.ask}`);
  const guarded = decision.trace.some((each) => each.stage === 'breaker' || each.stage === 'ask');
  if (hint.allow !== undefined && decision.verdict === 'ask' && !guarded)
    return step('allow', `A hook allows it: ${hint.allow}`);
  return decision;
}

/** The decision with what was answered to its question. */
function answered(decision: Decision, verdict: 'allow' | 'deny', text: string): Decision {
  return { ...decision, verdict, trace: [...decision.trace, { stage: 'answer', verdict, text }] };
}

function questionOf(request: CallRequest, facts: ToolFacts, decision: Decision, id: string): PermissionRequest {
  const { description } = request.input;
  const concealed = Object.values(request.input).some(
    (value) => typeof value === 'string' && hiddenCharacter(value) !== undefined,
  );
  return {
    id,
    callId: request.callId,
    toolName: request.tool,
    title: request.title,
    facts,
    reasons: decision.reasons,
    targets: decision.targets,
    suggestions: decision.suggestions,
    trace: decision.trace,
    danger: decision.trace.some((step) => step.stage === 'breaker') ? 'breaker' : 'none',
    concealed: concealed ? 'hidden_characters' : 'none',
    ...(typeof description === 'string' ? { description } : {}),
    ...(request.agentId === undefined ? {} : { agentId: request.agentId }),
  };
}

/**
 * What the model reads about a denial: why, and what would have to change for it to be allowed.
 * @internal Exported for tests.
 */
export function denialMessage(tool: string, decision: Decision, mode: PermissionMode): string {
  const why = decision.reasons.join(' ');
  const what = decision.trace.at(-1)?.stage === 'answer' ? 'needs permission and was not run.' : 'was not run.';
  return [`${tool} ${what} ${why}`, remedy(decision, mode)].filter((part) => part !== '').join(' ');
}

function remedy(decision: Decision, mode: PermissionMode): string {
  const denying = decision.matched.find((rule) => rule.behavior === 'deny');
  if (denying !== undefined)
    return `Only the user can change that rule: ${ruleSays(denying)}. Go another way or tell the user.`;
  if (decision.trace.some((step) => step.stage === 'breaker'))
    return 'No mode allows this unasked. Tell the user what you need and why.';
  if (mode === 'plan') return 'Finish the plan and have it approved first.';
  const rules = decision.suggestions.filter((each) => each.leaves === undefined).map((each) => each.rule);
  if (rules.length === 0) return 'Go another way, or tell the user what you need.';
  const edits = rules.every((rule) => rule.startsWith(`${FAMILY_WORD.edit}(`)) ? ' or the mode acceptEdits' : '';
  return `The user could allow it with ${rules.map((rule) => `--allowedTools "${rule}"`).join(' ')}${edits}.`;
}
