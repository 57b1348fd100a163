import { type DecisionContext, findPathRule } from '../decision-context.ts';
import { createPathRequirement } from '../path-requirements.ts';
import { createScannedPath, scanFolder } from '../paths/folder-scan.ts';
import { getSecretPathReason } from '../paths/secret-paths.ts';
import { isPathInside, type ResolvedPath } from '../resolve-path.ts';
import { listSecretArgs } from './command-rules.ts';
import type { AccessedPath, ShellPaths } from './effects/collect-shell-paths.ts';
import type { ResolvedCommand } from './exact/shell-state.ts';
import { findProgramFacts, getExactProgramFacts } from './programs/find-program-facts.ts';

/** The secret files that a command line uses, those it fills from them, and whether it may fill others. */
export type SecretTaint = {
  readonly files: readonly string[];
  readonly otherFiles: 'possible' | 'none';
  readonly sources: readonly SecretSource[];
};

/** A secret file that a command uses. */
type SecretSource = { readonly path: string; readonly command: string };

/** Copies of copies are followed this far. */
const MAX_ROUNDS = 4;

/**
 * Finds the files that may receive the contents of a secret or restricted file: `cp .env x`, `tar cf x .env`,
 * `cat .env > x`. A missing file named next to such a file may be created from it.
 */
export function trackSecretCopies(context: DecisionContext, paths: ShellPaths): SecretTaint {
  const copies = new Set<string>();
  if (paths.isTruncated) return { files: [], otherFiles: 'none', sources: [] };
  let otherFiles: SecretTaint['otherFiles'] = 'none';
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const previousSize = copies.size;
    const isSource = (path: ResolvedPath) =>
      isRestrictedRead(context, path) || [...copies].some((copyPath) => isPathInside(path.real, copyPath));
    const sourceCommands = new Set([
      ...paths.reads.filter(({ path }) => isSource(path)).map(({ command }) => command),
      ...paths.searches
        .filter(({ path, use }) => use === 'read' && containsSecrets(context, path))
        .map(({ command }) => command),
    ]);
    if (sourceCommands.size === 0) return { files: [], otherFiles: 'none', sources: [] };
    if ([...sourceCommands].some(mayWriteAnywhere)) otherFiles = 'possible';
    // Printed contents may go into any file that the command line writes.
    const isPrinted = [...sourceCommands].some(printsContents);
    const filledFiles = [
      ...paths.writes.filter(
        ({ path, command }) =>
          path.kind !== 'directory' && (isPrinted || sourceCommands.has(command) || command.startsWith('> ')),
      ),
      ...paths.reads.filter((file) => sourceCommands.has(file.command) && mayBeCreated(file)),
    ];
    for (const { path } of filledFiles) copies.add(path.real);
    if (copies.size === previousSize) break;
  }
  return {
    files: [...copies].filter((copyPath) => !isNamedSecret(context, copyPath)),
    otherFiles,
    sources: listSecretSources(context, paths),
  };
}

/** Lists the secret files that commands name, and the folders with such files that commands copy as a whole. */
function listSecretSources(context: DecisionContext, { reads, searches }: ShellPaths): readonly SecretSource[] {
  const copied = searches.filter(
    ({ use, command }) =>
      use === 'read' && findProgramFacts(command.split(' ')[0] ?? '').readsRecursively !== undefined,
  );
  return [
    ...reads.filter(({ path }) => isSecretFile(context, path)),
    ...copied.filter(({ path }) => containsSecrets(context, path)),
  ].map(({ path, command }) => ({ path: path.real, command }));
}

function isSecretFile(context: DecisionContext, path: ResolvedPath): boolean {
  return path.kind === 'file' && getSecretPathReason(path, context.policy) !== undefined;
}

/** Lists the secret files that a command opens or hands on. */
export function listUsedSecrets(
  context: DecisionContext,
  command: ResolvedCommand,
  { sources }: SecretTaint,
): readonly string[] {
  const [name, ...args] = command.argv;
  const { opensNoFiles, printsArgs, runsProjectScripts } = getExactProgramFacts(name?.text ?? '');
  const text = command.argv.map((arg) => arg.text).join(' ');
  const named =
    (opensNoFiles === true && runsProjectScripts !== true) || printsArgs === true
      ? []
      : listSecretArgs(context, { argv: args, cwds: command.cwds });
  return [...sources.filter((source) => source.command === text), ...named].map(({ path }) => path);
}

/** True if a command may write the contents to a file that none of its arguments names. */
function mayWriteAnywhere(command: string): boolean {
  const {
    copiesFiles,
    readsRecursively,
    opensNoFiles,
    writes,
    readOnlyOptions,
    inlineScripts,
    interpreter,
    subcommands,
  } = findProgramFacts(command.split(' ')[0] ?? '');
  if (command.startsWith('< ') || opensNoFiles === true || subcommands !== undefined) return false;
  const writesNamedFiles = copiesFiles === true || readsRecursively !== undefined || (writes ?? 'second') !== 'second';
  return (
    !writesNamedFiles && (readOnlyOptions === undefined || inlineScripts !== undefined || interpreter !== undefined)
  );
}

function printsContents(command: string): boolean {
  return command.startsWith('< ') || findProgramFacts(command.split(' ')[0] ?? '').readOnlyOptions !== undefined;
}

/**
 * True for a path next to a secret file that may receive its contents: a missing file, or an archive to be overwritten.
 */
function mayBeCreated({ path, command }: AccessedPath): boolean {
  const [name = '', ...args] = command.split(' ');
  const { opensNoFiles, readsRecursively, copiesFiles, subcommands } = findProgramFacts(name);
  // A search creates nothing: its folder is missing where no command enters the folder that it is looked up in.
  const isSearch = getExactProgramFacts(name).searches !== undefined;
  if (path.problem !== undefined || opensNoFiles === true || subcommands !== undefined || isSearch) return false;
  const fillsArchives = readsRecursively === 'always' && copiesFiles !== true;
  return path.kind === 'missing' || (fillsArchives && path.kind === 'file' && args.slice(0, 2).includes(path.original));
}

/** True if reading the file needs approval as a secret or by a rule, so nothing read it without approval before. */
function isRestrictedRead(context: DecisionContext, path: ResolvedPath): boolean {
  if (path.kind === 'missing' || path.kind === 'directory' || path.problem !== undefined) return false;
  const pathUse = { tool: context.facts.tool, use: 'read', path } as const;
  const isRuled =
    findPathRule(context, 'deny', pathUse) !== undefined || findPathRule(context, 'ask', pathUse) !== undefined;
  return (
    isRuled ||
    (getSecretPathReason(path, context.policy) !== undefined &&
      createPathRequirement(context, pathUse).allowedBy === undefined)
  );
}

function containsSecrets(context: DecisionContext, { real, kind }: ResolvedPath): boolean {
  if (kind !== 'directory') return false;
  const isSecret = (path: string) => getSecretPathReason(createScannedPath(path, 'file'), context.policy) !== undefined;
  return scanFolder(context.fs, real, (entry) => entry.kind === 'file' && isSecret(entry.path)) !== undefined;
}

/** Such a name is protected anyway. */
function isNamedSecret({ policy }: DecisionContext, real: string): boolean {
  return getSecretPathReason(createScannedPath(real, 'file'), policy) !== undefined;
}
