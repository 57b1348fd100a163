import type { Rule, TraceStep } from '../../contracts/permission.ts';
import { type DecisionContext, resolveIn } from '../paths/context.ts';
import { ruleSays } from '../paths/finding.ts';
import { pathRuleMatches, ruleReachesInto } from '../paths/path-rule.ts';
import { familyOf } from '../rules/families.ts';
import type { Reached } from './possible/read-possible.ts';
import { gitIndex, repositoryOf } from './programs/git-config.ts';
import type { ShownContents } from './programs/git-contents.ts';
import { programOf } from './programs.ts';

/** What a repository keeps of files that rules deny or ask about may be shown, whatever lies in the folder now. */
export function contentObjections(
  context: DecisionContext,
  commands: readonly Reached[],
  cwds: readonly string[],
): readonly TraceStep[] {
  const rules = context.policy.rules.filter(
    ({ behavior, problem, specifier, tool }) =>
      behavior !== 'allow' && problem === undefined && specifier !== undefined && familyOf(tool) === 'read',
  );
  if (rules.length === 0) return [];
  // What it prints may be names, which the line then opens.
  const isFeeding = commands.some(({ via }) => programOf(via).feedsNames !== undefined);
  return commands.flatMap(({ argv }) => {
    const { shows, subcommands } = programOf(argv[0] ?? '');
    if (shows === undefined) return [];
    const folder = argv[argv.indexOf(subcommands?.folder ?? '-C') + 1];
    const isElsewhere = subcommands !== undefined && argv.includes(subcommands.folder) && folder !== undefined;
    const places = isElsewhere ? cwds.map((cwd) => resolveIn(context, cwd, folder).real) : cwds;
    return places.flatMap((cwd) => {
      const named: ShownContents | undefined = isFeeding ? { of: 'tracked', places: [] } : undefined;
      const shown = shows(argv, (word) => resolveIn(context, cwd, word).kind !== 'missing') ?? named;
      const rule = shown === undefined ? undefined : rules.find((each) => couldShow(context, each, shown, cwd));
      if (rule === undefined) return [];
      const subject = argv.join(' ');
      const text = `${subject} could show what falls under ${ruleSays(rule)}. Name the files it is to show, behind --.`;
      return [{ stage: 'ask', verdict: 'ask', subject, rule, text } as const];
    });
  });
}

function couldShow(context: DecisionContext, rule: Rule, { of, places }: ShownContents, cwd: string): boolean {
  const { policy, fs, facts } = context;
  if (places.length > 0) {
    // A file is compared with the rules by its own name; anything else may hold more.
    const resolved = places.map((place) => resolveIn(context, cwd, place));
    return resolved.some(({ kind, real }) => kind !== 'file' && ruleReachesInto(rule, real, policy));
  }
  const top = repositoryOf(fs, cwd);
  if (top === undefined) return false;
  const index = of === 'tracked' ? gitIndex(fs, top) : undefined;
  if (index === undefined) return ruleReachesInto(rule, top, policy);
  return index.some((name) => {
    const path = resolveIn(context, top, name);
    return pathRuleMatches(rule, { tool: facts.tool, use: 'read', path }, policy);
  });
}
