import type { CallDenial } from '../contracts/denial.ts';
import type { Decision, PermissionMode, Policy, Rule, ToolFacts } from '../contracts/permission.ts';
import { formatCount } from '../lib/text/format.ts';
import { isRuleForTool } from './collect-call-findings.ts';
import { describeRule } from './decision-context.ts';
import { findDeadReason, type KnownTools } from './lint-rules.ts';
import { FAMILY_RULE_NAMES } from './rules/rule-families.ts';
import { createDenyMatcher } from './shell/command-rules.ts';

/** A call that was denied without an answer to its request. */
export type DeniedCall = {
  readonly facts: ToolFacts;
  readonly decision: Decision;
  readonly policy: Policy;
};

/** Returns the structured reason of a denial by rule, mode or hook, or because the request could not be put. */
export function getCallDenial({ trace, reasons }: Decision): CallDenial {
  const reason = reasons.join(' ');
  const last = trace.at(-1);
  if (last?.stage === 'hook') return { by: 'hook', reason };
  if (last?.stage === 'answer') return { by: 'unattended', reason };
  const isByMode = trace.some(({ stage, verdict }) => stage === 'mode' && verdict === 'deny');
  return { by: isByMode ? 'mode' : 'rule', reason };
}

/** Formats a denial for the model: the reason, the nearest rule, and what would be allowed. */
export function formatDenialMessage(call: DeniedCall): string {
  const { facts, decision } = call;
  const near = decision.parts === undefined ? describeNearRule(call) : formatRefusedParts(decision.parts);
  return [`${facts.tool} was not run: ${decision.reasons.join(' ')}`, near, ...suggestRemedies(call)]
    .filter((part) => part !== '')
    .join(' ');
}

const MAX_PARTS = 5;
const MAX_PART_LENGTH = 80;

/** Formats the parts of a refused command line for the model. */
function formatRefusedParts({ refused, allowed }: NonNullable<Decision['parts']>): string {
  return `Refused: ${formatParts(refused)}. The other parts may be sent alone: ${formatParts(allowed)}.`;
}

/** Formats parts of a command line as a list of limited length. */
export function formatParts(parts: readonly string[]): string {
  const shown = parts.slice(0, MAX_PARTS).map((part) => {
    const line = part.replace(/\s+/g, ' ');
    return line.length > MAX_PART_LENGTH ? `${line.slice(0, MAX_PART_LENGTH)}…` : line;
  });
  return [...shown, ...(parts.length > MAX_PARTS ? [formatCount(parts.length - MAX_PARTS, 'other part')] : [])].join(
    ', ',
  );
}

function suggestRemedies({ facts, decision, policy }: DeniedCall): readonly string[] {
  const denying = decision.matched.find((rule) => rule.behavior === 'deny');
  if (denying !== undefined) return ['Only the user can change that rule. Go another way or tell the user.'];
  if (decision.trace.some((step) => step.stage === 'breaker'))
    return ['No mode allows this unasked. Tell the user what you need and why.'];
  if (policy.mode === 'plan') return ['Finish the plan and have it approved first.'];
  const rules = decision.suggestions.filter(({ uncovered }) => uncovered === undefined).map(({ rule }) => rule);
  const edits = rules.every((rule) => rule.startsWith(`${FAMILY_RULE_NAMES.edit}(`)) ? ' or the mode acceptEdits' : '';
  const flags = rules.map((rule) => `--allowedTools "${rule}"`).join(' ');
  return [
    `Allowed here without a question: ${describeAllowedCalls(policy, 'any', facts).join(', ')}.`,
    rules.length === 0
      ? 'Go another way, or tell the user what you need.'
      : `The user could allow it with ${flags}${edits}.`,
  ];
}

const MAX_RULES = 6;

/** Modes that allow edits in the workspace. */
const EDIT_MODES: readonly PermissionMode[] = ['acceptEdits', 'auto'];

/** Lists what runs without a question, for one tool or for all of them. */
export function describeAllowedCalls(
  policy: Policy,
  tools: KnownTools,
  call?: Pick<ToolFacts, 'tool' | 'kind'>,
): readonly string[] {
  const rules = [...new Set(listAllowRules(policy, tools, call?.tool).map(({ text }) => text))];
  return [
    call?.kind === 'shell' ? 'commands that only read the workspace' : 'reading in the workspace',
    ...(policy.mode === 'bypassPermissions' && policy.canBypass ? ['everything that no rule denies'] : []),
    ...(EDIT_MODES.includes(policy.mode) ? ['edits in the workspace'] : []),
    ...(policy.sandbox === 'unasked' && call?.kind !== 'edit' ? ['commands that stay in the sandbox'] : []),
    ...rules.slice(0, MAX_RULES),
    ...(rules.length > MAX_RULES ? [`${rules.length - MAX_RULES} more rules`] : []),
  ];
}

/** Lists the rules that allow something; not those that can never match. */
function listAllowRules(
  { rules, protectedPaths }: Policy,
  tools: KnownTools,
  tool: string | undefined,
): readonly Rule[] {
  return rules.filter(
    (rule) =>
      rule.behavior === 'allow' &&
      rule.problem === undefined &&
      // Rules for files of the session itself are not worth telling.
      !protectedPaths.some((path) => rule.specifier?.includes(path)) &&
      (tool === undefined || isRuleForTool(rule, tool)) &&
      findDeadReason(rule, tools) === undefined,
  );
}

/** Names the rules that cover parts of a command, or else a rule that matches a part in its widest reading. */
function describeNearRule({ facts, decision, policy }: DeniedCall): string {
  if (facts.kind !== 'shell') return '';
  const covering = decision.trace.flatMap(({ stage, rule }) => (stage === 'allow' && rule !== undefined ? [rule] : []));
  if (covering.length > 0) {
    const rules = [...new Set(covering.map(describeRule))].join(' and ');
    return `${rules} would allow its part of the command by itself, without the rest.`;
  }
  const commands = decision.trace.flatMap(({ verdict, subject }) =>
    verdict === 'ask' && subject !== undefined ? listTails(subject.split(' ')) : [],
  );
  const near = listAllowRules(policy, 'any', facts.tool).find(
    (rule) => rule.specifier !== undefined && commands.some(createDenyMatcher(rule, policy)),
  );
  if (near === undefined) return '';
  return `${describeRule(near)} comes near, but covers only its words as written, with nothing before them.`;
}

const MAX_TAILS = 4;

/** Returns a command without its first words, which may be a program that starts another one. */
function listTails(words: readonly string[]): readonly { readonly argv: readonly string[]; readonly via: string }[] {
  return words.slice(0, MAX_TAILS).map((_, from) => ({ argv: words.slice(from), via: '' }));
}
