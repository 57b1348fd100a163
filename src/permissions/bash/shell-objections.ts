import type { TraceStep } from '../../contracts/permission.ts';
import type { DecisionContext } from '../paths/context.ts';
import { ruleSays } from '../paths/finding.ts';
import { foundAt, namesBelow, scanFolder } from '../paths/folder-scan.ts';
import { FETCHED } from '../paths/other-names.ts';
import { pathObjections } from '../paths/path-findings.ts';
import { ruleReachesInto } from '../paths/path-rule.ts';
import { isInside, type ResolvedPath } from '../paths/paths.ts';
import { PROCESS_HOLDS, processSecretsIn } from '../paths/protected.ts';
import { FAMILY_WORD, familyOf } from '../rules/families.ts';
import { denyMatches } from './command-rule.ts';
import { contentObjections } from './content-objections.ts';
import type { PossibleReading } from './possible/read-possible.ts';
import type { NamedPath, SearchedPath, ShellPaths } from './possible/shell-paths.ts';
import { programOf } from './programs.ts';

/** Everything that speaks against a command line, on its widest reading. */
export function shellObjections(
  context: DecisionContext,
  command: string,
  possible: PossibleReading,
  paths: ShellPaths,
): readonly TraceStep[] {
  return [
    ...ruleObjections(context, command, possible),
    ...fileObjections(context, paths.reads, 'read'),
    ...fileObjections(context, paths.writes, 'write'),
    ...searchObjections(context, paths.searches),
    ...contentObjections(context, possible.commands, paths.cwds),
    ...deleteObjections(context, paths.deletes),
    ...overflowObjections(context, paths, command),
  ];
}

/** A limit of ours may only make a verdict stricter. */
function overflowObjections(context: DecisionContext, { isCut }: ShellPaths, command: string): readonly TraceStep[] {
  const rule = context.policy.rules.find(
    ({ behavior, tool, specifier }) => behavior !== 'allow' && familyOf(tool) !== 'command' && specifier !== undefined,
  );
  if (!isCut || rule === undefined) return [];
  const text = `It names more files than are compared with ${ruleSays(rule)}, so it asks.`;
  return [{ stage: 'ask', verdict: 'ask', subject: command, rule, text }];
}

function ruleObjections(context: DecisionContext, command: string, possible: PossibleReading): readonly TraceStep[] {
  const steps: TraceStep[] = [];
  for (const rule of context.policy.rules) {
    if (
      rule.behavior === 'allow' ||
      rule.problem !== undefined ||
      familyOf(rule.tool) !== 'command' ||
      rule.specifier === undefined
    )
      continue;
    const reached = possible.commands.find(denyMatches(rule, context.policy));
    if (reached === undefined && rule.specifier !== command.trim()) continue;
    const subject = reached?.argv.join(' ') ?? command;
    const via = reached === undefined || reached.via === '' ? '' : ` (run by ${reached.via})`;
    const says = rule.behavior === 'deny' ? 'is denied by' : 'is to be asked, by';
    steps.push({
      stage: rule.behavior,
      verdict: rule.behavior,
      subject,
      rule,
      text: `${subject}${via} ${says} ${ruleSays(rule)}.`,
    });
  }
  return steps;
}

function fileObjections(
  context: DecisionContext,
  named: readonly NamedPath[],
  use: 'read' | 'write',
): readonly TraceStep[] {
  return named.flatMap((each) => {
    const replaces = use === 'write' && isReplacing(each.command);
    const steps = pathObjections(context, { tool: context.facts.tool, use, path: each.path, replaces });
    // A rule about all reading or writing speaks of what certainly reads or writes.
    return each.sure === 'certain'
      ? steps
      : steps.filter((step) => step.rule?.specifier !== undefined || step.stage === 'breaker');
  });
}

/** `> x`, `tee x`, `cp y x`: other than what removes a file or looks after it. */
function isReplacing(command: string): boolean {
  const { writes, opensNothing, copiesFiles, deletes } = programOf(command.split(' ')[0] ?? '');
  const isFilled = writes === 'operands' && opensNothing !== true && deletes !== true;
  return command.startsWith('> ') || copiesFiles === true || isFilled;
}

/** A search through a folder reads what is denied in it. */
function searchObjections(context: DecisionContext, named: readonly SearchedPath[]): readonly TraceStep[] {
  const holdsShared = (folder: string) =>
    typeof scanFolder(context.fs, folder, ({ inode }) => inode !== undefined, FETCHED) === 'object';
  return named.flatMap(({ path, command, use, opens }) => {
    if (path.kind !== 'directory') return [];
    const tool = FAMILY_WORD[use === 'read' ? 'read' : 'edit'];
    const rules = context.policy.rules.filter(
      (rule) =>
        rule.behavior !== 'allow' && rule.problem === undefined && rule.tool === tool && rule.specifier !== undefined,
    );
    const isOpened = (file: string) => opens(namesBelow(path.real, file), () => true);
    const held = use === 'read' ? processSecretsIn(path.real).find(isOpened) : undefined;
    const holding: readonly TraceStep[] =
      held === undefined
        ? []
        : [
            {
              stage: 'breaker',
              verdict: 'ask',
              subject: command,
              text: `${command} would read ${held}, which always asks: ${PROCESS_HOLDS}.`,
            },
          ];
    // A file with several names may have one elsewhere.
    const near = rules.filter((rule) => ruleReachesInto(rule, path.real, context.policy) || holdsShared(path.real));
    const ruled = near.flatMap((rule): readonly TraceStep[] => {
      const isRuled = context.known.ruleTest(rule, use, context.facts.tool);
      const isFileRuled = (file: ResolvedPath) => isRuled(file) || context.known.otherNames(file).names.some(isRuled);
      const hit = scanFolder(
        context.fs,
        path.real,
        (entry) =>
          entry.kind !== 'directory' && isOpened(entry.path) && isFileRuled(foundAt(entry.path, 'file', entry.inode)),
      );
      if (hit === undefined) return [];
      const subject = command;
      if (hit === 'too many') {
        return [
          {
            stage: 'ask',
            verdict: 'ask',
            subject,
            rule,
            text: `${path.real} is too large to be sure that nothing in it falls under ${ruleSays(rule)}.`,
          },
        ];
      }
      return [
        {
          stage: rule.behavior,
          verdict: rule.behavior,
          subject,
          rule,
          text: `${command} would ${use === 'read' ? 'read' : 'change'} ${hit.path}, which falls under ${ruleSays(rule)}. Name a narrower folder.`,
        },
      ];
    });
    return [...holding, ...ruled];
  });
}

function deleteObjections(context: DecisionContext, named: readonly NamedPath[]): readonly TraceStep[] {
  return named.flatMap(({ path, command }) => {
    const emptied = path.spelling.replace(/(^|\/)(?:\*|\.\*|\{.*|\.\[.*)$/, '$1.');
    const whole = emptied === path.spelling ? path.real : path.real.replace(/\/[^/]*$/, '') || '/';
    const guarded = [context.policy.home, ...context.roots].find((place) => isInside(place, whole));
    if (guarded === undefined && whole !== '/') return [];
    return [
      {
        stage: 'breaker',
        verdict: 'ask',
        subject: command,
        text: `Deleting ${whole} with everything in it always asks.`,
      } as const,
    ];
  });
}
