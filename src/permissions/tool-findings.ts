import type { Rule, TraceStep } from '../contracts/permission.ts';
import { starTest } from '../lib/patterns/linear-match.ts';
import { shellFindings } from './bash/shell-findings.ts';
import { type DecisionContext, findRule, resolveIn } from './paths/context.ts';
import { type Findings, type Need, ruleSays } from './paths/finding.ts';
import { pathNeed, pathObjections } from './paths/path-findings.ts';
import type { PathUse } from './paths/path-rule.ts';
import { speaksOfTool } from './rules/families.ts';
import { hostMatches, readHost } from './rules/hosts.ts';
import { formatRule } from './rules/rules.ts';

/** What was found about a call, by the kind of its tool. */
export function toolFindings(context: DecisionContext): Findings {
  const { facts } = context;
  if (facts.problem !== undefined) return single({ kind: 'other', subject: facts.tool, text: facts.problem });
  switch (facts.kind) {
    case 'shell':
      return shellFindings(context, facts.command ?? '');
    case 'read':
    case 'edit':
      return pathFindings(context);
    case 'fetch':
      return fetchFindings(context);
    case 'session':
      return single({
        kind: 'read',
        subject: facts.tool,
        text: `${facts.tool} touches only the session.`,
        cover: { by: 'default' },
      });
    default:
      return namedFindings(context);
  }
}

/** Rules about the tool as a whole, and denials nobody can read, which make their tool ask. */
export function toolObjections(context: DecisionContext): readonly TraceStep[] {
  const { facts, policy } = context;
  return policy.rules.flatMap((rule): readonly TraceStep[] => {
    if (rule.behavior === 'allow' || !namesTool(rule, facts.tool)) return [];
    const subject = facts.tool;
    if (rule.problem !== undefined) {
      const text = `${ruleSays(rule)} cannot be understood (${rule.problem}), so ${facts.tool} asks.`;
      return [{ stage: 'ask', verdict: 'ask', subject, rule, text }];
    }
    if (rule.specifier !== undefined) return [];
    const says = rule.behavior === 'deny' ? 'is denied by' : 'is to be asked, by';
    return [
      { stage: rule.behavior, verdict: rule.behavior, subject, rule, text: `${facts.tool} ${says} ${ruleSays(rule)}.` },
    ];
  });
}

/** True when a rule without parentheses speaks of this tool: by name, by server, by what it does. */
export function namesTool(rule: Rule, tool: string): boolean {
  if (rule.tool === tool || rule.tool === '*') return true;
  if (rule.tool.startsWith('mcp__')) {
    const server = rule.tool.replace(/__\*$/, '');
    if (server.endsWith('*')) return tool.startsWith(server.slice(0, -1));
    return rule.tool.endsWith('__*') || !server.slice(5).includes('__')
      ? tool === server || tool.startsWith(`${server}__`)
      : false;
  }
  return speaksOfTool(rule.tool, tool);
}

function pathFindings(context: DecisionContext): Findings {
  const { facts, policy } = context;
  const uses: readonly PathUse[] = [
    ...(facts.reads ?? []).map((path) => ({
      tool: facts.tool,
      use: 'read' as const,
      path: resolveIn(context, policy.cwd, path),
    })),
    ...(facts.writes ?? []).map((path) => ({
      tool: facts.tool,
      use: 'write' as const,
      replaces: true,
      path: resolveIn(context, policy.cwd, path),
    })),
  ];
  if (uses.length === 0) return single({ kind: 'other', subject: facts.tool, text: `${facts.tool} names no path.` });
  return {
    objections: uses.flatMap((use) => pathObjections(context, use)),
    needs: uses.map((use) => pathNeed(context, use)),
    unanalysed: [],
    hardens: [],
  };
}

function fetchFindings(context: DecisionContext): Findings {
  const { facts } = context;
  const read = readHost(facts.url ?? '');
  const subject = facts.url ?? '';
  if (!read.ok) {
    return {
      objections: [{ stage: 'breaker', verdict: 'deny', subject, text: read.why }],
      needs: [],
      unanalysed: [],
      hardens: [],
    };
  }
  const fits = (rule: Rule) => rule.tool === facts.tool && hostMatches(rule, read.host);
  return {
    objections: objectionsBy(context, read.host, (rule) => rule.specifier !== undefined && fits(rule)),
    needs: [
      needBy(context, 'fetch', `fetching from ${read.host}`, fits, formatRule(facts.tool, `domain:${read.host}`)),
    ],
    unanalysed: [],
    hardens: [],
  };
}

function namedFindings(context: DecisionContext): Findings {
  const { facts } = context;
  const { tool, specifier } = facts;
  const fits = (rule: Rule) =>
    namesTool(rule, tool) &&
    (rule.specifier === undefined || (specifier !== undefined && specifierFits(rule.specifier, specifier)));
  const objections = objectionsBy(context, specifier ?? tool, (rule) => rule.specifier !== undefined && fits(rule));
  if (facts.kind === 'agent' || facts.kind === 'skill') {
    const text =
      facts.kind === 'agent' ? 'A sub-agent has at most the permissions of this session.' : 'A skill is text.';
    return {
      objections,
      needs: [{ kind: 'read', subject: tool, text, cover: { by: 'default' } }],
      unanalysed: [],
      hardens: [],
    };
  }
  return {
    objections,
    needs: [needBy(context, 'other', tool, fits, formatRule(tool))],
    unanalysed: [],
    hardens: [],
  };
}

function specifierFits(pattern: string, value: string): boolean {
  return starTest(pattern.replace(/:\*$/, '*'))(value);
}

function objectionsBy(context: DecisionContext, subject: string, fits: (rule: Rule) => boolean): readonly TraceStep[] {
  return (['deny', 'ask'] as const).flatMap((behavior): readonly TraceStep[] => {
    const rule = findRule(context, behavior, fits);
    if (rule === undefined) return [];
    const says = behavior === 'deny' ? 'is denied by' : 'is to be asked, by';
    return [{ stage: behavior, verdict: behavior, subject, rule, text: `${subject} ${says} ${ruleSays(rule)}.` }];
  });
}

function needBy(
  context: DecisionContext,
  kind: Need['kind'],
  subject: string,
  fits: (rule: Rule) => boolean,
  suggested: string,
): Need {
  const rule = findRule(context, 'allow', fits);
  const suggestion = { rule: suggested, covers: subject };
  if (rule === undefined) return { kind, subject, text: `No rule allows ${subject}.`, suggestion };
  return {
    kind,
    subject,
    text: `${subject} is allowed by ${ruleSays(rule)}.`,
    cover: { by: 'rule', rule },
    suggestion,
  };
}

function single(need: Need): Findings {
  return { objections: [], needs: [need], unanalysed: [], hardens: [] };
}
