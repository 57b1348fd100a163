import type {
  Decision,
  PermissionAnswer,
  PermissionMode,
  PermissionRequest,
  Policy,
  RememberDestination,
  Rule,
  ToolFacts,
} from '../../contracts/permission.ts';
import type { SandboxSettings } from '../../contracts/settings.ts';
import { createDecisionContext } from '../../permissions/create-decision-context.ts';
import { decide } from '../../permissions/decide.ts';
import { diskFs, type PermissionFs } from '../../permissions/permission-fs.ts';
import { formatRule, formatSandboxException, parseRule } from '../../permissions/rules/parse-rule.ts';
import {
  FAMILY_RULE_NAMES,
  HOST_RULE_NAME,
  SANDBOX_EXCEPTION_RULE_NAME,
} from '../../permissions/rules/rule-families.ts';
import {
  findAllowingRule,
  listNonReadOnlyPrograms,
  listSandboxExceptionRules,
  matchExceptionCommands,
  type SandboxExceptionRule,
} from '../../permissions/sandbox-exceptions/run-outside.ts';
import {
  formatNetworkDestination,
  isExactHost,
  matchesDeniedHost,
  matchesHostPattern,
  type NetworkDestination,
} from './host-pattern.ts';
import type { HostAccessDecision, SandboxedCommand } from './sandbox-network.ts';

/** The dependencies of a host gate. */
type HostGateDeps = {
  readonly getSettings: () => SandboxSettings;
  readonly getPolicy: (cwd: string) => Policy;
  /** False in runs without a user: undecided hosts are then denied. */
  readonly canAsk: boolean;
  readonly askUser: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
  readonly rememberRules: (rules: readonly string[], destination: RememberDestination) => Promise<void>;
  readonly changeMode: (mode: PermissionMode) => void;
  readonly newId: () => string;
};

/**
 * Creates the gate that decides whether a sandboxed command may connect to a host: by host rules
 * (`WebFetch(domain:…)`) and settings, then by the mode, then by asking the user. An answer holds for the rest of the
 * command. Requests are sequential, so that an answer or a new rule settles waiting ones.
 */
export function createNetworkGate(
  deps: HostGateDeps,
): (caller: SandboxedCommand, destination: NetworkDestination) => Promise<HostAccessDecision> {
  const answers = new WeakMap<AbortSignal, Map<string, Promise<HostAccessDecision>>>();
  let previous: Promise<unknown> = Promise.resolve();

  async function requestApproval(
    caller: SandboxedCommand,
    destination: NetworkDestination,
  ): Promise<HostAccessDecision> {
    const decision = decideNow(caller, destination);
    if (decision.verdict !== 'ask') return toHostAnswer(decision);
    const request = {
      ...createRequest(caller, destination, decision, deps.newId()),
      ...suggestProgramRules(caller, destination),
    };
    const answer = await deps.askUser(request, caller.signal);
    if (answer.behavior === 'deny') return { ok: false, problem: describeHostRefusal(answer) };
    if (answer.remember !== undefined) await deps.rememberRules(answer.remember.rules, answer.remember.destination);
    if (answer.mode !== undefined) deps.changeMode(answer.mode);
    return { ok: true };
  }

  function decideNow(caller: SandboxedCommand, destination: NetworkDestination): HostDecision {
    return decideHost(destination, deps.getSettings(), deps.getPolicy(caller.cwd), caller, deps.canAsk);
  }

  /** Offers rules for the programs of this line only if they would allow the connection. */
  function suggestProgramRules(
    caller: SandboxedCommand,
    destination: NetworkDestination,
  ): Pick<PermissionRequest, 'ofPrograms'> {
    const policy = deps.getPolicy(caller.cwd);
    const ofPrograms = suggestHostRules({ command: caller.command, host: destination.host }, policy, diskFs);
    const granted = ofPrograms.rules.map((rule) => parseRule(rule, 'allow', { source: 'session' }));
    const widened = { ...policy, rules: [...policy.rules, ...granted] };
    const { verdict } = decideHost(destination, deps.getSettings(), widened, caller, deps.canAsk);
    return verdict === 'allow' ? { ofPrograms } : {};
  }

  return async (caller, destination) => {
    const decision = decideNow(caller, destination);
    if (decision.verdict !== 'ask') return toHostAnswer(decision);
    const commandAnswers = answers.get(caller.signal) ?? new Map<string, Promise<HostAccessDecision>>();
    answers.set(caller.signal, commandAnswers);
    const key = formatNetworkDestination(destination);
    const answer = commandAnswers.get(key) ?? previous.then(() => requestApproval(caller, destination));
    previous = answer.catch(() => undefined);
    commandAnswers.set(key, answer);
    return answer;
  };
}

type HostDecision = Pick<Decision, 'verdict' | 'reasons' | 'suggestions' | 'trace'>;

function toHostAnswer({ verdict, reasons }: Pick<Decision, 'verdict' | 'reasons'>): HostAccessDecision {
  return verdict === 'allow'
    ? { ok: true }
    : { ok: false, problem: (reasons[0] ?? 'nothing allows it').replace(/\.$/, '') };
}

