import type { Rule } from '../../contracts/permission.ts';
import type { SandboxSettings } from '../../contracts/settings.ts';
import { HOST_WORD } from '../../permissions/rules/families.ts';
import { problemOfPattern } from '../../sandbox/network/host-pattern.ts';
import type { SandboxPlan } from '../../sandbox/plan.ts';
import { firstLine } from '../../tools/bash/shells.ts';
import type { Sandbox } from './sandbox.ts';

const SHOWN = 10;

/** Where commands run, what they reach there, and what they were kept from lately. */
export function sandboxWords(
  sandbox: Pick<Sandbox, 'state' | 'asks' | 'refusals'>,
  settings: SandboxSettings = {},
  rules: readonly Rule[] = [],
): string {
  const state = sandbox.state();
  if (state.is === 'off') return 'Shell commands run without a sandbox. /sandbox on puts them into one.';
  if (state.is === 'unavailable') return `A sandbox is asked for and cannot be had: ${state.why}. No command runs.`;
  const { roots, allowWrite, denyRead, denyWrite } = state.plan;
  const refusals = sandbox.refusals().slice(-SHOWN);
  return [
    'Shell commands run in a sandbox.',
    `  may write  ${[...roots, ...allowWrite, '/tmp of their own'].join(', ')}`,
    '  may not    see keys and credentials, reach daemons, change or make .git/hooks, .mcp.json, .envrc, .vscode and the like',
    ...(denyRead.length === 0 ? [] : [`             read ${denyRead.join(', ')}`]),
    ...(denyWrite.length === 0 ? [] : [`             write ${denyWrite.join(', ')}`]),
    sandbox.asks() === 'unasked'
      ? '  unasked    runs what stays inside; denials, secrets and what is to run outside are asked about as ever'
      : '  unasked    runs only what the rules allow; /sandbox auto lets everything run that stays inside',
    ...networkWords(state.plan, settings, rules).map(
      (line, at) => `${at === 0 ? '  network    ' : '             '}${line}`,
    ),
    ...(state.noNetwork === undefined ? [] : [`             none in fact: ${state.noNetwork}`]),
    ...socketWords(state.plan, settings).map((line) => `  sockets    ${line}`),
    ...refusals.map(
      ({ host, why, command }, at) =>
        `${at === 0 ? '  lately     ' : '             '}not reached: ${host} (${why}), by ${firstLine(command)}`,
    ),
  ].join('\n');
}

function networkWords({ network }: SandboxPlan, settings: SandboxSettings, rules: readonly Rule[]): readonly string[] {
  if (network !== 'hosts') return [network === 'open' ? 'open' : 'none'];
  const { allowedDomains = [], deniedDomains = [], strictAllowlist = false } = settings;
  const ofRules = (behavior: Rule['behavior']) =>
    rules.flatMap((rule) =>
      rule.tool === HOST_WORD && rule.behavior === behavior && rule.specifier !== undefined
        ? [rule.specifier.replace(/^domain:/, '')]
        : [],
    );
  const allowed = [...allowedDomains, ...ofRules('allow')];
  const denied = [...deniedDomains, ...ofRules('deny')];
  return [
    strictAllowlist ? 'the hosts that are allowed, no others' : 'host by host: a new one is asked about',
    ...(allowed.length === 0 ? [] : [`allowed ${allowed.join(', ')}`]),
    ...(denied.length === 0 ? [] : [`never ${denied.join(', ')}`]),
    ...[...allowed, ...denied].flatMap((pattern) => problemOfPattern(pattern) ?? []),
  ];
}

function socketWords(
  { unixSockets, localPorts }: SandboxPlan,
  { allowUnixSockets = [] }: SandboxSettings,
): readonly string[] {
  return [
    ...(unixSockets === 'all' ? ['every one that can be seen: what listens there does what it is told'] : []),
    ...(unixSockets !== 'all' && allowUnixSockets.length > 0 ? [allowUnixSockets.join(', ')] : []),
    ...(localPorts === 'open' ? ['on macOS ports of this machine, too'] : []),
  ];
}
