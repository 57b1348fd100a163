import type { Rule } from '../../contracts/permission.ts';
import {
  type AnalysisFindings,
  type DecisionContext,
  describeRule,
  type Requirement,
  resolveCallPath,
} from '../decision-context.ts';
import { listPathBlockers } from '../path-requirements.ts';
import { findSystemFolderInside } from '../paths/protected-paths.ts';
import { isPathInside, type ResolvedPath } from '../resolve-path.ts';
import { findSandboxExceptionProblem, formatRule, formatSandboxException } from '../rules/parse-rule.ts';
import { SANDBOX_EXCEPTION_RULE_NAME } from '../rules/rule-families.ts';

import {
  findAllowingRule,
  listSandboxExceptionBlockers,
  listSandboxExceptionRules,
  matchExceptionCommands,
  type SandboxExceptionRule,
} from './run-outside.ts';

/** Limit of paths one call may ask for. */
const MAX_PATHS = 10;

/**
 * Adds a requirement for each path that a sandboxed call asks to write. Each needs its own approval, once or by a rule
 * such as `Outside(write:~/.cache/x)` or `Outside(npm:* write:~/.npm)`; protected paths are denied. An edit rule opens
 * nothing: it covers one tool with one text.
 */
export function addWritePathFindings(context: DecisionContext, findings: AnalysisFindings): AnalysisFindings {
  const { facts, policy } = context;
  if (policy.sandbox === undefined || facts.outside !== undefined || facts.opens === undefined) return findings;
  const { writable, readOnly } = policy.sandboxPaths?.() ?? { writable: [], readOnly: [] };
  const isClosed = ({ real }: ResolvedPath) => readOnly.some((folder) => isPathInside(real, folder));
  const requested = facts.opens
    .map((path) => resolveCallPath(context, policy.cwd, path))
    .filter(
      (path) =>
        path.problem !== undefined || isClosed(path) || !writable.some((folder) => isPathInside(path.real, folder)),
    );
  const rules = listSandboxExceptionRules(context);
  const results = requested.map((path) => analyzeWritePath(context, path, rules, isClosed(path)));
  const tooMany = {
    stage: 'breaker',
    verdict: 'deny',
    text: `A call may ask for at most ${MAX_PATHS} paths.`,
  } as const;
  return {
    ...findings,
    blockers: [
      ...(requested.length > MAX_PATHS ? [tooMany] : []),
      ...results.flatMap(({ blockers }) => blockers),
      ...findings.blockers,
    ],
    requirements: [...results.map(({ requirement }) => requirement), ...findings.requirements],
    opens: requested.map(({ real }) => real),
  };
}

type WritePathResult = { readonly blockers: AnalysisFindings['blockers']; readonly requirement: Requirement };

function analyzeWritePath(
  context: DecisionContext,
  path: ResolvedPath,
  rules: readonly SandboxExceptionRule[],
  isClosed: boolean,
): WritePathResult {
  const { facts } = context;
  const subject = formatPath(path);
  const why = path.problem ?? (isClosed ? CLOSED : explainTooBroad(path, context));
  const text = `It asks to write ${subject}, which the sandbox does not allow.`;
  const requirement = { kind: 'edit', subject, text, asks: 'to leave the sandbox' } as const;
  if (why !== undefined)
    return {
      blockers: [{ stage: 'breaker', verdict: 'deny', subject, text: `${subject} cannot be made writable: ${why}` }],
      requirement,
    };
  const matching = rules.filter((rule) => matchesPath(context, rule, path));
  const commandFindings = matchExceptionCommands(context, matching);
  const allowRule = findAllowRule(commandFindings, matching);
  const blockers = [
    ...listPathBlockers(context, { tool: facts.tool, use: 'write', path }),
    ...listSandboxExceptionBlockers(context, commandFindings, matching),
  ];
  if (allowRule !== undefined)
    return {
      blockers,
      requirement: {
        ...requirement,
        text: `${text} ${describeRule(allowRule)} allows it.`,
        allowedBy: { by: 'rule', rule: allowRule },
      },
    };
  const specifier = formatSandboxException({ grants: { kind: 'write', what: abbreviateHome(path, context) } });
  // A path that no rule can express asks every time.
  if (findSandboxExceptionProblem(specifier) !== undefined || specifier.includes('\n'))
    return { blockers, requirement };
  const rule = formatRule(SANDBOX_EXCEPTION_RULE_NAME, specifier);
  return {
    blockers,
    requirement: {
      ...requirement,
      suggestion: {
        rule,
        covers: `writing ${path.real} from inside the sandbox`,
        access: { use: 'write', path: path.real },
      },
    },
  };
}

const CLOSED = 'it is protected in every sandbox. A command that has to change it must ask to run outside the sandbox.';

/** Explains why a path is too broad: it contains the home folder or a system folder. */
function explainTooBroad({ real }: ResolvedPath, context: DecisionContext): string | undefined {
  const homes = [context.policy.home, resolveCallPath(context, '/', '~').real];
  const content = homes.some((home) => isPathInside(home, real))
    ? 'your whole home folder'
    : findSystemFolderInside(real);
  return content === undefined ? undefined : `it contains ${content}. Ask for a more specific path.`;
}

/** Returns an allow rule for any command, or one that matches all commands of the line. */
function findAllowRule(commandFindings: AnalysisFindings, rules: readonly SandboxExceptionRule[]): Rule | undefined {
  const forAnyCommand = rules.find(
    ({ rule, commands }) => rule.behavior === 'allow' && rule.problem === undefined && commands === undefined,
  );
  return forAnyCommand?.rule ?? findAllowingRule(commandFindings);
}

/** Matches allow rules against the real path only, deny and ask rules also against its spelling and paths inside it. */
function matchesPath(context: DecisionContext, { rule, grants }: SandboxExceptionRule, path: ResolvedPath): boolean {
  if (grants.kind === 'all') return true;
  if (grants.kind === 'host') return false;
  const rulePath = grants.what.replace(/\/\*\*$/, '').replace(/(?<=[^/]|^\/)\/+$/, '');
  const { lexical, real } = resolveCallPath(context, '/', rulePath);
  const home = resolveCallPath(context, '/', '~').real;
  if (rule.behavior === 'allow')
    return [lexical, rulePath.startsWith('~') ? `${home}${rulePath.slice(1)}` : lexical].some((allowed) =>
      isPathInside(path.real, allowed),
    );
  const ruled = [lexical, real];
  return [path.lexical, path.real].some((form) =>
    ruled.some((denied) => isPathInside(form, denied) || isPathInside(denied, form)),
  );
}

/** Writes the path with `~` if it is inside the home folder. */
function abbreviateHome({ real }: ResolvedPath, context: DecisionContext): string {
  const home = resolveCallPath(context, '/', '~').real;
  return home !== '/' && isPathInside(real, home) ? `~${real.slice(home.length)}` : real;
}

function formatPath({ lexical, real }: ResolvedPath): string {
  return real === lexical ? lexical : `${lexical} (really ${real})`;
}
