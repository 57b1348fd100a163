import { formatHomePath } from '../../lib/files/path-style.ts';
import type {
  ProgramCheck,
  ProgramCheckResult,
  ProgramSandboxRun,
  ProgramStart,
  ProgramUse,
} from '../../lib/processes/program-check.ts';
import { isRunnerConfiguration } from '../../lib/programs/package-runners.ts';
import { loadsChangeableFiles, type ProgramFile } from '../../lib/programs/program-files.ts';
import { listStartedFiles } from '../../permissions/started-files.ts';
import { holdsSecret } from '../../sandbox/credentials.ts';
import type { ReadOnlySandbox } from '../../sandbox/read-only/read-only-sandbox.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { listSharedPaths } from '../../sandbox/shared-paths.ts';
import { createChangeableTest } from '../../settings/program-approvals.ts';
import type { Core } from '../core.ts';

/** The check of every program that ouro starts by itself. */
export type ProgramGuard = {
  readonly check: ProgramCheck;
  /** Approves the files of a program that the user has just agreed to start. */
  readonly approve: (start: Pick<ProgramStart, 'command'>, env: Readonly<Record<string, string>>) => Promise<void>;
};

type GuardDeps = Pick<Core, 'cwd' | 'trusted' | 'programs'> & {
  readonly environment: Pick<Core['environment'], 'home' | 'variables'>;
  /** Returns the folders that the session may write. */
  readonly getRoots: () => readonly string[];
  /** The sandbox of programs of the project that only read; absent where the host of a command starts none. */
  readonly readOnlySandbox?: Pick<ReadOnlySandbox, 'canEnforceReadOnly' | 'findUndecidedReason' | 'prepare'>;
  /** The sandbox of programs of the project that write the workspace; absent like the other. */
  readonly sandbox?: Pick<Sandbox, 'prepareProgram'>;
};

/**
 * Creates the guard of a session. What lies where the session or others may write was perhaps written by a model, a
 * command or a repository: it starts only as the user approved it.
 */
export function createProgramGuard(deps: GuardDeps): ProgramGuard {
  const { cwd, trusted, programs, environment, getRoots } = deps;
  const createTest = () => createChangeableTest(getRoots(), environment.home);
  const listFiles = (start: ProgramStart) => listStartedFiles(start, createTest());
  return {
    async check(start, use) {
      const files = listFiles(start);
      const refused = trusted ? await programs.findUnapproved(files) : files;
      const [first] = refused;
      if (first !== undefined)
        return { ok: false, problem: explainRefusal(first, { cwd, trusted, home: environment.home }) };
      const loadsFiles = loadsChangeableFiles(start, createTest());
      if (loadsFiles && !trusted) return { ok: false, problem: LOADS_UNTRUSTED };
      return limitProgram(start, use, { files, loadsFiles }, deps);
    },
    async approve({ command }, env) {
      const variables = { ...environment.variables, ...env };
      if (trusted) await programs.approve(listFiles({ command, cwd, variables, entryVariables: Object.keys(env) }));
    },
  };
}

const LOADS_UNTRUSTED =
  'it was not started, since it loads configuration or modules of this folder, which is not trusted';

/** The files of the project that a program runs: those approved, and whether it loads others that nothing names. */
type ProjectFiles = { readonly files: readonly ProgramFile[]; readonly loadsFiles: boolean };

/** Opens the file that the sandbox expects as descriptor 4. */
const OPEN_FILTER = ['/bin/bash', '--noprofile', '--norc', '-c', 'exec 4<"$0"; exec "$@"'];

/**
 * Limits a program of the project: it gets no variables with secrets, and runs in the sandbox that its use of the
 * workspace and the requests of its entry call for. A program is the project's if it lies there or loads files of it; a
 * hook also if the project names it.
 */
function limitProgram(
  start: ProgramStart,
  use: ProgramUse,
  project: ProjectFiles,
  deps: GuardDeps,
): ProgramCheckResult {
  if (project.files.length === 0 && !project.loadsFiles && start.origin !== 'project') return UNLIMITED;
  // On Windows no path of a shell is known.
  const secrets = process.platform === 'win32' ? [] : listSecretVariables(start);
  const withoutSecrets = secrets.length === 0 ? [] : ['/bin/sh', '-c', `unset ${secrets.join(' ')}; exec "$@"`, 'sh'];
  const limits = chooseSandbox(start, use, project, deps);
  if (!limits.ok) return limits;
  const innerVariables = limits === UNLIMITED ? [] : (start.entryVariables ?? []).filter(steersShells);
  const setVariables = innerVariables.map((name) => `${name}=${start.variables[name] ?? ''}`);
  const inner = setVariables.length === 0 ? [] : ['/usr/bin/env', ...setVariables];
  return { ...limits, innerVariables, wrap: (argv) => [...withoutSecrets, ...limits.wrap([...inner, ...argv])] };
}

