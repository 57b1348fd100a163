import type { Decision, PermissionRequest, Policy, Rule, ToolFacts } from '../../contracts/permission.ts';
import type { SandboxSettings } from '../../contracts/settings.ts';
import { decide } from '../../permissions/decide.ts';
import { hostRulesOfPrograms, ruleForHost } from '../../permissions/outside/open-hosts.ts';
import { diskFs } from '../../permissions/paths/fs.ts';
import { HOST_WORD } from '../../permissions/rules/families.ts';
import { parseRule } from '../../permissions/rules/rules.ts';
import type { Caller, HostAnswer } from '../../sandbox/network/box-network.ts';
import { fitsDenial, fitsPattern, type Goal, namesHost, spelled } from '../../sandbox/network/host-pattern.ts';
import type { Core } from '../core.ts';
import type { GateWiring } from './gate.ts';

type Needs = Pick<GateWiring, 'policy' | 'canAsk' | 'remember' | 'changeMode'>;

/**
 * May a command in a box reach this host? Rules of hosts (`WebFetch(domain:…)`) and the lists of the settings say so, the
 * mode where they say nothing, and then a person: once, which holds for this command, or by a rule. One question at a
 * time, and what was answered meanwhile is not asked again.
 */
export function createHostGate(
  { settings, bus, newId }: Pick<Core, 'settings' | 'bus' | 'newId'>,
  needs: Needs,
): (caller: Caller, goal: Goal) => Promise<HostAnswer> {
  const answers = new WeakMap<AbortSignal, Map<string, Promise<HostAnswer>>>();
  let before: Promise<unknown> = Promise.resolve();

  async function ask(caller: Caller, goal: Goal): Promise<HostAnswer> {
    const again = known(caller, goal);
    if (again.verdict !== 'ask') return answerOf(again);
    const question = { ...questionOf(caller, goal, again, newId()), ...ofPrograms(caller, goal) };
    const answer = await bus.port().askPermission(question, caller.signal);
    if (answer.behavior === 'deny') return { ok: false, why: answer.message ?? 'the user refused it' };
    if (answer.remember !== undefined) await needs.remember(answer.remember.rules, answer.remember.destination);
    if (answer.mode !== undefined) needs.changeMode(answer.mode);
    return { ok: true };
  }

  function known(caller: Caller, goal: Goal): Pick<Decision, 'verdict' | 'reasons' | 'suggestions' | 'trace'> {
    return judge(goal, settings.now().sandbox ?? {}, needs.policy(caller.cwd), caller, needs.canAsk);
  }

  /** Only what would be taken for a yes is offered. */
  function ofPrograms(caller: Caller, goal: Goal): Pick<PermissionRequest, 'ofPrograms'> {
    const policy = needs.policy(caller.cwd);
    const offered = hostRulesOfPrograms({ command: caller.command, host: goal.host }, policy, diskFs);
    const granted = offered.rules.map((rule) => parseRule(rule, 'allow', { source: 'session' }));
    const widened = { ...policy, rules: [...policy.rules, ...granted] };
    const { verdict } = judge(goal, settings.now().sandbox ?? {}, widened, caller, needs.canAsk);
    return verdict === 'allow' ? { ofPrograms: offered } : {};
  }

  return async (caller, goal) => {
    const first = known(caller, goal);
    if (first.verdict !== 'ask') return answerOf(first);
    const ofCaller = answers.get(caller.signal) ?? new Map<string, Promise<HostAnswer>>();
    answers.set(caller.signal, ofCaller);
    const key = spelled(goal);
    const asked = ofCaller.get(key) ?? before.then(() => ask(caller, goal));
    before = asked.catch(() => undefined);
    ofCaller.set(key, asked);
    return asked;
  };
}

function answerOf({ verdict, reasons }: Pick<Decision, 'verdict' | 'reasons'>): HostAnswer {
  return verdict === 'allow'
    ? { ok: true }
    : { ok: false, why: (reasons[0] ?? 'nothing allows it').replace(/\.$/, '') };
}

/** What is certain without a person. */
function judge(
  goal: Goal,
  { allowedDomains = [], deniedDomains = [], strictAllowlist = false }: SandboxSettings,
  policy: Policy,
  caller: Caller,
  canAsk: boolean,
): Pick<Decision, 'verdict' | 'reasons' | 'suggestions' | 'trace'> {
  const denying = deniedDomains.find((pattern) => fitsDenial(pattern, goal));
  if (denying !== undefined) return plainly('deny', `sandbox.deniedDomains holds ${denying}`);
  // A rule about the tool as a whole speaks of pages; what it would open here is much more.
  const ofHosts = policy.rules.filter((rule) => rule.tool !== HOST_WORD || isOfHosts(rule));
  const rules = [...ofHosts, ...rulesOfCommand(goal, policy, caller)];
  const decision = decide(factsOf(goal, caller), { ...policy, rules }, diskFs);
  const isOfRule = decision.trace.some(
    ({ stage, verdict }) => stage === 'deny' || (stage === 'ask' && verdict === 'ask'),
  );
  if (!isOfRule && allowedDomains.some((pattern) => fitsPattern(pattern, goal)))
    return plainly('allow', 'The settings allow it.');
  const isClosed = decision.trace.some(({ stage }) => stage === 'breaker');
  if (isClosed && !allowedDomains.some((pattern) => namesHost(pattern, goal)))
    return plainly('deny', `${decision.reasons[0] ?? ''} Name it in sandbox.allowedDomains to open it.`);
  if (decision.verdict !== 'ask') return decision;
  if (strictAllowlist) return plainly('deny', 'only the hosts of sandbox.allowedDomains are reached');
  if (!canAsk) return plainly('deny', 'no rule allows it, and nobody is there to be asked');
  return decision;
}

/** What rules say of this command and this host, as a rule about the host. */
function rulesOfCommand(goal: Goal, policy: Policy, { command }: Caller): readonly Rule[] {
  const means = (what: string, how: 'exactly' | 'widely') => (how === 'widely' ? fitsDenial : fitsPattern)(what, goal);
  const opening = ruleForHost({ command, means }, policy, diskFs);
  const host = goal.host.includes(':') ? `[${goal.host}]` : goal.host;
  return opening === undefined ? [] : [{ ...opening, tool: HOST_WORD, specifier: `domain:${host}` }];
}

const isOfHosts = ({ specifier, problem }: Rule): boolean => specifier !== undefined || problem !== undefined;

function plainly(verdict: 'allow' | 'deny', text: string) {
  return { verdict, reasons: [text], suggestions: [], trace: [] } as const;
}

function factsOf(goal: Goal, { command }: Caller): ToolFacts {
  const url = `https://${spelled(goal)}/`;
  return { tool: HOST_WORD, input: { url }, kind: 'fetch', url, command };
}

function questionOf(
  caller: Caller,
  goal: Goal,
  { reasons, suggestions, trace }: Pick<Decision, 'reasons' | 'suggestions' | 'trace'>,
  id: string,
): PermissionRequest {
  return {
    id,
    callId: caller.id,
    toolName: HOST_WORD,
    title: spelled(goal),
    facts: factsOf(goal, caller),
    reasons,
    targets: [],
    suggestions,
    trace,
    danger: 'none',
    concealed: 'none',
  };
}
