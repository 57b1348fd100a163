import type { JsonObject } from '../contracts/json.ts';
import type { Decision, PermissionAnswer, Policy } from '../contracts/permission.ts';
import type { BeforeCall } from '../contracts/query.ts';
import type { CallRequest, GateVerdict } from '../contracts/tool.ts';
import { decide, settle } from './decide.ts';
import { denialMessage } from './denial-message.ts';
import type { GateParts, GateRecord, Question } from './gate-parts.ts';
import { decideAgain, hearQuestion } from './hear-question.ts';

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
  if (decision.verdict === 'deny') return unanswered(request, decision, policy);
  const { answer, judged } = await hearQuestion({ request, facts, decision, policy }, parts, signal);
  if (judged.verdict === 'allow') return allowed(request, request.input, judged, 'judge');
  if (answer === undefined) return unanswered(request, judged, policy);
  if (signal.aborted) {
    const message = 'The call was interrupted before it was allowed.';
    return refused(request, answered(judged, 'deny', message), 'answer', { message, interrupt: true });
  }
  if (answer.behavior === 'allow') return allowedByAnswer({ request, facts, decision: judged, policy }, answer, parts);
  const { interrupt = false } = answer;
  const message = answer.message ?? 'The user refused this call. Ask what they would rather have, or go another way.';
  return refused(request, answered(judged, 'deny', `The answer was no: ${message}`), 'answer', {
    message,
    interrupt,
  });
}

function unanswered(request: CallRequest, decision: Decision, policy: Policy): Outcome {
  const settled = settle(decision, { canAsk: false });
  const by = decision.trace.at(-1)?.stage === 'hook' ? 'hook' : 'decision';
  return refused(request, settled, by, { message: denialMessage(request.tool, settled, policy.mode) });
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
  const allowing = answered(ofInput(decision, again), 'allow', `The answer was yes.${always}${changed}`);
  return allowed(request, updatedInput ?? request.input, allowing, 'answer', note);
}

/** What an environment has to guard, and what is opened, follow from the input that runs. */
function ofInput({ hardens, copies, opens, ...asked }: Decision, again: Decision | undefined): Decision {
  const { opens: places, copies: files } = again ?? { opens, copies };
  return {
    ...asked,
    hardens: again?.hardens ?? hardens,
    ...(files === undefined ? {} : { copies: files }),
    ...(places === undefined ? {} : { opens: places }),
  };
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
