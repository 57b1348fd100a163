import type { Display } from '../contracts/display.ts';
import type { JsonObject } from '../contracts/json.ts';
import type {
  CallRisk,
  Decision,
  PermissionAnswer,
  PermissionRequest,
  Policy,
  ToolFacts,
} from '../contracts/permission.ts';
import type { BlockedEffect } from '../contracts/sandbox.ts';
import type { CallRequest } from '../contracts/tool.ts';
import { formatHomePath } from '../lib/files/path-style.ts';
import type { PermissionJudgeInput, PermissionJudgement } from './auto-mode.ts';
import { findCallConcealment, getAnswerRememberScope, listCallRisks } from './call-risks.ts';
import type { GetToolFacts } from './create-decision-context.ts';
import { decide } from './decide.ts';
import { formatParts } from './denial-message.ts';
import { readScriptStarts, type ScriptHashes } from './named-scripts.ts';
import type { PermissionFs } from './permission-fs.ts';
import { escapeRulePath } from './permission-policy-source.ts';
import { isPathInside } from './resolve-path.ts';
import { formatRule, parseRule } from './rules/parse-rule.ts';
import { FAMILY_RULE_NAMES } from './rules/rule-families.ts';
import { narrowRulesToPrograms } from './sandbox-exceptions/run-outside.ts';
import { getShellAnalysis } from './shell/analyze.ts';
import { collectShellEffects } from './shell/effects/collect-shell-effects.ts';
import { getProgramBaseName } from './shell/parse/shell-words.ts';
import { findProgramFacts } from './shell/programs/find-program-facts.ts';
import { limitsApprovalToSession } from './shell/programs/program-risks.ts';

/** The dependencies of an approval request. */
export type ApprovalDeps = {
  readonly fs: PermissionFs;
  /** Returns what a call would touch, as declared by its tool. */
  readonly getToolFacts: GetToolFacts;
  /** Answers in place of the user; without an answer, the request goes on as usual. */
  readonly askHook?: (call: CallRequest, signal: AbortSignal) => Promise<PermissionAnswer | undefined>;
  /** The judge of auto mode. When it does not allow a call, the user is asked. */
  readonly askJudge?: (
    call: Omit<PermissionJudgeInput, 'userMessages' | 'instructions' | 'files'>,
    title: string,
    signal: AbortSignal,
  ) => Promise<PermissionJudgement>;
  /** Asks the user; absent in runs without one, where every request is denied. */
  readonly askUser?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
  /** Computes the change a call would make, shown with the request. */
  readonly createPreview?: (facts: ToolFacts, cwd: string, signal: AbortSignal) => Promise<Display | undefined>;
  readonly newId: () => string;
  /** Returns whether commands may run in a throw-away layer before somebody is asked. */
  readonly canTry?: () => boolean;
  /** Returns the policy with the sandbox of commands turned on; `undefined` if it is on, off by choice, or not available. */
  readonly offerSandbox?: (policy: Policy) => Policy | undefined;
};

/** A call that needs approval. */
export type PendingApproval = {
  readonly request: CallRequest;
  readonly facts: ToolFacts;
  readonly decision: Decision;
  readonly policy: Policy;
  /** The scripts that the call names. */
  readonly scripts?: ScriptHashes;
};

/**
 * Requests approval from a hook, then in auto mode from the judge, then from the user. `answer` is undefined when
 * neither a hook nor the user answered; `decision` includes the verdict of the judge.
 */
export async function requestApproval(
  pending: PendingApproval,
  deps: ApprovalDeps,
  signal: AbortSignal,
): Promise<{ readonly answer: PermissionAnswer | undefined; readonly decision: Decision }> {
  const { decision } = pending;
  const hookAnswer = await askHook(pending, deps, signal);
  if (hookAnswer !== undefined) return { answer: hookAnswer, decision };
  const judged = await applyJudge(pending, deps, signal);
  if (judged.verdict === 'allow' || deps.askUser === undefined) return { answer: undefined, decision: judged };
  const { reasons, trace } = judged;
  const request = await createRequest(pending, deps, signal);
  const rest =
    judged.parts === undefined ? [] : [`The other parts need no approval: ${formatParts(judged.parts.allowed)}.`];
  return {
    answer: await deps.askUser({ ...request, reasons: [...reasons, ...rest], trace }, signal),
    decision: judged,
  };
}

