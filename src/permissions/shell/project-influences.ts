import { dirname, join } from 'node:path/posix';
import { splitWords } from '../../lib/text/lines.ts';
import { type DecisionContext, isInWorkspace, type Requirement, resolveCallPath } from '../decision-context.ts';
import { splitPathByWorkspace } from '../resolve-path.ts';
import { skipSafeWrappers } from './effects/nested-commands.ts';
import type { ResolvedCommand } from './exact/shell-state.ts';
import { getExactProgramFacts } from './programs/find-program-facts.ts';
import type { AncestorFileCondition } from './programs/program-facts.ts';

/** Returns the reason why a file in a working folder, or above it, could make a program run another one. */
export function findNearbyFileProblem(
  context: DecisionContext,
  cwds: readonly string[],
  files: readonly AncestorFileCondition[],
): string | undefined {
  const path = cwds
    .flatMap(listParentFolders)
    .flatMap((folder) => files.flatMap((file) => findFile(context, folder, file)))[0];
  return path === undefined ? undefined : `${path} could make the program run or download another version.`;
}

/** Files that programs read and print without being told to. */
const IMPLICIT_INPUTS = splitWords(`
  package.json package-lock.json pnpm-lock.yaml yarn.lock tsconfig.json deno.json .npmrc Cargo.toml Cargo.lock go.mod
  go.sum go.work pyproject.toml poetry.lock uv.lock setup.cfg setup.py tox.ini requirements.txt Pipfile ruff.toml mypy.ini
  .flake8 .pylintrc composer.json composer.lock Gemfile Gemfile.lock pom.xml build.gradle Makefile GNUmakefile makefile
  .prettierrc .eslintrc .rustfmt.toml rustfmt.toml .shellcheckrc .editorconfig .tool-versions mise.toml .terraform.lock.hcl
`);

/** Returns the reason why a program could print a file outside: its usual input is a link that leads there. */
export function findLinkedInputProblem(context: DecisionContext, { cwds }: ResolvedCommand, inputs = IMPLICIT_INPUTS) {
  const folders = cwds
    .flatMap(listParentFolders)
    .filter((folder) => isInWorkspace(resolveCallPath(context, folder, '.'), context));
  const link = folders
    .flatMap((folder) => inputs.map((name) => join(folder, name)))
    .find(
      (path) => context.fs.lstat(path)?.kind === 'link' && !isInWorkspace(resolveCallPath(context, '/', path), context),
    );
  return link === undefined
    ? undefined
    : `${link} is a link that leads out of the workspace, and the program may print it.`;
}

function listParentFolders(folder: string): readonly string[] {
  return folder === dirname(folder) ? [folder] : [folder, ...listParentFolders(dirname(folder))];
}

function findFile(
  { fs }: DecisionContext,
  folder: string,
  { name, contains }: AncestorFileCondition,
): readonly string[] {
  const path = join(folder, name);
  if (fs.lstat(path) === undefined) return [];
  return contains === undefined || contains.test(fs.readFile(path) ?? '') ? [path] : [];
}

/**
 * Requires approval for a read-only command whose program may be hijacked through PATH. A command line that needs no
 * approval runs with a PATH without the workspace, so its programs only have to exist elsewhere; beside other commands
 * none may be in the workspace.
 */
export function listHijackRequirements(
  context: DecisionContext,
  commands: readonly ResolvedCommand[],
  line: 'no-approval' | 'mixed',
): readonly Requirement[] {
  const { inside, outside } = splitPathByWorkspace(
    context.policy,
    context.fs,
    commands.flatMap(({ cwds }) => cwds),
  );
  if (inside.length === 0) return [];
  const isInAny = (folders: readonly string[], name: string) =>
    folders.some((folder) => context.fs.lstat(`${folder}/${name}`) !== undefined);
  const hijacked = commands
    .flatMap((command) => listProgramNames(command))
    .find((name) => isInAny(inside, name) && (line === 'mixed' || !isInAny(outside, name)));
  if (hijacked === undefined) return [];
  return [{ kind: 'command', subject: hijacked, text: `PATH resolves ${hijacked} to a file inside the workspace.` }];
}

/** Returns the programs found through PATH: the wrappers, the command itself, and the programs it always starts. */
function listProgramNames({ argv }: ResolvedCommand): readonly string[] {
  const args = argv.map((arg) => arg.text);
  const start = skipSafeWrappers(args) ?? 0;
  const names = args.slice(0, start + 1).filter((arg) => !arg.startsWith('-') && !arg.includes('/'));
  return [...names, ...(getExactProgramFacts(args[start] ?? '').startsPrograms ?? [])];
}
