import type { Rule, TraceStep } from '../contracts/permission.ts';
import { isPublicAddress } from '../lib/network/ip-address.ts';
import { compileStarPattern } from '../lib/patterns/glob.ts';
import {
  type AnalysisFindings,
  type DecisionContext,
  describeRule,
  findRule,
  type Requirement,
  resolveCallPath,
} from './decision-context.ts';
import { createPathRequirement, listPathBlockers } from './path-requirements.ts';
import { formatRule } from './rules/parse-rule.ts';
import type { PathUse } from './rules/path-rules.ts';
import { coversTool } from './rules/rule-families.ts';
import { collectShellFindings } from './shell/collect-findings.ts';

/** Analyses a call by the kind of its tool. */
export function collectCallFindings(context: DecisionContext): AnalysisFindings {
  const { facts } = context;
  if (facts.problem !== undefined) return createFindings({ kind: 'other', subject: facts.tool, text: facts.problem });
  switch (facts.kind) {
    case 'shell':
      return collectShellFindings(context, facts.command ?? '');
    case 'read':
    case 'edit':
      return analyzePathCall(context);
    case 'fetch':
      return analyzeFetchCall(context);
    case 'session':
      return createFindings({
        kind: 'read',
        subject: facts.tool,
        text: `${facts.tool} only changes the session.`,
        allowedBy: { by: 'default' },
      });
    default:
      return analyzeOtherCall(context);
  }
}

/** Returns deny and ask rules about the whole tool, and invalid ones, which make their tool ask. */
export function listToolBlockers(context: DecisionContext): readonly TraceStep[] {
  const { facts, policy } = context;
  return policy.rules.flatMap((rule): readonly TraceStep[] => {
    if (rule.behavior === 'allow' || !isRuleForTool(rule, facts.tool)) return [];
    const subject = facts.tool;
    if (rule.problem !== undefined) {
      const text = `${describeRule(rule)} is invalid (${rule.problem}), so ${facts.tool} needs approval.`;
      return [{ stage: 'ask', verdict: 'ask', subject, rule, text }];
    }
    if (rule.specifier !== undefined) return [];
    const effect = rule.behavior === 'deny' ? 'is denied by' : 'needs approval because of';
    const text = `${facts.tool} ${effect} ${describeRule(rule)}.`;
    return [{ stage: rule.behavior, verdict: rule.behavior, subject, rule, text }];
  });
}

/** Returns whether a rule without parentheses is about this tool: by its name, its MCP server or its family. */
export function isRuleForTool(rule: Rule, tool: string): boolean {
  if (rule.tool === tool || rule.tool === '*') return true;
  if (rule.tool.startsWith('mcp__')) {
    const server = rule.tool.replace(/__\*$/, '');
    if (server.endsWith('*')) return tool.startsWith(server.slice(0, -1));
    return rule.tool.endsWith('__*') || !server.slice(5).includes('__')
      ? tool === server || tool.startsWith(`${server}__`)
      : false;
  }
  return coversTool(rule.tool, tool);
}

function analyzePathCall(context: DecisionContext): AnalysisFindings {
  const { facts, policy } = context;
  const uses: readonly PathUse[] = [
    ...(facts.reads ?? []).map((path) => ({
      tool: facts.tool,
      use: 'read' as const,
      path: resolveCallPath(context, policy.cwd, path),
    })),
    ...(facts.writes ?? []).map((path) => ({
      tool: facts.tool,
      use: 'write' as const,
      replaces: true,
      path: resolveCallPath(context, policy.cwd, path),
    })),
  ];
  if (uses.length === 0)
    return createFindings({ kind: 'other', subject: facts.tool, text: `${facts.tool} names no path.` });
  return {
    blockers: uses.flatMap((use) => listPathBlockers(context, use)),
    requirements: uses.map((use) => createPathRequirement(context, use)),
    unanalysed: [],
    hardens: [],
  };
}

function analyzeFetchCall(context: DecisionContext): AnalysisFindings {
  const { facts } = context;
  const target = parseUrlHost(facts.url ?? '');
  const subject = facts.url ?? '';
  if (!target.ok) {
    return {
      blockers: [{ stage: 'breaker', verdict: 'deny', subject, text: target.problem }],
      requirements: [],
      unanalysed: [],
      hardens: [],
    };
  }
  const { host } = target;
  const matches = (rule: Rule) => rule.tool === facts.tool && matchesHostRule(rule, host);
  return {
    blockers: findRuleBlockers(context, host, (rule) => rule.specifier !== undefined && matches(rule)),
    requirements: [
      createRequirement(context, 'fetch', `fetching from ${host}`, matches, formatRule(facts.tool, `domain:${host}`)),
    ],
    unanalysed: [],
    hardens: [],
  };
}