/** Returns whether a variable has the shells that start a sandbox, or the loader, run code. */
const steersShells = (name: string) =>
  /^(?:LD_|DYLD_|BASH|SHELLOPTS$|ENV$|PS4$|GCONV_PATH$|GLIBC_|LOCPATH$)/i.test(name);

const UNLIMITED: ProgramCheckResult = { ok: true, wrap: (argv) => argv };

function chooseSandbox(
  start: ProgramStart,
  use: ProgramUse,
  { files, loadsFiles }: ProjectFiles,
  deps: GuardDeps,
): ProgramCheckResult {
  const requests = [start.sandbox ?? []].flat();
  const isLimited =
    start.origin === 'project' || loadsFiles || files.some((file) => !isRunnerConfiguration(file, start));
  if (!isLimited || requests.includes('off')) return UNLIMITED;
  if (use === 'reads' && requests.length === 0) return startReadOnly(start, deps);
  const canWrite = use === 'writes' || use === 'formats' || requests.includes('write');
  return startInSandbox(start, files, { canWrite, hasNetwork: requests.includes('network') }, deps);
}

/** Runs a program where it can neither write nor connect. */
function startReadOnly({ cwd }: ProgramStart, { readOnlySandbox }: GuardDeps): ProgramCheckResult {
  const undecided = readOnlySandbox?.findUndecidedReason();
  if (undecided !== undefined) return refuseUndecided(undecided, 'run "ouro doctor"');
  if (readOnlySandbox?.canEnforceReadOnly() !== true) return UNLIMITED;
  const { wrap, wrapperFile } = readOnlySandbox.prepare({ command: '', cwd, readable: [] });
  const opened = wrapperFile === undefined ? [] : [...OPEN_FILTER, wrapperFile];
  return { ok: true, wrap: (argv) => [...opened, ...wrap(argv)] };
}

/** Refuses a start: without its sandbox the program would run on the host, though the machine may well have one. */
function refuseUndecided(why: string, advice: string): ProgramCheckResult {
  return {
    ok: false,
    problem: `it was not started, since it must run in the sandbox, and ouro could not find out whether there is one (${why}); try again, or ${advice}`,
  };
}

/** Runs a program in the sandbox of commands. */
function startInSandbox(
  start: ProgramStart,
  files: readonly ProgramFile[],
  { canWrite, hasNetwork }: Pick<ProgramSandboxRun, 'canWrite' | 'hasNetwork'>,
  { sandbox, cwd, environment }: GuardDeps,
): ProgramCheckResult {
  const { CLAUDE_PROJECT_DIR: projectFolder } = start.variables;
  const run = sandbox?.prepareProgram({
    network: hasNetwork ? 'open' : 'none',
    workspace: canWrite ? 'writable' : 'read-only',
    // The settings may be those of a folder above, with their scripts.
    readable: [
      start.cwd,
      cwd,
      ...(projectFolder === undefined ? [] : [projectFolder]),
      ...files.flatMap(({ path, real }) => [path, real]),
      ...listSharedPaths(cwd, environment.home),
    ],
    writable: start.writableFolder === undefined ? [] : [start.writableFolder],
    keptVariables: [...(start.entryVariables ?? []), ...listNamedVariables(start)],
  });
  switch (run?.is) {
    case 'ready':
      return { ok: true, wrap: run.wrap, sandbox: { hasNetwork, canWrite, ended: run.ended } };
    case 'undecided':
      return refuseUndecided(run.problem, 'set "sandbox": "off" in its entry');
    default:
      return UNLIMITED;
  }
}

/** Lists the words of a command that may be names of variables. */
function listNamedVariables({ command }: ProgramStart): readonly string[] {
  return ('line' in command ? command.line : command.argv.join(' ')).split(/\W+/);
}

/** Lists the variables with secrets that neither the entry of a program sets nor its command line, as approved, names. */
function listSecretVariables(start: ProgramStart): readonly string[] {
  const { variables, entryVariables = [] } = start;
  const words = listNamedVariables(start);
  return Object.entries(variables)
    .filter(([name, value = '']) => /^[A-Za-z_]\w*$/.test(name) && holdsSecret(name, value))
    .map(([name]) => name)
    .filter((name) => !entryVariables.includes(name) && !words.includes(name));
}

function explainRefusal(
  { path }: ProgramFile,
  { cwd, trusted, home }: { readonly cwd: string; readonly trusted: boolean; readonly home: string },
): string {
  const name = formatHomePath(path, home, cwd);
  return trusted
    ? `it was not started, since ${name} is not approved as it is now; review the file, then approve it with "ouro trust"`
    : `it was not started, since ${name} could be changed by others and this folder is not trusted`;
}
