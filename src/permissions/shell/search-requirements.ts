import { createLazy } from '../../lib/memoize.ts';
import { splitWords } from '../../lib/text/lines.ts';
import { type DecisionContext, isInWorkspace, type Requirement, resolveCallPath } from '../decision-context.ts';
import { createPathRequirement, getSecretFileReason } from '../path-requirements.ts';
import {
  createGlobSegmentTest,
  createScannedPath,
  isExactGlobPattern,
  scanFolder,
  splitRelativePath,
} from '../paths/folder-scan.ts';
import { createReincludedTest } from '../paths/search-exclusions.ts';
import { getSecretPathReason, listSecretGlobs } from '../paths/secret-paths.ts';
import { isPathInside } from '../resolve-path.ts';
import type { ResolvedCommand } from './exact/shell-state.ts';
import { findProgramFacts, getExactProgramFacts, listKnownProgramNames } from './programs/find-program-facts.ts';
import type { ReadOnlyAnalysis } from './programs/program-facts.ts';

/** Files of patterns, of which search programs print lines that they cannot parse. */
export const SEARCH_INPUTS = splitWords('.ignore .rgignore .fdignore .gitignore');
const UNCHECKED_NAME = '.env';

/** Requires approval for a search that finds a secret file, or follows a link out of the workspace. */
export function listSearchRequirements(
  context: DecisionContext,
  folder: string,
  { follows, filter }: Extract<ReadOnlyAnalysis, { ok: true }>,
  exclude: (name: string) => boolean,
): readonly Requirement[] {
  if (context.taintedFiles !== undefined && mayReachTaintedFile(context, folder))
    return [hideInSandbox(context, createSecretCopyRequirement(folder))];
  if (context.fs.lstat(folder)?.kind !== 'directory') return [];
  const loadShownNames = createLazy(() => createReincludedTest(context.fs, folder, context.roots));
  const hides: string[] = [];
  const match = scanFolder(context.fs, folder, ({ path, kind, inode }) => {
    if (kind === 'directory') return false;
    if (kind === 'link' && SEARCH_INPUTS.some((name) => path.endsWith(`/${name}`)))
      return !isInWorkspace(resolveCallPath(context, folder, path), context);
    if (filter?.(splitRelativePath(folder, path), (name) => loadShownNames()(name)) === false) return false;
    if (kind === 'link' && follows === 'none') return false;
    const resolved = kind === 'link' ? resolveCallPath(context, folder, path) : createScannedPath(path, kind, inode);
    const isSecret = getSecretFileReason(context, resolved) !== undefined;
    const isOutside = kind === 'link' && !context.roots.some((root) => isPathInside(resolved.real, root));
    if ((!isSecret && !isOutside) || splitRelativePath(folder, path).some(exclude)) return false;
    const isRead = { tool: context.facts.tool, use: 'read', path: resolved } as const;
    if (isOutside || createPathRequirement(context, isRead).allowedBy !== undefined) return isOutside;
    // A hard link with another name stays visible.
    const isHidden = canHideSecrets(context) && getSecretPathReason(resolved, context.policy) !== undefined;
    if (isHidden) hides.push(resolved.real);
    return !isHidden;
  });
  // The part that was not scanned may contain secrets too.
  const isExcluded = match === 'too many' && exclude(UNCHECKED_NAME);
  if (match === undefined || (match === 'too many' && follows === 'none')) {
    if (hides.length === 0 && (match === undefined || isExcluded)) return [];
    const text = `${folder} contains secret files, or is too large to check for them.`;
    return [hideInSandbox(context, { kind: 'read', subject: folder, text, hides })];
  }
  const problem =
    match === 'too many'
      ? `${folder} is too large to check for links`
      : `${match.path} in the searched folder is secret or outside the workspace`;
  return [{ kind: 'read', subject: folder, text: `${problem}.` }];
}

/** True if the read-only sandbox hides secret files. Tracked ones stay visible to git, which may show them. */
function canHideSecrets({ facts, policy }: DecisionContext): boolean {
  const words = (facts.command ?? '').split(/[^\w.+-]+/);
  return (
    words.every((word) => findProgramFacts(word).subcommands === undefined) && policy.canEnforceReadOnly?.() === true
  );
}

/** Inside the read-only sandbox nothing is written, and secret files are hidden. */
function hideInSandbox(context: DecisionContext, requirement: Requirement): Requirement {
  if (!canHideSecrets(context)) return requirement;
  const { text } = requirement;
  return { ...requirement, allowedBy: { by: 'default' }, holdsIn: 'sandbox', textElsewhere: text };
}

/** True if a glob, a search or git may find a copy of secrets that the command line creates first. */
export function mayReachTaintedFile({ taintedFiles = [], roots }: DecisionContext, folder: string): boolean {
  return taintedFiles.some(
    (copy) =>
      isPathInside(copy, folder) || isPathInside(folder, copy) || !roots.some((root) => isPathInside(copy, root)),
  );
}

/** Requires approval for what may include a copy of a secret file. */
export function createSecretCopyRequirement(subject: string): Requirement {
  return {
    kind: 'read',
    subject,
    text: `${subject} may include a copy of a secret file that the command line creates.`,
  };
}

/** Secret names as globs that every search tool reads in the same way. */
const listSecretNames = createLazy(() =>
  listSecretGlobs().filter((glob) => !glob.includes('/') && isExactGlobPattern(glob)),
);
const listNameTests = createLazy(() => listSecretNames().map(createGlobSegmentTest));

/** True for a name that searches exclude when they get the options for it. */
export function isExcludedFromSearch(name: string): boolean {
  return listNameTests().some((matches) => matches(name));
}

/** True for a search that accepts further options which exclude names. */
export function canExcludeNames({ argv }: ResolvedCommand): boolean {
  const [name, ...args] = argv;
  return getExactProgramFacts(name?.text ?? '').excludeOptions !== undefined && args.every(({ text }) => text !== '--');
}

/** Line on file descriptor 3 that reports a search which excluded secrets. The output could be forged. */
export const SECRETS_EXCLUDED_LINE = 'secrets-excluded';

/** Returns bash functions, as environment variables, that replace the search tools: they exclude secrets and say so. */
export function createSearchShellFunctions(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listKnownProgramNames().flatMap((name) => {
      const options = getExactProgramFacts(name)
        .excludeOptions?.(listSecretNames())
        .map((option) => `'${option}'`);
      if (options === undefined) return [];
      const report = `{ echo ${SECRETS_EXCLUDED_LINE} >&3; } 2>/dev/null`;
      const text = `() {  command ${name} "$@" ${options.join(' ')}; local code=$?; ${report}; return $code; }`;
      return [[`BASH_FUNC_${name}%%`, text]];
    }),
  );
}
