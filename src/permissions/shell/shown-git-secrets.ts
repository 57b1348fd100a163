import { join, relative } from 'node:path/posix';
import { type DecisionContext, type Requirement, resolveCallPath } from '../decision-context.ts';
import { createPathRequirement } from '../path-requirements.ts';
import { scanFolder } from '../paths/folder-scan.ts';
import { isSecretFileArg } from '../paths/secret-paths.ts';
import { isPathInside } from '../resolve-path.ts';
import { findProgramFacts } from './programs/find-program-facts.ts';
import { findRepositoryTop, listTrackedFiles } from './programs/git-repository.ts';

/**
 * Requires approval for a git command that may print tracked secret files without naming them: a diff, older contents or
 * lines that it finds. Files that were tracked only in the past are unknown here.
 */
export function listShownGitSecrets(
  context: DecisionContext,
  argv: readonly string[],
  cwds: readonly string[],
): readonly Requirement[] {
  const { shownContents } = findProgramFacts(argv[0] ?? '');
  if (shownContents === undefined) return [];
  for (const cwd of cwds) {
    const folder = resolveCallPath(context, cwd, '.').real;
    const top = findRepositoryTop(context.fs, folder);
    const shown = shownContents(argv, (arg) => resolveCallPath(context, cwd, arg).kind !== 'missing', 'secrets');
    if (top === undefined || shown === undefined) continue;
    const paths = shown.paths.map((path) => resolveCallPath(context, cwd, path).real);
    const isLeftOut = createExclusionTest(argv);
    const secret = listSecrets(context, top)
      .map((name) => join(top, name))
      .filter((path) => paths.length === 0 || paths.some((shownPath) => isPathInside(path, shownPath)))
      .filter((path) => !isLeftOut(relative(folder, path)))
      .map((path) => createReadRequirement(context, path))
      .find(({ allowedBy }) => allowedBy === undefined);
    if (secret !== undefined) return [describeSecret(secret, argv.join(' '), top)];
  }
  return [];
}

const createReadRequirement = (context: DecisionContext, path: string) =>
  createPathRequirement(context, { tool: context.facts.tool, use: 'read', path: resolveCallPath(context, '/', path) });

function describeSecret(requirement: Requirement, subject: string, top: string): Requirement {
  const name = relative(top, requirement.secret ?? requirement.subject);
  return {
    ...requirement,
    subject,
    text: `${subject} may show ${name}, which git tracks and which may hold secrets. Leave it out with -- ':!${name}', or name other files after --.`,
  };
}

/** Lists tracked files with the names of secrets; files on disk where the index of git cannot be read. */
function listSecrets({ fs }: DecisionContext, top: string): readonly string[] {
  const tracked = listTrackedFiles(fs, top);
  if (tracked !== undefined) return tracked.filter(isSecretFileArg).filter((name) => !isPlain(fs, join(top, name)));
  const found = scanFolder(fs, top, ({ path, kind }) => kind === 'file' && isSecretFileArg(path));
  return typeof found === 'object' ? [relative(top, found.path)] : [];
}

/** Returns whether the settings of a package manager, which most projects track, hold no login. */
const isPlain = (fs: DecisionContext['fs'], path: string) =>
  path.endsWith('/.npmrc') && !/auth|password|token/i.test(fs.readFile(path) ?? 'token');

/** Creates the test for files that pathspecs such as `:!.env` and `:(exclude)*.pem` leave out. */
function createExclusionTest(argv: readonly string[]): (path: string) => boolean {
  const patterns = argv.flatMap((arg) => /^:(?:[!^](?![!^/(])|\(exclude\))(.+)$/.exec(arg)?.[1] ?? []);
  const tests = patterns
    .filter((pattern) => !/[[\\]/.test(pattern))
    .map((pattern) =>
      pattern
        .replaceAll(/[.+^${}()|]/g, '\\$&')
        .replaceAll('*', '.*')
        .replaceAll('?', '.'),
    )
    .map((source) => new RegExp(`^${source.replace(/\/$/, '')}(?:/.*)?$`, 's'));
  return (path) => tests.some((test) => test.test(path));
}
