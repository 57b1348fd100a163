import type { RuleSuggestion, TraceStep } from '../../contracts/permission.ts';
import { FAMILY_WORD, familyOf } from '../rules/families.ts';
import { formatRule } from '../rules/rules.ts';
import { type DecisionContext, findPathRule, findRule, isInWorkspace } from './context.ts';
import { type Need, ruleSays } from './finding.ts';
import { isExactPathRule, type PathUse, pathRuleMatches } from './path-rule.ts';
import type { ResolvedPath } from './paths.ts';
import { processRead, protectedWrite } from './protected.ts';
import { runFrom } from './run-from.ts';
import { sensitiveRead } from './secrets.ts';

const DEVICES = ['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/stdin', '/dev/zero', '/dev/fd/1', '/dev/fd/2'];

/** What a system says of itself, to everybody. */
const TELLING = [
  '/etc/os-release',
  '/usr/lib/os-release',
  '/etc/lsb-release',
  '/etc/debian_version',
  '/etc/alpine-release',
  '/etc/redhat-release',
  '/etc/timezone',
  '/etc/shells',
  '/proc/cpuinfo',
  '/proc/meminfo',
  '/proc/loadavg',
  '/proc/uptime',
  '/proc/version',
];

/** What speaks against using the path: rules that deny or ask, and the breakers. */
export function pathObjections(context: DecisionContext, use: PathUse): readonly TraceStep[] {
  const { path } = use;
  const steps: TraceStep[] = [];
  const verb = use.use === 'read' ? 'Reading' : 'Writing';
  if (use.use === 'write' && DEVICES.includes(path.real)) return steps;
  for (const behavior of ['deny', 'ask'] as const) {
    const rule = findPathRule(context, behavior, use) ?? unreadRule(context, behavior, use);
    if (rule === undefined) continue;
    const says = behavior === 'deny' ? 'is denied by' : 'is to be asked, by';
    steps.push({
      stage: behavior,
      verdict: behavior,
      subject: shown(path),
      rule,
      text: `${verb} ${shown(path)} ${says} ${ruleSays(rule)}.`,
    });
  }
  const guarded = use.use === 'read' ? processRead(path) : protectedWrite(path, context.policy);
  if (guarded !== undefined && exactRule(context, use, 'trusted') === undefined) {
    steps.push({
      stage: 'breaker',
      verdict: 'ask',
      subject: shown(path),
      text: `${verb} ${shown(path)} always asks: ${guarded}.`,
    });
  }
  return steps;
}

/** What may not be read may not be replaced unread either. */
function unreadRule(context: DecisionContext, behavior: 'deny' | 'ask', use: PathUse) {
  if (use.replaces !== true || use.path.kind === 'missing') return undefined;
  const read: PathUse = { ...use, use: 'read' };
  return findRule(
    context,
    behavior,
    (rule) =>
      rule.specifier !== undefined && familyOf(rule.tool) === 'read' && pathRuleMatches(rule, read, context.policy),
  );
}

/** What the path needs to be used without a question. */
export function pathNeed(context: DecisionContext, use: PathUse): Need {
  const { path } = use;
  const kind = use.use === 'read' ? 'read' : 'edit';
  const subject = shown(path);
  const verb = use.use === 'read' ? 'Reading' : 'Writing';
  if (DEVICES.includes(path.real))
    return { kind, subject, text: `${subject} holds nothing.`, cover: { by: 'default' } };
  const suggestion = path.problem === undefined ? { suggestion: suggestPath(use) } : {};
  if (path.problem !== undefined) return { kind, subject, text: `${verb} ${subject} asks: ${path.problem}` };
  if (use.use === 'read' && TELLING.includes(path.real))
    return { kind, subject, text: `${subject} tells of the machine.`, cover: { by: 'default' } };
  const exact = exactRule(context, use, 'any');
  if (use.use === 'write' && path.nlink > 1 && exact === undefined) {
    return {
      kind,
      subject,
      text: `${subject} is one of several names of the same file, so writing it asks.`,
      ...suggestion,
    };
  }
  const secret = use.use === 'read' ? secretUnder(context, path) : undefined;
  if (secret !== undefined && exact === undefined) {
    return { kind, subject, text: `Reading ${subject} asks: ${secret}.`, ...suggestion };
  }
  const rule = exact ?? findPathRule(context, 'allow', use);
  const cover = rule === undefined ? {} : { cover: { by: 'rule', rule } as const };
  const inside = isInWorkspace(path, context);
  if (use.use === 'read' && inside) {
    return { kind, subject, text: `${subject} is inside the workspace.`, cover: { by: 'default' } };
  }
  const obeyed = use.use === 'write' ? runFrom(path, context.roots) : undefined;
  const text =
    rule !== undefined
      ? `${verb} ${subject} is allowed by ${ruleSays(rule)}.`
      : inside
        ? `${verb} ${subject} changes the workspace${obeyed === undefined ? '' : `, and ${obeyed}`}.`
        : `${subject} is outside the workspace.`;
  return {
    kind,
    subject,
    text,
    ...(kind === 'edit' ? { path: path.real } : {}),
    ...cover,
    ...(inside && kind === 'edit' && obeyed === undefined ? { edits: 'workspace' as const } : {}),
    ...suggestion,
  };
}

/** Why a file may hold secrets, by this or another name of it. */
export function secretUnder(context: DecisionContext, path: ResolvedPath): string | undefined {
  const own = sensitiveRead(path, context.policy);
  if (own !== undefined || path.inode === undefined) return own;
  const { names, search } = context.known.otherNames(path);
  const other = names.find((name) => sensitiveRead(name, context.policy) !== undefined);
  if (other !== undefined) return `${other.real} is the same file, and may hold secrets`;
  return search === 'whole' ? undefined : 'it has other names, and the workspace is too large to look for all of them';
}

/** A rule for this one file; for a folder, for what is in it. */
function suggestPath({ use, path }: PathUse): RuleSuggestion {
  const escaped = path.real.replace(/[\\*?[\]!]/g, '\\$&');
  const folder = use === 'read' && path.kind === 'directory';
  const rule = formatRule(FAMILY_WORD[use === 'read' ? 'read' : 'edit'], `/${escaped}${folder ? '/**' : ''}`);
  return {
    rule,
    covers: `${use === 'read' ? 'reading' : 'changing'} ${path.real}${folder ? ' and what is in it' : ''}`,
  };
}

function exactRule(context: DecisionContext, use: PathUse, sources: 'trusted' | 'any') {
  return context.policy.rules.find(
    (rule) =>
      rule.behavior === 'allow' &&
      rule.problem === undefined &&
      (sources === 'any' || rule.source === 'user' || rule.source === 'managed') &&
      isExactPathRule(rule, use, context.policy),
  );
}

function shown(path: ResolvedPath): string {
  return path.real === path.lexical ? path.lexical : `${path.lexical} (really ${path.real})`;
}
