import { parse } from 'unbash';
import type { CallRisk, Decision, PermissionRequest, Policy, ToolFacts } from '../contracts/permission.ts';
import { readPossible } from './bash/possible/read-possible.ts';
import { programOf } from './bash/programs.ts';
import { baseName } from './bash/words.ts';
import { decide } from './decide.ts';
import type { PermissionFs } from './paths/fs.ts';
import { FAMILY_WORD } from './rules/families.ts';
import { formatRule, parseRule } from './rules/rules.ts';

/** What is asked for every time it is to be done: a rule for it lasts no longer than the session. */
const PASSING: readonly CallRisk['kind'][] = ['deletes', 'publishes', 'runs_download'];

type Asked = { readonly facts: ToolFacts; readonly decision: Decision; readonly policy: Policy };

/** The rule for just this command line, and why there is no wider one. */
export function exactRule(
  { facts, decision, policy }: Asked,
  risks: readonly CallRisk[],
  fs: PermissionFs,
): Pick<PermissionRequest, 'exact' | 'narrow'> {
  const { kind, command } = facts;
  if (kind !== 'shell' || command === undefined) return {};
  if (decision.trace.some(({ stage }) => stage === 'breaker')) return {};
  const line = command.trim();
  // A star in a rule stands for more than itself, and so would one in the line.
  if (/[*\n]/.test(line)) return {};
  const rule = formatRule(FAMILY_WORD.command, line);
  const granted = parseRule(rule, 'allow', { source: 'session', root: policy.cwd });
  // Only what the gate itself would take for a yes is offered.
  if (decide(facts, { ...policy, rules: [...policy.rules, granted] }, fs).verdict !== 'allow') return {};
  const keep = risks.some((risk) => PASSING.includes(risk.kind)) ? 'session' : 'always';
  return { exact: { rule, keep }, ...(decision.suggestions.length > 0 ? {} : { narrow: whyNarrow(command, risks) }) };
}

function whyNarrow(command: string, risks: readonly CallRisk[]): string {
  const names = readPossible(parse(command)).commands.map(({ argv }) => baseName(argv[0] ?? ''));
  if (risks.some(({ kind }) => kind === 'runs_download')) return 'what it runs comes from the network';
  const deleting = names.find((name) => programOf(name).deletes === true);
  if (deleting !== undefined) return `${deleting} deletes`;
  const running = names.find((name) => {
    const { isShell, code, runsText, wraps } = programOf(name);
    return isShell === true || runsText === true || (code ?? wraps) !== undefined;
  });
  return running === undefined ? 'its words say too little' : `${running} can run anything`;
}