async function createRequest(
  pending: PendingApproval,
  deps: ApprovalDeps,
  signal: AbortSignal,
): Promise<PermissionRequest> {
  const { request, facts, decision, policy } = pending;
  const { trial } = request;
  const preview = trial?.is === 'pending' ? trial.preview : await deps.createPreview?.(facts, request.cwd, signal);
  const secrets = decision.secrets?.map((path) => formatHomePath(path, policy.home, policy.cwd));
  const risks = listCallRisks(facts, secrets);
  const basicRequest = createBasicRequest(request, facts, decision, deps.newId());
  const canRemember = getAnswerRememberScope(facts, decision, risks);
  const permissionRequest = {
    ...basicRequest,
    ...(canRemember === 'never' ? { suggestions: [] } : suggestExactRule(pending, risks, canRemember, deps.fs)),
    risks,
    canRemember,
    ...suggestProgramRules(pending, deps),
    ...(canRemember === 'never' ? {} : suggestSandbox(pending, deps)),
  };
  const scripts = readScriptStarts(pending.scripts ?? new Map());
  return {
    ...permissionRequest,
    ...(scripts.length === 0 ? {} : { scripts }),
    ...(preview === undefined ? {} : { preview }),
    ...(trial?.is === 'pending' && trial.printed.length > 0 ? { printed: trial.printed } : {}),
  };
}

/** Offers rules for the programs of this line only if the gate would allow the call with them. */
function suggestProgramRules(pending: PendingApproval, { fs }: ApprovalDeps): Pick<PermissionRequest, 'ofPrograms'> {
  const { facts, policy } = pending;
  const ofPrograms = narrowRulesToPrograms(pending, fs);
  if (ofPrograms === undefined) return {};
  const granted = ofPrograms.rules.map((rule) => parseRule(rule, 'allow', { source: 'session', root: policy.cwd }));
  const { verdict } = decide(facts, { ...policy, rules: [...policy.rules, ...granted] }, fs);
  return verdict === 'allow' ? { ofPrograms } : {};
}

/** Offers the sandbox of commands if the gate would allow this one in it. */
function suggestSandbox(
  { facts, policy }: PendingApproval,
  { offerSandbox, fs }: ApprovalDeps,
): Pick<PermissionRequest, 'canSandbox'> {
  const isInWorkspace = (effect: BlockedEffect) =>
    effect.kind === 'write' && policy.workspaceRoots.some((root) => isPathInside(effect.path ?? '/', root));
  // This sandbox forbids all that the read-only one forbids outside the workspace.
  if (facts.kind !== 'shell' || facts.blocked?.every(isInWorkspace) === false) return {};
  const sandboxed = offerSandbox?.(policy);
  return sandboxed !== undefined && decide(facts, sandboxed, fs).verdict === 'allow' ? { canSandbox: true } : {};
}

async function askHook(
  { request, decision, policy }: PendingApproval,
  deps: ApprovalDeps,
  signal: AbortSignal,
): Promise<PermissionAnswer | undefined> {
  const answer = await deps.askHook?.(request, signal);
  // A hook may deny anything, but it cannot allow a breaker, neither of the call nor of the input it substitutes.
  const input = answer?.behavior === 'allow' ? answer.updatedInput : undefined;
  const effective = input === undefined ? decision : decideWithInput(request, input, policy, deps);
  const hasBreaker = effective.trace.some(({ stage }) => stage === 'breaker');
  return answer?.behavior === 'deny' || !hasBreaker ? answer : undefined;
}

