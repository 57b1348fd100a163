import type { RuleSuggestion, TraceStep } from '../contracts/permission.ts';
import { splitWords } from '../lib/text/lines.ts';
import {
  type DecisionContext,
  describeRule,
  findPathRule,
  findRule,
  isInWorkspace,
  type Requirement,
} from './decision-context.ts';
import { getAutoRunReason, getProcessSecretFileReason, getProtectedWriteReason } from './paths/protected-paths.ts';
import { getSecretPathReason } from './paths/secret-paths.ts';
import { isPathInside, type ResolvedPath } from './resolve-path.ts';
import { formatRule } from './rules/parse-rule.ts';
import { isExactPathRule, matchesPathRule, type PathUse } from './rules/path-rules.ts';
import { FAMILY_RULE_NAMES, getRuleFamily } from './rules/rule-families.ts';

/** Devices that hold no data. */
const DEVICES = ['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/stdin', '/dev/zero', '/dev/fd/1', '/dev/fd/2'];

/** World-readable files that describe the system. */
const SYSTEM_INFO_FILES = splitWords(`
  /etc/os-release /usr/lib/os-release /etc/lsb-release /etc/debian_version /etc/alpine-release /etc/redhat-release
  /etc/timezone /etc/shells /proc/cpuinfo /proc/meminfo /proc/loadavg /proc/uptime /proc/version
`);

/** Returns what blocks using the path: deny and ask rules, and breakers. */
export function listPathBlockers(context: DecisionContext, use: PathUse): readonly TraceStep[] {
  const { path } = use;
  const steps: TraceStep[] = [];
  const verb = use.use === 'read' ? 'Reading' : 'Writing';
  if (use.use === 'write' && DEVICES.includes(path.real)) return steps;
  for (const behavior of ['deny', 'ask'] as const) {
    const rule = findPathRule(context, behavior, use) ?? findUnreadableRule(context, behavior, use);
    if (rule === undefined) continue;
    const effect = behavior === 'deny' ? 'is denied by' : 'needs approval because of';
    steps.push({
      stage: behavior,
      verdict: behavior,
      subject: formatPath(path),
      rule,
      text: `${verb} ${formatPath(path)} ${effect} ${describeRule(rule)}.`,
    });
  }
  const reason = use.use === 'read' ? getProcessSecretFileReason(path) : getProtectedWriteReason(path, context.policy);
  if (reason !== undefined && findExactRule(context, use, 'trusted') === undefined) {
    steps.push({
      stage: 'breaker',
      verdict: 'ask',
      subject: formatPath(path),
      text: `${verb} ${formatPath(path)} always needs approval: ${reason}.`,
    });
  }
  return steps;
}

/** Finds a read rule against a file that would be replaced: replacing it unread does not bypass the rule. */
function findUnreadableRule(context: DecisionContext, behavior: 'deny' | 'ask', use: PathUse) {
  if (use.replaces !== true || use.path.kind === 'missing') return undefined;
  const readUse: PathUse = { ...use, use: 'read' };
  return findRule(
    context,
    behavior,
    (rule) =>
      rule.specifier !== undefined &&
      getRuleFamily(rule.tool) === 'read' &&
      matchesPathRule(rule, readUse, context.policy),
  );
}

