import type { JsonObject } from '../contracts/json.ts';
import type { Decision, PermissionAnswer, PermissionRequest, Policy, ToolFacts } from '../contracts/permission.ts';
import type { CallRequest } from '../contracts/tool.ts';
import { callRisks } from './call-risks.ts';
import { holdsHidden } from './concealed.ts';
import { decide } from './decide.ts';
import { exactRule } from './exact-rule.ts';
import type { GateParts, Question } from './gate-parts.ts';
import { rulesOfPrograms } from './outside/program-rules.ts';
import { parseRule } from './rules/rules.ts';

/** What a hook, in mode auto the judge, and then a person says; no answer when nobody is there. */
export async function hearQuestion(
  question: Question,
  parts: GateParts,
  signal: AbortSignal,
): Promise<{ readonly answer: PermissionAnswer | undefined; readonly judged: Decision }> {
  const { decision } = question;
  const isHeard = (parts.ask ?? parts.askHook) !== undefined;
  const asked = isHeard ? await requestFor(question, parts, signal) : undefined;
  const ofHook = asked === undefined ? undefined : await answerOfHook(question, asked, parts, signal);
  if (ofHook !== undefined) return { answer: ofHook, judged: decision };
  const judged = await judgedBy(question, parts, signal);
  if (judged.verdict === 'allow' || asked === undefined) return { answer: undefined, judged };
  const { reasons, trace } = judged;
  return { answer: await parts.ask?.({ ...asked, reasons, trace }, signal), judged };
}

async function requestFor(question: Question, parts: GateParts, signal: AbortSignal): Promise<PermissionRequest> {
  const { request, facts, decision } = question;
  const preview = await parts.preview?.(facts, request.cwd, signal);
  const risks = callRisks(facts);
  const exact = exactRule(question, risks, parts.fs);
  const asked = {
    ...questionOf(request, facts, decision, parts.newId()),
    risks,
    ...exact,
    ...forPrograms(question, parts),
  };
  return preview === undefined ? asked : { ...asked, preview };
}

/** Only what the gate itself would take for a yes is offered. */
function forPrograms(question: Question, { fs }: GateParts): Pick<PermissionRequest, 'ofPrograms'> {
  const { facts, policy } = question;
  const ofPrograms = rulesOfPrograms(question, fs);
  if (ofPrograms === undefined) return {};
  const granted = ofPrograms.rules.map((rule) => parseRule(rule, 'allow', { source: 'session', root: policy.cwd }));
  const { verdict } = decide(facts, { ...policy, rules: [...policy.rules, ...granted] }, fs);
  return verdict === 'allow' ? { ofPrograms } : {};
}

async function answerOfHook(
  { request, decision, policy }: Question,
  asked: PermissionRequest,
  parts: GateParts,
  signal: AbortSignal,
): Promise<PermissionAnswer | undefined> {
  const ofHook = await parts.askHook?.(asked, signal);
  // A hook may refuse anything, but its yes is none to a breaker, nor to one that its own input trips.
  const input = ofHook?.behavior === 'allow' ? ofHook.updatedInput : undefined;
  const again = input === undefined ? decision : decideAgain(request, input, policy, parts);
  const isGuarded = again.trace.some(({ stage }) => stage === 'breaker');
  return ofHook?.behavior === 'deny' || !isGuarded ? ofHook : undefined;
}

/** The decision with what the judge says of it, where it may be asked. */
async function judgedBy(
  { request, facts, decision, policy }: Question,
  { judge }: GateParts,
  signal: AbortSignal,
): Promise<Decision> {
  if (judge === undefined || decision.mayBeJudged !== true || decision.trace.some(({ stage }) => stage === 'hook'))
    return decision;
  const { reasons } = decision;
  const { verdict, why } = await judge(
    { facts, cwd: request.cwd, reasons, rules: policy.rules },
    request.title,
    signal,
  );
  const text = verdict === 'allow' ? `The small model allowed it: ${why}` : `The small model would rather ask: ${why}`;
  return {
    ...decision,
    verdict,
    reasons: [text, ...(verdict === 'allow' ? [] : reasons)],
    trace: [...decision.trace, { stage: 'judge', verdict, text }],
  };
}

/** Other input is another call: what is denied stays denied, whoever wrote it. */
export function decideAgain(request: CallRequest, input: JsonObject, policy: Policy, parts: GateParts): Decision {
  return decide(parts.factsOf(request.tool, input, request.cwd), policy, parts.fs);
}

function questionOf(request: CallRequest, facts: ToolFacts, decision: Decision, id: string): PermissionRequest {
  const { description } = request.input;
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
    concealed: holdsHidden(request.input) ? 'hidden_characters' : 'none',
    ...(typeof description === 'string' ? { description } : {}),
    ...(request.agentId === undefined ? {} : { agentId: request.agentId }),
  };
}
