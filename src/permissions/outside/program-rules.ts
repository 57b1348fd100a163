import type { Decision, PermissionRequest, Policy, ToolFacts } from '../../contracts/permission.ts';
import { contextOf, type DecisionContext } from '../paths/context.ts';
import type { PermissionFs } from '../paths/fs.ts';
import { OUTSIDE_WORD } from '../rules/families.ts';
import { type Opening, openingWords, readOpening } from '../rules/openings.ts';
import { formatRule, parseRule } from '../rules/rules.ts';
import { asOfCommands } from './leave-sandbox.ts';

type Asked = { readonly facts: ToolFacts; readonly decision: Pick<Decision, 'suggestions'>; readonly policy: Policy };

/** What is suggested for any command, for the programs of this line alone; absent where nothing is opened. */
export function rulesOfPrograms(
  { facts, decision, policy }: Asked,
  fs: PermissionFs,
): NonNullable<PermissionRequest['ofPrograms']> | undefined {
  if (!decision.suggestions.some(({ rule }) => openedBy(rule).kind !== 'all')) return undefined;
  const names = programsOf(contextOf(facts, policy, fs));
  const rules = decision.suggestions.flatMap(({ rule }) => {
    const opens = openedBy(rule);
    return opens.kind === 'all'
      ? [rule]
      : names.map((name) => formatRule(OUTSIDE_WORD, openingWords({ commands: `${name}:*`, opens })));
  });
  return { names, rules };
}

function openedBy(rule: string): Opening['opens'] {
  const { tool, specifier } = parseRule(rule, 'allow', { source: 'session' });
  return tool === OUTSIDE_WORD ? readOpening(specifier).opens : { kind: 'all' };
}

/** The programs of the line that do more than look, by their plain names. */
export function programsOf(context: DecisionContext): readonly string[] {
  const { needs } = asOfCommands(context, []);
  const names = needs.flatMap(({ kind, cover, subject }) =>
    kind === 'command' && cover === undefined ? [subject.split(/\s/, 1)[0] ?? ''] : [],
  );
  return names.every((name) => /^[\w.+-]+$/.test(name)) ? [...new Set(names)] : [];
}