/** Decides without the user: denied hosts first, then rules, allowed hosts and the mode. */
function decideHost(
  destination: NetworkDestination,
  { allowedDomains = [], deniedDomains = [], strictAllowlist = false }: SandboxSettings,
  policy: Policy,
  caller: SandboxedCommand,
  canAsk: boolean,
): HostDecision {
  const deniedPattern = deniedDomains.find((pattern) => matchesDeniedHost(pattern, destination));
  if (deniedPattern !== undefined) return createDecision('deny', `sandbox.deniedDomains contains ${deniedPattern}`);
  // A WebFetch rule without a host is about fetching pages; it must not open the network to commands.
  const applicableRules = policy.rules.filter((rule) => rule.tool !== HOST_RULE_NAME || isHostRule(rule));
  const rules = [...applicableRules, ...toHostRules(destination, policy, caller)];
  const decision = decide(createFacts(destination, caller), { ...policy, rules }, diskFs);
  const isBlockedByRule = decision.trace.some(
    ({ stage, verdict }) => stage === 'deny' || (stage === 'ask' && verdict === 'ask'),
  );
  if (!isBlockedByRule && allowedDomains.some((pattern) => matchesHostPattern(pattern, destination)))
    return createDecision('allow', 'The settings allow it.');
  const hasBreaker = decision.trace.some(({ stage }) => stage === 'breaker');
  if (hasBreaker && !allowedDomains.some((pattern) => isExactHost(pattern, destination)))
    return createDecision('deny', `${decision.reasons[0] ?? ''} Add it to sandbox.allowedDomains to allow it.`);
  if (decision.verdict !== 'ask') return decision;
  if (strictAllowlist) return createDecision('deny', 'only hosts in sandbox.allowedDomains are allowed');
  if (!canAsk) return createDecision('deny', 'no rule allows it, and approval cannot be requested in this run');
  return decision;
}

/** Converts the rule about this command and host to a rule about the host. */
function toHostRules(destination: NetworkDestination, policy: Policy, { command }: SandboxedCommand): readonly Rule[] {
  const means = (what: string, how: 'exactly' | 'widely') =>
    (how === 'widely' ? matchesDeniedHost : matchesHostPattern)(what, destination);
  const rule = findHostRule({ command, means }, policy, diskFs);
  const host = destination.host.includes(':') ? `[${destination.host}]` : destination.host;
  return rule === undefined ? [] : [{ ...rule, tool: HOST_RULE_NAME, specifier: `domain:${host}` }];
}

const isHostRule = ({ specifier, problem }: Rule): boolean => specifier !== undefined || problem !== undefined;

function createDecision(verdict: 'allow' | 'deny', text: string) {
  return { verdict, reasons: [text], suggestions: [], trace: [] } as const;
}

function createFacts(destination: NetworkDestination, { command }: SandboxedCommand): ToolFacts {
  const url = `https://${formatNetworkDestination(destination)}/`;
  return { tool: HOST_RULE_NAME, input: { url }, kind: 'fetch', url, command };
}

function createRequest(
  caller: SandboxedCommand,
  destination: NetworkDestination,
  { reasons, suggestions, trace }: Pick<Decision, 'reasons' | 'suggestions' | 'trace'>,
  id: string,
): PermissionRequest {
  return {
    id,
    callId: caller.id,
    toolName: HOST_RULE_NAME,
    title: formatNetworkDestination(destination),
    facts: createFacts(destination, caller),
    reasons,
    targets: [],
    suggestions,
    trace,
    danger: 'none',
    concealed: 'none',
  };
}

type HostRequest = {
  readonly command: string;
  /** Tests whether the host of a rule means the requested host; deny and ask rules are read widely. */
  readonly means: (what: string, how: 'exactly' | 'widely') => boolean;
};

/**
 * Finds the rule, such as `Outside(npm:* host:registry.npmjs.org)`, that decides whether a sandboxed command may reach
 * a host. Rules that let a command run outside the sandbox say nothing about hosts it reaches from inside.
 */
function findHostRule({ command, means }: HostRequest, policy: Policy, fs: PermissionFs): Rule | undefined {
  const context = createDecisionContext(shellFacts(command), policy, fs);
  const rules = listSandboxExceptionRules(context).filter(
    ({ rule, grants }) =>
      rule.problem === undefined &&
      grants.kind === 'host' &&
      means(grants.what, rule.behavior === 'allow' ? 'exactly' : 'widely'),
  );
  if (rules.length === 0) return undefined;
  const commandFindings = matchExceptionCommands(context, rules);
  const findForAnyCommand = (behavior: Rule['behavior']) =>
    rules.find(({ rule, commands }: SandboxExceptionRule) => rule.behavior === behavior && commands === undefined)
      ?.rule;
  const findBlocking = (behavior: 'deny' | 'ask') =>
    findForAnyCommand(behavior) ??
    commandFindings.blockers.find(({ stage, rule }) => stage === behavior && rule !== undefined)?.rule;
  return findBlocking('deny') ?? findBlocking('ask') ?? findForAnyCommand('allow') ?? findAllowingRule(commandFindings);
}

/** Suggests rules that allow a host only for the programs of this command line. */
function suggestHostRules(
  { command, host }: { readonly command: string; readonly host: string },
  policy: Policy,
  fs: PermissionFs,
): { readonly names: readonly string[]; readonly rules: readonly string[] } {
  const names = listNonReadOnlyPrograms(createDecisionContext(shellFacts(command), policy, fs));
  const grants = { kind: 'host', what: host } as const;
  return {
    names,
    rules: names.map((name) =>
      formatRule(SANDBOX_EXCEPTION_RULE_NAME, formatSandboxException({ commands: `${name}:*`, grants })),
    ),
  };
}

function describeHostRefusal({ by, message, note }: Extract<PermissionAnswer, { behavior: 'deny' }>): string {
  if (by === 'unattended') return note ?? 'approval could not be requested';
  return message === undefined ? 'the user refused it' : `the user refused it and says: ${message}`;
}

const shellFacts = (command: string) =>
  ({ tool: FAMILY_RULE_NAMES.command, input: { command }, kind: 'shell', command }) as const;
