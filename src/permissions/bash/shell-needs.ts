import type { Hardening } from '../../contracts/permission.ts';
import { once } from '../../lib/once.ts';
import { type DecisionContext, findRule, isInWorkspace, resolveIn } from '../paths/context.ts';
import { type Need, ruleSays } from '../paths/finding.ts';
import { expandGlob, foundAt, namesBelow, scanFolder } from '../paths/folder-scan.ts';
import { shownNames } from '../paths/ignored-names.ts';
import { pathNeed, secretUnder } from '../paths/path-findings.ts';
import { isInside } from '../paths/paths.ts';
import { familyOf } from '../rules/families.ts';
import { readOnlyReading } from './certain/read-only.ts';
import { allowMatches } from './command-rule.ts';
import { fileCommandNeeds } from './file-commands.ts';
import { canLeaveOut, isLeftOut } from './left-out.ts';
import { namedSecret } from './named/named-secret.ts';
import { nearProblem } from './near-files.ts';
import { safelyPeeled } from './possible/wrappers.ts';
import { gitPreflight } from './programs/git-config.ts';
import type { ReadOnlyReading } from './programs/reading.ts';
import { exactProgram } from './programs.ts';
import { type ShellPart, spelled } from './shell-part.ts';
import { suggestCommand } from './suggest-command.ts';
import type { Argument } from './words.ts';

export type PartNeeds = { readonly needs: readonly Need[]; readonly hardens: readonly Hardening[] };

/** What one simple command needs: its own cover, and one for every file its redirections name. */
export function partNeeds(context: DecisionContext, part: ShellPart): PartNeeds {
  const redirects = redirectNeeds(context, part);
  if (part.argv.length === 0) return { needs: redirects, hardens: [] };
  const own = commandNeeds(context, part);
  return { needs: [...own.needs, ...redirects], hardens: own.hardens };
}

/** Redirections are reads and writes of their own, whatever covers the command. */
export function redirectNeeds(context: DecisionContext, part: ShellPart): readonly Need[] {
  return part.redirects.flatMap(({ use, target }) =>
    part.cwds.flatMap((cwd) => {
      const path = resolveIn(context, cwd, spelled(target));
      const uses = use === 'both' ? (['read', 'write'] as const) : [use];
      return uses.map((each) => pathNeed(context, { tool: context.facts.tool, use: each, path }));
    }),
  );
}

function commandNeeds(context: DecisionContext, part: ShellPart): PartNeeds {
  const start = safelyPeeled(part.argv.map((word) => word.text)) ?? 0;
  const argv = part.argv.slice(start);
  const subject = part.text;
  const rule = findRule(
    context,
    'allow',
    (each) =>
      familyOf(each.tool) === 'command' &&
      each.specifier !== undefined &&
      (allowMatches(each, part, 0) || allowMatches(each, part, start)),
  );
  const there = elsewhere(context, part, argv);
  const reading = readOnly(there.argv);
  if (reading.ok) {
    const left = new Set<string>();
    const leave = (name: string) => canLeaveOut(part) && isLeftOut(name) && left.add(name).has(name);
    const reads = readingNeeds(context, there.part, reading, leave);
    const open = reads.filter((need) => need.cover === undefined);
    const git =
      (reading.git === undefined ? undefined : gitProblem(context, there.part)) ??
      nearProblem(context, there.part.cwds, reading.unless ?? []);
    const covered: Need = { kind: 'read', subject, text: `${subject} only reads.`, cover: { by: 'default' } };
    if (open.length === 0 && git === undefined)
      return {
        needs: [covered, ...reads],
        hardens: [
          ...(reading.git === undefined ? [] : ['helpers' as const]),
          ...(left.size > 0 ? ['search' as const] : []),
        ],
      };
    if (rule === undefined) {
      const why: readonly Need[] =
        git === undefined ? [] : [{ kind: 'command', subject, text: git, ...suggestionFor(argv) }];
      return { needs: [...why, ...open], hardens: [] };
    }
  }
  const unnamed = rule === undefined ? undefined : namedSecret(context, part, rule);
  if (unnamed !== undefined) return { needs: [{ kind: 'command', subject, text: unnamed }], hardens: [] };
  if (rule !== undefined) {
    return {
      needs: [
        { kind: 'command', subject, text: `${subject} is allowed by ${ruleSays(rule)}.`, cover: { by: 'rule', rule } },
      ],
      hardens: [],
    };
  }
  const files = fileCommandNeeds(context, part, argv);
  if (files !== undefined) {
    // A rule for a folder would cover what is in it too; the command itself is narrower.
    const own = { suggestion: undefined, ...suggestionFor(argv) };
    return {
      needs: files.map((need) => ({ ...need, ...own })),
      hardens: [],
    };
  }
  const why = reading.ok ? `${subject} needs permission.` : reading.why;
  return { needs: [{ kind: 'command', subject, text: why, ...suggestionFor(argv) }], hardens: [] };
}

/** `git -C folder status` is `git status` in that folder. */
function elsewhere(
  context: DecisionContext,
  part: ShellPart,
  argv: readonly Argument[],
): { readonly part: ShellPart; readonly argv: readonly Argument[] } {
  const [git, option, folder, ...rest] = argv;
  const { subcommands } = exactProgram(git?.text ?? '');
  if (git === undefined || option?.text !== subcommands?.folder || folder?.kind !== 'literal') return { part, argv };
  const places = part.cwds.map((cwd) => resolveIn(context, cwd, spelled(folder)));
  if (places.some((place) => place.kind !== 'directory' || !isInWorkspace(place, context))) return { part, argv };
  return { part: { ...part, cwds: places.map(({ real }) => real) }, argv: [git, ...rest] };
}

