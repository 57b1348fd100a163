import type { Policy, Rule } from '../../contracts/permission.ts';
import { contextOf } from '../paths/context.ts';
import type { PermissionFs } from '../paths/fs.ts';
import { FAMILY_WORD, OUTSIDE_WORD } from '../rules/families.ts';
import { openingWords } from '../rules/openings.ts';
import { formatRule } from '../rules/rules.ts';
import { asOfCommands, coverOfAll, type OpeningRule, openingRules } from './leave-sandbox.ts';
import { programsOf } from './program-rules.ts';

type Asking = {
  readonly command: string;
  /** Does a rule's word for hosts mean this one? A denial is meant widely. */
  readonly means: (what: string, how: 'exactly' | 'widely') => boolean;
};

/**
 * What rules such as `Outside(npm:* host:registry.npmjs.org)` say of a command in a sandbox that wants to reach a host.
 * They name the host: a rule by which a command may leave wholly says nothing of what it reaches from inside.
 */
export function ruleForHost({ command, means }: Asking, policy: Policy, fs: PermissionFs): Rule | undefined {
  const context = contextOf(factsOf(command), policy, fs);
  const rules = openingRules(context).filter(
    ({ rule, opens }) =>
      rule.problem === undefined &&
      opens.kind === 'host' &&
      means(opens.what, rule.behavior === 'allow' ? 'exactly' : 'widely'),
  );
  if (rules.length === 0) return undefined;
  const left = asOfCommands(context, rules);
  const ofAny = (behavior: Rule['behavior']) =>
    rules.find(({ rule, commands }: OpeningRule) => rule.behavior === behavior && commands === undefined)?.rule;
  const objecting = (behavior: 'deny' | 'ask') =>
    ofAny(behavior) ?? left.objections.find(({ stage, rule }) => stage === behavior && rule !== undefined)?.rule;
  return objecting('deny') ?? objecting('ask') ?? ofAny('allow') ?? coverOfAll(left);
}

/** Rules that open a host to the programs of this line alone. */
export function hostRulesOfPrograms(
  { command, host }: { readonly command: string; readonly host: string },
  policy: Policy,
  fs: PermissionFs,
): { readonly names: readonly string[]; readonly rules: readonly string[] } {
  const names = programsOf(contextOf(factsOf(command), policy, fs));
  const opens = { kind: 'host', what: host } as const;
  return {
    names,
    rules: names.map((name) => formatRule(OUTSIDE_WORD, openingWords({ commands: `${name}:*`, opens }))),
  };
}

const factsOf = (command: string) =>
  ({ tool: FAMILY_WORD.command, input: { command }, kind: 'shell', command }) as const;
