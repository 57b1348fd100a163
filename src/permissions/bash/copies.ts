import type { DecisionContext } from '../paths/context.ts';
import { findPathRule } from '../paths/context.ts';
import { foundAt, scanFolder } from '../paths/folder-scan.ts';
import { pathNeed } from '../paths/path-findings.ts';
import { isInside, type ResolvedPath } from '../paths/paths.ts';
import { sensitiveRead } from '../paths/secrets.ts';
import type { NamedPath, ShellPaths } from './possible/shell-paths.ts';
import { programOf } from './programs.ts';

/** The files that a line fills from files of secrets, and whether it may fill others that nobody can name. */
export type Copies = { readonly files: readonly string[]; readonly elsewhere: 'possible' | 'none' };

/** Copies of copies are followed so far. */
const MAX_ROUNDS = 4;

/**
 * The files that a line may fill with what a file of secrets, or one that rules keep from being read, holds: `cp .env x`,
 * `tar cf x .env`, `cat .env > x`. What is not there yet and stands beside such a file may be made of it.
 */
export function copiesOfSecrets(context: DecisionContext, paths: ShellPaths): Copies {
  const made = new Set<string>();
  if (paths.isCut) return { files: [], elsewhere: 'none' };
  let elsewhere: Copies['elsewhere'] = 'none';
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = made.size;
    const isSource = (path: ResolvedPath) =>
      isKept(context, path) || [...made].some((copy) => isInside(path.real, copy));
    const from = new Set([
      ...paths.reads.filter(({ path }) => isSource(path)).map(({ command }) => command),
      ...paths.searches
        .filter(({ path, use }) => use === 'read' && holdsKept(context, path))
        .map(({ command }) => command),
    ]);
    if (from.size === 0) return { files: [], elsewhere: 'none' };
    if ([...from].some(mayWriteAnywhere)) elsewhere = 'possible';
    // What is printed may go into any file that the line writes.
    const isPrinted = [...from].some(prints);
    const filled = [
      ...paths.writes.filter(
        ({ path, command }) =>
          path.kind !== 'directory' && (isPrinted || from.has(command) || command.startsWith('> ')),
      ),
      ...paths.reads.filter((each) => from.has(each.command) && mayBeMade(each)),
    ];
    for (const { path } of filled) made.add(path.real);
    if (made.size === before) break;
  }
  return { files: [...made].filter((copy) => !isNamedSecret(context, copy)), elsewhere };
}

/** May a command that is given such a file write what is in it where no word of it says? */
function mayWriteAnywhere(command: string): boolean {
  const { copiesFiles, takesFolders, opensNothing, writes, readOnly, texts, code, subcommands } = programOf(
    command.split(' ')[0] ?? '',
  );
  if (command.startsWith('< ') || opensNothing === true || subcommands !== undefined) return false;
  const writesWhereSaid = copiesFiles === true || takesFolders !== undefined || (writes ?? 'second') !== 'second';
  return !writesWhereSaid && (readOnly === undefined || texts !== undefined || code !== undefined);
}

function prints(command: string): boolean {
  return command.startsWith('< ') || programOf(command.split(' ')[0] ?? '').readOnly !== undefined;
}

/** Is a word beside a file of secrets where that goes: nothing so far, or an archive that is filled anew? */
function mayBeMade({ path, command }: NamedPath): boolean {
  const [name = '', ...words] = command.split(' ');
  const { opensNothing, takesFolders, copiesFiles, subcommands } = programOf(name);
  if (path.problem !== undefined || opensNothing === true || subcommands !== undefined) return false;
  const fillsArchives = takesFolders === 'always' && copiesFiles !== true;
  return (
    path.kind === 'missing' || (fillsArchives && path.kind === 'file' && words.slice(0, 2).includes(path.spelling))
  );
}

/** Would reading it ask, as a secret or by a rule, so that nothing read it unasked so far? */
function isKept(context: DecisionContext, path: ResolvedPath): boolean {
  if (path.kind === 'missing' || path.kind === 'directory' || path.problem !== undefined) return false;
  const use = { tool: context.facts.tool, use: 'read', path } as const;
  const isRuled = findPathRule(context, 'deny', use) !== undefined || findPathRule(context, 'ask', use) !== undefined;
  return isRuled || (sensitiveRead(path, context.policy) !== undefined && pathNeed(context, use).cover === undefined);
}

function holdsKept(context: DecisionContext, { real, kind }: ResolvedPath): boolean {
  if (kind !== 'directory') return false;
  const isSecret = (path: string) => sensitiveRead(foundAt(path, 'file'), context.policy) !== undefined;
  return scanFolder(context.fs, real, (entry) => entry.kind === 'file' && isSecret(entry.path)) !== undefined;
}

/** Its own name keeps it already. */
function isNamedSecret({ policy }: DecisionContext, real: string): boolean {
  return sensitiveRead(foundAt(real, 'file'), policy) !== undefined;
}
