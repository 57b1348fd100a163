import type { Rule } from '../contracts/permission.ts';
import type { SandboxSettings } from '../contracts/settings.ts';
import { truncateEnd } from '../lib/text/text-width.ts';
import { HOST_RULE_NAME } from '../permissions/rules/rule-families.ts';
import { findHostPatternProblem } from './network/host-pattern.ts';
import type { SandboxPlan } from './plan.ts';
import type { Sandbox } from './sandbox.ts';

const MAX_REFUSALS = 10;
const COMMAND_WIDTH = 60;

/** Formats the status of the sandbox for `/sandbox`: paths, approval, network, and the last blocked connections. */
export function formatSandboxStatus(
  sandbox: Pick<Sandbox, 'getState' | 'getApproval' | 'listBlocked'>,
  settings: SandboxSettings = {},
  rules: readonly Rule[] = [],
): string {
  const state = sandbox.getState();
  if (state.is === 'off') return 'The sandbox is off. Turn it on for this session with /sandbox on.';
  if (state.is === 'unavailable')
    return `The sandbox is enabled but not available: ${state.problem}. Commands cannot run until it is available or off.`;
  const { roots, allowWrite, denyRead, denyWrite } = state.plan;
  const refusals = sandbox.listBlocked().slice(-MAX_REFUSALS);
  return [
    'Shell commands run in a sandbox.',
    `  writable   ${[...roots, ...allowWrite, 'a private /tmp'].join(', ')}`,
    '  protected  keys and credentials are hidden; .git/hooks, .mcp.json, .envrc, .vscode and similar are read-only',
    '             daemons outside the sandbox are unreachable',
    ...(denyRead.length === 0 ? [] : [`  hidden     ${denyRead.join(', ')}`]),
    ...(denyWrite.length === 0 ? [] : [`  read-only  ${denyWrite.join(', ')}`]),
    sandbox.getApproval() === 'unasked'
      ? '  approval   not needed inside the sandbox, except for ask rules, secrets and sandbox exceptions'
      : '  approval   as without a sandbox; /sandbox auto allows every command that stays inside',
    ...describeNetwork(state.plan, settings, rules).map(
      (line, index) => `${index === 0 ? '  network    ' : '             '}${line}`,
    ),
    ...(state.networkProblem === undefined ? [] : [`             not available: ${state.networkProblem}`]),
    ...describeSockets(state.plan, settings).map((line) => `  sockets    ${line}`),
    ...refusals.map(
      ({ host, why, command }, index) =>
        `${index === 0 ? '  blocked    ' : '             '}${host} (${why}), by ${truncateCommand(command)}`,
    ),
  ].join('\n');
}

function describeNetwork(
  { network }: SandboxPlan,
  settings: SandboxSettings,
  rules: readonly Rule[],
): readonly string[] {
  if (network !== 'hosts') return [network === 'open' ? 'all hosts' : 'none'];
  const { allowedDomains = [], deniedDomains = [], strictAllowlist = false } = settings;
  const listRuleHosts = (behavior: Rule['behavior']) =>
    rules.flatMap((rule) =>
      rule.tool === HOST_RULE_NAME && rule.behavior === behavior && rule.specifier !== undefined
        ? [rule.specifier.replace(/^domain:/, '')]
        : [],
    );
  const allowed = [...allowedDomains, ...listRuleHosts('allow')];
  const denied = [...deniedDomains, ...listRuleHosts('deny')];
  return [
    strictAllowlist ? 'allowed hosts only' : 'per host; a new host needs approval',
    ...(allowed.length === 0 ? [] : [`allowed: ${allowed.join(', ')}`]),
    ...(denied.length === 0 ? [] : [`denied: ${denied.join(', ')}`]),
    ...[...allowed, ...denied].flatMap((pattern) => findHostPatternProblem(pattern) ?? []),
  ];
}

function describeSockets(
  { unixSockets, localPorts }: SandboxPlan,
  { allowUnixSockets = [] }: SandboxSettings,
): readonly string[] {
  return [
    ...(unixSockets === 'all' ? ['all Unix sockets (commands can control the daemons that listen on them)'] : []),
    ...(unixSockets !== 'all' && allowUnixSockets.length > 0 ? [allowUnixSockets.join(', ')] : []),
    ...(localPorts === 'open' ? ['local ports of this machine (macOS)'] : []),
  ];
}

function truncateCommand(command: string): string {
  return truncateEnd(command.trim().split('\n')[0] ?? '', COMMAND_WIDTH);
}