/** Returns the decision with the verdict of the judge, where the judge may decide. */
async function applyJudge(
  { request, facts, decision, policy }: PendingApproval,
  { askJudge }: ApprovalDeps,
  signal: AbortSignal,
): Promise<Decision> {
  if (askJudge === undefined || decision.mayBeJudged !== true || decision.trace.some(({ stage }) => stage === 'hook'))
    return decision;
  const { reasons } = decision;
  const { verdict, why } = await askJudge(
    { facts, cwd: request.cwd, reasons, rules: policy.rules },
    request.title,
    signal,
  );
  const text = verdict === 'allow' ? `Auto mode allowed it: ${why}` : `Auto mode did not allow it: ${why}`;
  return {
    ...decision,
    verdict,
    reasons: [text, ...(verdict === 'allow' ? [] : reasons)],
    trace: [...decision.trace, { stage: 'judge', verdict, text }],
  };
}

/** Decides a call with changed input like any other call: a denial holds even if the user changed the input. */
export function decideWithInput(
  request: CallRequest,
  input: JsonObject,
  policy: Policy,
  { getToolFacts, fs }: Pick<ApprovalDeps, 'getToolFacts' | 'fs'>,
): Decision {
  return decide(getToolFacts(request.tool, input, request.cwd), policy, fs);
}

function createBasicRequest(
  request: CallRequest,
  analyzedFacts: ToolFacts,
  decision: Decision,
  id: string,
): PermissionRequest {
  const { shell: _, ...facts } = analyzedFacts;
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
    concealed: findCallConcealment(analyzedFacts),
    ...(typeof description === 'string' ? { description } : {}),
    ...(request.agentId === undefined ? {} : { agentId: request.agentId }),
  };
}

type PendingCall = { readonly facts: ToolFacts; readonly decision: Decision; readonly policy: Policy };

/** Suggests the rule for exactly this call, with the reason why no wider rule is offered for its command. */
function suggestExactRule(
  { facts, decision, policy }: PendingCall,
  risks: readonly CallRisk[],
  keep: 'session' | 'always',
  fs: PermissionFs,
): Pick<PermissionRequest, 'exact' | 'narrow'> {
  const rule = createExactRule(facts, decision);
  if (rule === undefined) return {};
  const granted = parseRule(rule, 'allow', { source: 'session', root: policy.cwd });
  // Offered only if the gate would allow the call with it.
  if (decide(facts, { ...policy, rules: [...policy.rules, granted] }, fs).verdict !== 'allow') return {};
  const hasWiderRule = decision.suggestions.length > 0 || facts.kind !== 'shell';
  return { exact: { rule, keep }, ...(hasWiderRule ? {} : { narrow: explainNarrowRule(facts, risks) }) };
}

/** Returns the rule for exactly this command line, or for the one secret file that is read. */
function createExactRule({ kind, command }: ToolFacts, { secrets = [] }: Decision): string | undefined {
  const [secret, ...otherSecrets] = secrets;
  if (kind === 'read' && secret !== undefined && otherSecrets.length === 0)
    return formatRule(FAMILY_RULE_NAMES.read, `/${escapeRulePath(secret)}`);
  const line = command?.trim() ?? '';
  // A `*` from the line would act as a wildcard in the rule.
  return kind !== 'shell' || line === '' || /[*\n]/.test(line)
    ? undefined
    : formatRule(FAMILY_RULE_NAMES.command, line);
}

function explainNarrowRule(facts: ToolFacts, risks: readonly CallRisk[]): string {
  const { kind, text } = risks.find(limitsApprovalToSession) ?? {};
  if (text !== undefined && kind !== 'deletes') return `it ${text}`;
  const { command, parse } = getShellAnalysis(facts);
  const names = collectShellEffects(parse(command), parse).commands.map(({ argv }) =>
    getProgramBaseName(argv[0] ?? ''),
  );
  const deleting = names.find((name) => findProgramFacts(name).deletes === true);
  if (deleting !== undefined) return `${deleting} deletes`;
  if (text !== undefined) return `it ${text}`;
  const running = names.find((name) => {
    const { isShell, interpreter, runsShellCommands, wrapper } = findProgramFacts(name);
    return isShell === true || runsShellCommands === true || (interpreter ?? wrapper) !== undefined;
  });
  return running === undefined ? 'its arguments cannot be analysed' : `${running} can run anything`;
}