function suggestionFor(argv: readonly Argument[]): Pick<Need, 'suggestion'> {
  const suggestion = suggestCommand(argv);
  return suggestion === undefined ? {} : { suggestion };
}

const SYSTEM_PROGRAM = /^\/(?:usr\/)?s?bin\/([^/]+)$/;

function readOnly(argv: readonly Argument[]): ReadOnlyReading {
  const [first, ...rest] = argv;
  if (first === undefined || first.kind !== 'literal')
    return { ok: false, why: 'The name of the command is not known.' };
  const name = SYSTEM_PROGRAM.exec(first.text)?.[1] ?? first.text;
  if (name.includes('/')) return { ok: false, why: `${name} is a program of its own, given by its path.` };
  return readOnlyReading([{ ...first, text: name }, ...rest]);
}

function readingNeeds(
  context: DecisionContext,
  part: ShellPart,
  reading: Extract<ReadOnlyReading, { ok: true }>,
  leave: (name: string) => boolean,
): readonly Need[] {
  const words = new Map([...reading.reads, ...reading.searches].map((word) => [JSON.stringify(word), word]));
  const reads = [...words.values()].flatMap((word) =>
    part.cwds.flatMap((cwd) => [...wordNeeds(context, cwd, word), ...optionNeeds(context, cwd, word)]),
  );
  const searches = reading.searches.flatMap((word) =>
    part.cwds.flatMap((cwd) => searchNeeds(context, resolveIn(context, cwd, spelled(word)).real, reading, leave)),
  );
  return [...reads, ...searches];
}

function wordNeeds(context: DecisionContext, cwd: string, word: Argument): readonly Need[] {
  const paths =
    word.kind === 'glob'
      ? expandGlob(context.fs, cwd, word.home === 'home' ? word.text.replace('~', context.policy.home) : word.text)
      : [spelled(word)];
  if (paths === 'too many')
    return [{ kind: 'read', subject: word.text, text: `${word.text} matches too many files to look at.` }];
  if (word.kind === 'glob' && mayMeetCopy(context, cwd)) return [meetingCopy(word.text)];
  return paths.map((path) =>
    pathNeed(context, { tool: context.facts.tool, use: 'read', path: resolveIn(context, cwd, path) }),
  );
}

/** Could what a pattern, a search or git comes by be a copy of secrets that the line makes first? */
function mayMeetCopy({ copies = [], roots }: DecisionContext, folder: string): boolean {
  return copies.some(
    (copy) => isInside(copy, folder) || isInside(folder, copy) || !roots.some((root) => isInside(copy, root)),
  );
}

function meetingCopy(subject: string): Need {
  return { kind: 'read', subject, text: `${subject} may come by what the line itself makes of a file of secrets.` };
}

/** `du *` in a folder that holds a file called `--files0-from=.env`. */
function optionNeeds(context: DecisionContext, cwd: string, word: Argument): readonly Need[] {
  if (word.kind !== 'glob' || word.prefix !== '') return [];
  const paths = expandGlob(context.fs, cwd, word.text);
  const option = paths === 'too many' ? undefined : paths.find((path) => path.startsWith('-'));
  return option === undefined
    ? []
    : [{ kind: 'read', subject: word.text, text: `${word.text} matches ${option}, which looks like an option.` }];
}

const UNSEEN = '.env';

/** A search that meets a file of secrets, or follows a link out of the workspace, asks. */
function searchNeeds(
  context: DecisionContext,
  folder: string,
  { follows, opens }: Extract<ReadOnlyReading, { ok: true }>,
  leave: (name: string) => boolean,
): readonly Need[] {
  if (context.copies !== undefined && mayMeetCopy(context, folder)) return [meetingCopy(folder)];
  if (context.fs.lstat(folder)?.kind !== 'directory') return [];
  const shows = once(() => shownNames(context.fs, folder, context.roots));
  const hit = scanFolder(context.fs, folder, ({ path, kind, inode }) => {
    if (kind === 'directory') return false;
    if (opens?.(namesBelow(folder, path), (name) => shows()(name)) === false) return false;
    if (kind === 'link' && follows === 'none') return false;
    const resolved = kind === 'link' ? resolveIn(context, folder, path) : foundAt(path, kind, inode);
    const isSecret = secretUnder(context, resolved) !== undefined;
    const isElsewhere = kind === 'link' && !context.roots.some((root) => isInside(resolved.real, root));
    if ((!isSecret && !isElsewhere) || namesBelow(folder, path).some(leave)) return false;
    return (
      isElsewhere || pathNeed(context, { tool: context.facts.tool, use: 'read', path: resolved }).cover === undefined
    );
  });
  // What was not looked at may hold secrets too.
  if (hit === 'too many') leave(UNSEEN);
  if (hit === undefined || (hit === 'too many' && follows === 'none')) return [];
  const found =
    hit === 'too many'
      ? `${folder} is too large to look through for links`
      : `${hit.path} is in the searched folder, and is secret or lies elsewhere`;
  return [{ kind: 'read', subject: folder, text: `${found}.` }];
}

function gitProblem(context: DecisionContext, part: ShellPart): string | undefined {
  if (!context.policy.trusted) return 'This folder is not trusted, and its git configuration could run programs.';
  const [root = context.policy.cwd] = context.roots;
  for (const cwd of part.cwds) {
    const preflight = gitPreflight(context.fs, resolveIn(context, cwd, '.').real, root);
    if (!preflight.ok) return preflight.why;
  }
  return undefined;
}
