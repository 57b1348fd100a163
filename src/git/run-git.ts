import { execFile } from 'node:child_process';
import { delimiter, isAbsolute } from 'node:path';
import { isPathBelow } from '../lib/files/path-style.ts';
import { splitWords } from '../lib/text/lines.ts';

const TIMEOUT_MS = 2_000;
const MAX_OUTPUT_BYTES = 4_000_000;

/** Options of a git command that ouro runs. */
export type GitOptions = {
  readonly variables: Readonly<Record<string, string>>;
  /** Returns why git could start a program here when it reads or writes files; absent, such commands do not run. */
  readonly findConfigProblem?: (cwd: string) => string | undefined;
  readonly timeoutMs?: number;
};

/** Subcommands that read no working files; all others run filters, and no override removes a filter. */
const METADATA_COMMANDS = new Set(['ls-files', 'log', 'rev-parse', 'rev-list', 'branch']);

/**
 * Runs a git command for ouro itself, in a trusted folder only, and returns its output. Programs that the repository
 * configures are overridden. Uses `execFile`, because the first command runs during startup (decision 0012).
 */
export async function runGit(args: readonly string[], cwd: string, options: GitOptions): Promise<string> {
  const [command = ''] = args;
  if (!METADATA_COMMANDS.has(command)) {
    const { findConfigProblem = () => 'The git configuration was not checked.' } = options;
    const problem = findConfigProblem(cwd);
    if (problem !== undefined)
      throw new Error(`git ${command} could run a program in ${cwd}. ${problem} Run git yourself there.`);
  }
  // A partial clone fetches missing objects through programs that it names; only `worktree` may do that.
  const protocols: Readonly<Record<string, string>> = command === 'worktree' ? {} : { GIT_ALLOW_PROTOCOL: 'none' };
  // A repository brings programs with the name of git; a PATH with "." would find them.
  const folders = (options.variables.PATH ?? '').split(delimiter);
  const outside = folders.filter((folder) => isAbsolute(folder) && !isPathBelow(cwd, folder));
  const variables =
    options.variables.PATH === undefined ? options.variables : { ...options.variables, PATH: outside.join(delimiter) };
  const env = createGitEnv(variables, protocols);
  return execGit(args, cwd, env, options.timeoutMs ?? TIMEOUT_MS);
}

/** Runs git hardened, in the given environment, and returns its output. The error of a failure has git's own message. */
export function execGit(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<string> {
  const options = { cwd, env, timeout: timeoutMs, maxBuffer: MAX_OUTPUT_BYTES, encoding: 'utf8' } as const;
  return new Promise((resolve, reject) => {
    execFile('git', hardenGitArgs(args), options, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });
}

/** Returns the environment of a hardened git: the variables without those of git, and those of the caller. */
export function createGitEnv(
  variables: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const inherited = Object.entries(variables).filter(([variable]) => !variable.startsWith('GIT_'));
  return { ...Object.fromEntries(inherited), ...createHardenedGitEnv(), LC_ALL: 'C', ...own };
}

const OVERRIDES: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', 'false'],
  // Set by many projects (husky), so it makes no repository unsafe; the hooks just do not run.
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  // Comparing a submodule starts another git, which uses the submodule's configuration.
  ['diff.ignoreSubmodules', 'dirty'],
  ['safe.bareRepository', 'explicit'],
  // Verifying signatures and re-creating merges would start other programs.
  ['log.showSignature', 'false'],
  ['log.diffMerges', 'separate'],
];

/** Overrides of user settings that change output which is parsed, or shown to the model. */
const OUTPUT_OVERRIDES = [
  ...['ui', 'status', 'branch', 'diff'].map((use) => [`color.${use}`, 'false'] as const),
  ['i18n.logOutputEncoding', 'UTF-8'],
] as const;

const DIFF_COMMANDS = new Set(splitWords('diff log show blame stash format-patch diff-tree diff-index diff-files'));

/**
 * Returns git arguments under which no helper program of the repository runs, and which print plain UTF-8. The first
 * argument is the subcommand.
 */
export function hardenGitArgs(args: readonly string[]): readonly string[] {
  const [command = '', ...rest] = args;
  const flags =
    DIFF_COMMANDS.has(command) && command !== 'blame'
      ? ['--no-ext-diff', '--no-textconv']
      : command === 'blame'
        ? ['--no-textconv']
        : [];
  return [
    ...[...OVERRIDES, ...OUTPUT_OVERRIDES].flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    command,
    ...flags,
    ...rest,
  ];
}

/** Returns equivalent variables for unapproved commands; other `GIT_*` variables must be removed first. */
export function createHardenedGitEnv(): Readonly<Record<string, string>> {
  const pairs = OVERRIDES.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key] as const,
    [`GIT_CONFIG_VALUE_${index}`, value] as const,
  ]);
  return {
    ...Object.fromEntries(pairs),
    GIT_CONFIG_COUNT: String(OVERRIDES.length),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    PAGER: 'cat',
  };
}
