import { createGitEnv, hardenGitArgs, type ProgramResult, runProgram } from '@ouro-cli/ouro/commands';

/** The environment of git calls. */
export type GitEnvironment = { readonly home: string; readonly variables: Readonly<Record<string, string>> };

export type GitCall = {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly maxBytes?: number;
  /** `user` reads the user's git configuration and credentials, needed for remotes; default: only the repository's. */
  readonly configuration?: 'user' | 'none';
  /** Protocols that git may use without the user's configuration; default: none. */
  readonly protocols?: 'file';
};

/** Runs git. Never rejects; the result has the exit code. */
export type FleetGit = (call: GitCall) => Promise<ProgramResult>;

const TIMEOUT_MS = 600_000;
/** The protocols for remotes. Others are excluded: `ext::` runs any command. */
const REMOTE_PROTOCOLS = 'https:http:ssh:git:file';
/** The variables that give git access to remotes. They are not passed to tasks. */
const CREDENTIAL_VARIABLES = [
  'SSH_AUTH_SOCK',
  'SSH_AGENT_PID',
  'GIT_SSH_COMMAND',
  'XDG_CONFIG_HOME',
  'XDG_RUNTIME_DIR',
];

/** Creates a git that runs no hooks, filters or helpers of a repository and never prompts. */
export function createFleetGit({ home, variables }: GitEnvironment, signal?: AbortSignal): FleetGit {
  const base = { PATH: variables.PATH ?? '/usr/local/bin:/usr/bin:/bin', HOME: home };
  const credentials = Object.fromEntries(
    CREDENTIAL_VARIABLES.flatMap((name) => {
      const value = variables[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return ({ args, cwd, env = {}, input, maxBytes, configuration = 'none', protocols = 'none' }) =>
    runProgram('git', hardenGitArgs(args), {
      cwd,
      env: createGitEnv(base, {
        ...(configuration === 'user' ? credentials : { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }),
        // A partial clone fetches missing objects through programs that its configuration names.
        GIT_NO_LAZY_FETCH: '1',
        GIT_ALLOW_PROTOCOL: configuration === 'user' ? REMOTE_PROTOCOLS : protocols,
        ...env,
      }),
      timeoutMs: TIMEOUT_MS,
      ...(input === undefined ? {} : { input }),
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(signal === undefined ? {} : { signal }),
    });
}

/** Returns the output of git. Throws `failure` with git's error message if it failed. */
export function requireGitOutput({ code, stdout, stderr, problem }: ProgramResult, failure: string): string {
  if (code === 0) return stdout.toString('utf8');
  throw new Error(
    `${failure}: ${findErrorLine(stderr.toString('utf8')) || (problem ?? `git ended with ${code ?? 'a signal'}`)}`,
  );
}

/** Returns the error message in the output of git without its prefix. */
function findErrorLine(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const error = lines.find((line) => /^(?:fatal|error): /.test(line)) ?? lines.at(-1) ?? '';
  return error.replace(/^(?:fatal|error): /, '').trim();
}