function analyzeOtherCall(context: DecisionContext): AnalysisFindings {
  const { facts } = context;
  const { tool, specifier } = facts;
  const matches = (rule: Rule) =>
    isRuleForTool(rule, tool) &&
    (rule.specifier === undefined || (specifier !== undefined && matchesSpecifier(rule.specifier, specifier)));
  const blockers = findRuleBlockers(
    context,
    specifier ?? tool,
    (rule) => rule.specifier !== undefined && matches(rule),
  );
  if (facts.kind === 'agent' || facts.kind === 'skill') {
    const text =
      facts.kind === 'agent' ? 'A sub-agent has at most the permissions of this session.' : 'A skill is only text.';
    return {
      blockers,
      requirements: [{ kind: 'read', subject: tool, text, allowedBy: { by: 'default' } }],
      unanalysed: [],
      hardens: [],
    };
  }
  return {
    blockers,
    requirements: [createRequirement(context, 'other', tool, matches, formatRule(tool))],
    unanalysed: [],
    hardens: [],
  };
}

function matchesSpecifier(pattern: string, value: string): boolean {
  return compileStarPattern(pattern.replace(/:\*$/, '*'))(value);
}

function findRuleBlockers(
  context: DecisionContext,
  subject: string,
  matches: (rule: Rule) => boolean,
): readonly TraceStep[] {
  return (['deny', 'ask'] as const).flatMap((behavior): readonly TraceStep[] => {
    const rule = findRule(context, behavior, matches);
    if (rule === undefined) return [];
    const effect = behavior === 'deny' ? 'is denied by' : 'needs approval because of';
    return [{ stage: behavior, verdict: behavior, subject, rule, text: `${subject} ${effect} ${describeRule(rule)}.` }];
  });
}

function createRequirement(
  context: DecisionContext,
  kind: Requirement['kind'],
  subject: string,
  matches: (rule: Rule) => boolean,
  suggested: string,
): Requirement {
  const rule = findRule(context, 'allow', matches);
  const suggestion = { rule: suggested, covers: subject };
  if (rule === undefined)
    return { kind, subject, text: `No rule allows ${subject}.`, reason: { code: 'no_rule' }, suggestion };
  return {
    kind,
    subject,
    text: `${subject} is allowed by ${describeRule(rule)}.`,
    allowedBy: { by: 'rule', rule },
    suggestion,
  };
}

function createFindings(requirement: Requirement): AnalysisFindings {
  return { blockers: [], requirements: [requirement], unanalysed: [], hardens: [] };
}

/** The host of a URL, or the reason why the URL is refused whatever the rules say. */
type ParsedHost = { readonly ok: true; readonly host: string } | { readonly ok: false; readonly problem: string };

/** Parses a URL the way the fetch will; unusual bytes, credentials and private hosts are refused. */
function parseUrlHost(url: string): ParsedHost {
  if (/[\u0000-\u0020\u007f-\u00a0\\]/.test(url))
    return { ok: false, problem: 'The URL contains an invalid character.' };
  const parsed = URL.parse(url);
  if (parsed === null) return { ok: false, problem: 'This is not a valid URL.' };
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')
    return { ok: false, problem: `${parsed.protocol} URLs are not supported.` };
  if (parsed.username !== '' || parsed.password !== '')
    return { ok: false, problem: 'The URL contains a user name or password.' };
  const host = parsed.hostname.replace(/\.$/, '');
  if (host === '' || isPrivate(host))
    return { ok: false, problem: `${host || 'The empty host'} is on this machine or a private network.` };
  return { ok: true, host };
}

/** Returns whether a rule matches a host. `*.example.com` means subdomains, which deny and ask rules always include. */
function matchesHostRule({ specifier, behavior }: Pick<Rule, 'specifier' | 'behavior'>, host: string): boolean {
  if (specifier === undefined) return true;
  const [, star = '', name = ''] = /^domain:(\*\.)?(.*?)\.?$/.exec(specifier) ?? [];
  const pattern = URL.parse(`https://${name}`)?.hostname ?? name.toLowerCase();
  const isSubdomain = host.endsWith(`.${pattern}`);
  return star === '' ? host === pattern || (isSubdomain && behavior !== 'allow') : isSubdomain;
}

/** Returns whether a host is of this machine or of a private network, by its address or its name. */
function isPrivate(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (/^[\d.]+$|:/.test(address)) return !isPublicAddress(address);
  if (host === 'localhost' || !host.includes('.')) return true;
  return /\.(?:localhost|local|internal|home\.arpa|intranet|lan|corp)$/.test(host);
}
