import { hardenedGitEnvironment, hardenGit } from '../../git/harden-git.ts';
import { type ProgramEnd, runProgram } from '../../lib/processes/run-program.ts';

/** What git of a worker may see of its surroundings. */
export type GitSurroundings = { readonly home: string; readonly variables: Readonly<Record<string, string>> };

export type GitCall = {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly maxBytes?: number;
  /** `own` configuration holds the keys to remote places; everything else reads none but the repository's. */
  readonly configuration?: 'own' | 'none';
};

export type FleetGit = (call: GitCall) => Promise<ProgramEnd>;

const TIMEOUT_MS = 600_000;
/** What a repository may be reached by; `ext::` would run any command. */
const PROTOCOLS = 'https:http:ssh:git:file';
/** How people let git into their repositories; nothing of it reaches the work itself. */
const KEYS_TO_REPOSITORIES = [
  'SSH_AUTH_SOCK',
  'SSH_AGENT_PID',
  'GIT_SSH_COMMAND',
  'XDG_CONFIG_HOME',
  'XDG_RUNTIME_DIR',
];

/** A git that runs nothing a repository brings: no hook, no filter, no helper, and asks nobody. */
export function fleetGit({ home, variables }: GitSurroundings, signal?: AbortSignal): FleetGit {
  const base = { PATH: variables.PATH ?? '/usr/local/bin:/usr/bin:/bin', HOME: home, LC_ALL: 'C' };
  const keys = Object.fromEntries(
    KEYS_TO_REPOSITORIES.flatMap((name) => {
      const value = variables[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return ({ args, cwd, env = {}, input, maxBytes, configuration = 'none' }) =>
    runProgram('git', hardenGit(args), {
      cwd,
      env: {
        ...base,
        ...(configuration === 'own' ? keys : { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }),
        ...hardenedGitEnvironment(),
        GIT_ALLOW_PROTOCOL: PROTOCOLS,
        ...env,
      },
      timeoutMs: TIMEOUT_MS,
      ...(input === undefined ? {} : { input }),
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(signal === undefined ? {} : { signal }),
    });
}

/** What git printed; throws what it said when it failed. */
export function gitOutput({ code, stdout, stderr, problem }: ProgramEnd, what: string): string {
  if (code === 0) return stdout.toString('utf8');
  throw new Error(
    `${what}: ${gitWords(stderr.toString('utf8')) || (problem ?? `git ended with ${code ?? 'a signal'}`)}`,
  );
}

/** The line of git's that says why, without the words around it. */
function gitWords(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const told = lines.find((line) => /^(?:fatal|error): /.test(line)) ?? lines.at(-1) ?? '';
  return told.replace(/^(?:fatal|error): /, '').trim();
}
