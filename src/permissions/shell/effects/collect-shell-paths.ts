import { type DecisionContext, resolveCallPath } from '../../decision-context.ts';
import type { ResolvedPath } from '../../resolve-path.ts';
import { findProgramFacts } from '../programs/find-program-facts.ts';
import type { ShellEffects } from './collect-shell-effects.ts';
import { expandPathArg } from './glob-expansion.ts';
import { listPathMentions, type PathMention } from './path-mentions.ts';
import { listRecursiveSearchScopes, type RecursiveSearchScope } from './recursive-search-scopes.ts';

/** A file that a command names. `certain`: the command will use it; `possible`: the argument may be a file name. */
export type AccessedPath = {
  readonly path: ResolvedPath;
  readonly certainty: 'certain' | 'possible';
  readonly command: string;
};

/** A folder that is processed recursively, except for the files its command excludes. */
export type SearchedPath = AccessedPath & Pick<RecursiveSearchScope, 'use' | 'filter'>;

/** All paths that a command line may name, by their use. */
export type ShellPaths = {
  readonly reads: readonly AccessedPath[];
  readonly writes: readonly AccessedPath[];
  /** Folders that are processed recursively. */
  readonly searches: readonly SearchedPath[];
  /** The targets of recursive deletes. */
  readonly deletes: readonly AccessedPath[];
  /** The folders that the commands may run in. */
  readonly cwds: readonly string[];
  /** True if the command line names more paths than were resolved. */
  readonly isTruncated: boolean;
};

const MAX_PATHS = 1_000;
const MAX_SEARCHES = 24;
const MAX_CD_COMMANDS = 16;
const MAX_FOLDERS = 32;

/** Collects every path that a command line may name, resolved in each folder that its commands may run in. */
export function collectShellPaths(
  context: DecisionContext,
  effects: ShellEffects,
  startCwds: readonly string[],
): ShellPaths {
  const { folders: cwds, isTruncated: hasTooManyFolders } = listEnteredFolders(context, effects, startCwds);
  const scopes = listRecursiveSearchScopes(effects.commands);
  const changedFolders = scopes
    .filter(({ use }) => use === 'write')
    .map(({ folder, certainty, command }): PathMention => ({ use: 'writes', word: folder, certainty, command }));
  const mentions = [...listPathMentions(effects), ...changedFolders];
  const resolveUse = (use: PathMention['use']) =>
    resolveMentions(
      context,
      cwds,
      mentions.filter((mention) => mention.use === use),
    );
  const [reads, writes, deletes] = [resolveUse('reads'), resolveUse('writes'), resolveUse('deletes')];
  const searches = scopes.flatMap(({ folder, ...scope }) =>
    cwds.flatMap((cwd) =>
      expandPathArg(context, cwd, folder).map((spelling) => ({
        ...scope,
        path: resolveCallPath(context, cwd, spelling),
      })),
    ),
  );
  return {
    reads: reads.paths,
    writes: writes.paths,
    deletes: deletes.paths,
    searches: searches.slice(0, MAX_SEARCHES),
    cwds,
    isTruncated:
      hasTooManyFolders ||
      searches.length > MAX_SEARCHES ||
      [reads, writes, deletes].some(({ isTruncated }) => isTruncated),
  };
}

/** Resolves each argument of a command once in every folder, up to a limit. */
function resolveMentions(
  context: DecisionContext,
  cwds: readonly string[],
  mentions: readonly PathMention[],
): { readonly paths: readonly AccessedPath[]; readonly isTruncated: boolean } {
  // Keyed by command first: a long command has as many arguments, and one combined key would be large.
  const seen = new Map<string, Set<string>>();
  const paths: AccessedPath[] = [];
  for (const { word, certainty, command } of mentions) {
    const key = `${certainty} ${word}`;
    const seenWords = seen.get(command) ?? new Set();
    if (seenWords.has(key)) continue;
    seen.set(command, seenWords.add(key));
    for (const cwd of cwds) {
      if (paths.length >= MAX_PATHS) return { paths, isTruncated: true };
      for (const spelling of expandPathArg(context, cwd, word))
        paths.push({ path: resolveCallPath(context, cwd, spelling), certainty, command });
    }
  }
  return { paths, isTruncated: false };
}

/** Returns the folders that `cd` and `pushd` may lead to, wherever they are in the command line. */
function listEnteredFolders(
  context: DecisionContext,
  { commands }: ShellEffects,
  startCwds: readonly string[],
): { readonly folders: readonly string[]; readonly isTruncated: boolean } {
  const folders = new Set(startCwds);
  const changes = commands.filter(({ argv }) => findProgramFacts(argv[0] ?? '').changesCwd === true);
  for (const { argv } of changes.slice(0, MAX_CD_COMMANDS)) {
    const target = argv.slice(1).find((arg) => !arg.startsWith('-'));
    if (target === undefined) continue;
    for (const cwd of [...folders]) {
      const targets = expandPathArg(context, cwd, target).map((spelling) => resolveCallPath(context, cwd, spelling));
      for (const { kind, real } of targets) if (kind !== 'file' && folders.size <= MAX_FOLDERS) folders.add(real);
    }
  }
  return { folders: [...folders], isTruncated: folders.size > MAX_FOLDERS || changes.length > MAX_CD_COMMANDS };
}