/** Returns the requirement to use the path, with what allows it. */
export function createPathRequirement(context: DecisionContext, use: PathUse): Requirement {
  const { path } = use;
  const kind = use.use === 'read' ? 'read' : 'edit';
  const subject = formatPath(path);
  const verb = use.use === 'read' ? 'Reading' : 'Writing';
  if (DEVICES.includes(path.real))
    return { kind, subject, text: `${subject} holds no data.`, allowedBy: { by: 'default' } };
  const suggestion = path.problem === undefined ? { suggestion: suggestPath(use) } : {};
  const target = kind === 'edit' ? { path: path.real } : {};
  if (path.problem !== undefined)
    return { kind, subject, text: `${verb} ${subject} needs approval: ${path.problem}`, ...target };
  if (use.use === 'read' && SYSTEM_INFO_FILES.includes(path.real))
    return { kind, subject, text: `${subject} describes the system.`, allowedBy: { by: 'default' } };
  const exact = findExactRule(context, use, 'any');
  if (use.use === 'write' && path.nlink > 1 && exact === undefined) {
    return {
      kind,
      subject,
      text: `${subject} has other hard links, so writing it needs approval.`,
      ...target,
      ...suggestion,
    };
  }
  const secret = use.use === 'read' ? getSecretFileReason(context, path) : undefined;
  // No rule is suggested: an answer to it is not stored.
  if (secret !== undefined && exact === undefined)
    return { kind, subject, text: `Reading ${subject} needs approval: ${secret}.`, secret: path.real };
  const secretFields = secret === undefined ? {} : { secret: path.real, allowedSecret: path.real };
  const rule = exact ?? findPathRule(context, 'allow', use);
  const cover: Pick<Requirement, 'allowedBy'> = rule === undefined ? {} : { allowedBy: { by: 'rule', rule } };
  const isWorkspacePath = isInWorkspace(path, context);
  if (use.use === 'read' && isWorkspacePath) {
    const text = `${subject} is inside the workspace.`;
    return { kind, subject, text, allowedBy: { by: 'default' }, ...secretFields };
  }
  if (isPrivateInSandbox(path, context))
    return { kind, subject, text: `${subject} is in the private folder of commands.`, allowedBy: { by: 'default' } };
  const autoRun = use.use === 'write' ? getAutoRunReason(path, context.roots, context.policy.frozenPaths) : undefined;
  const text =
    rule !== undefined
      ? `${verb} ${subject} is allowed by ${describeRule(rule)}.`
      : isWorkspacePath
        ? `${verb} ${subject} changes the workspace${autoRun === undefined ? '' : `, and ${autoRun}`}.`
        : `${subject} is outside the workspace.`;
  return {
    kind,
    subject,
    text,
    ...target,
    ...secretFields,
    ...(rule === undefined && autoRun === undefined
      ? {
          reason: {
            code: isWorkspacePath ? ('writes_workspace' as const) : ('outside_workspace' as const),
            path: subject,
          },
        }
      : {}),
    ...cover,
    ...(isWorkspacePath && kind === 'edit' && autoRun === undefined ? { editScope: 'workspace' as const } : {}),
    ...suggestion,
  };
}

/** Returns whether a sandboxed command finds a file of its own at this path, whatever is there outside. */
function isPrivateInSandbox(path: ResolvedPath, { facts, policy, roots }: DecisionContext): boolean {
  if (policy.sandbox === undefined || facts.kind !== 'shell' || facts.outside !== undefined) return false;
  if (policy.privateFolder === undefined || !isPathInside(path.lexical, policy.privateFolder)) return false;
  return ![...roots, ...policy.workspaceRoots].some((root) => isPathInside(path.lexical, root));
}

/** Returns the reason why a file may hold secrets, by its path or a hard link of it. */
export function getSecretFileReason(context: DecisionContext, path: ResolvedPath): string | undefined {
  const reason = getSecretPathReason(path, context.policy);
  if (reason !== undefined || path.inode === undefined) return reason;
  const { paths, search } = context.lookups.findHardLinks(path);
  const other = paths.find((name) => getSecretPathReason(name, context.policy) !== undefined);
  if (other !== undefined) return `${other.real} is the same file, and may hold secrets`;
  return search === 'whole' ? undefined : 'it has other hard links, and the workspace is too large to find all of them';
}

/** Suggests a rule for this file, or for everything in this folder. */
function suggestPath({ use, path }: PathUse): RuleSuggestion {
  const escaped = path.real.replace(/[\\*?[\]!]/g, '\\$&');
  const isFolder = use === 'read' && path.kind === 'directory';
  const rule = formatRule(FAMILY_RULE_NAMES[use === 'read' ? 'read' : 'edit'], `/${escaped}${isFolder ? '/**' : ''}`);
  return {
    rule,
    covers: `${use === 'read' ? 'reading' : 'changing'} ${path.real}${isFolder ? ' and everything in it' : ''}`,
    access: { use, path: path.real },
  };
}

function findExactRule(context: DecisionContext, use: PathUse, sources: 'trusted' | 'any') {
  return context.policy.rules.find(
    (rule) =>
      rule.behavior === 'allow' &&
      rule.problem === undefined &&
      (sources === 'any' || rule.source === 'user' || rule.source === 'managed') &&
      isExactPathRule(rule, use, context.policy),
  );
}

function formatPath(path: ResolvedPath): string {
  return path.real === path.lexical ? path.lexical : `${path.lexical} (really ${path.real})`;
}
