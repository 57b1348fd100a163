import { formatHomePath } from '../../lib/files/path-style.ts';
import type { ProgramCheck, ProgramStart, ProgramUse } from '../../lib/processes/program-check.ts';
import { listProgramFiles, type ProgramFile } from '../../lib/programs/program-files.ts';
import { holdsSecret } from '../../sandbox/credentials.ts';
import type { ReadOnlySandbox } from '../../sandbox/read-only/read-only-sandbox.ts';
import { createChangeableTest } from '../../settings/program-approvals.ts';
import type { Core } from '../core.ts';

/** The check of every program that ouro starts by itself. */
export type ProgramGuard = {
  readonly check: ProgramCheck;
  /** Approves the files of a program that the user has just agreed to start. */
  readonly approve: (command: ProgramStart['command']) => Promise<void>;
};

type GuardDeps = Pick<Core, 'cwd' | 'trusted' | 'programs'> & {
  readonly environment: Pick<Core['environment'], 'home' | 'variables'>;
  /** Returns the folders that the session may write. */
  readonly getRoots: () => readonly string[];
  /** The sandbox of programs of the project that only read; absent where the host of a command starts none. */
  readonly readOnlySandbox?: Pick<ReadOnlySandbox, 'canEnforceReadOnly' | 'prepare'>;
};

/**
 * Creates the guard of a session. What lies where the session or others may write was perhaps written by a model, a
 * command or a repository: it starts only as the user approved it.
 */
export function createProgramGuard(deps: GuardDeps): ProgramGuard {
  const { cwd, trusted, programs, environment, getRoots } = deps;
  const listFiles = (start: ProgramStart) =>
    listProgramFiles(start, createChangeableTest(getRoots(), environment.home));
  return {
    async check(start, use) {
      const files = listFiles(start);
      const refused = trusted ? await programs.findUnapproved(files) : files;
      const [first] = refused;
      if (first === undefined) return { ok: true, wrap: createWrap(start, use, files.length > 0, deps) };
      return { ok: false, why: explainRefusal(first, { cwd, trusted, home: environment.home }) };
    },
    async approve(command) {
      if (trusted) await programs.approve(listFiles({ command, cwd, variables: environment.variables }));
    },
  };
}

/** Opens the file that the sandbox expects as descriptor 4. */
const OPEN_FILTER = ['/bin/bash', '--noprofile', '--norc', '-c', 'exec 4<"$0"; exec "$@"'];

/**
 * Creates the wrapper that limits a program of the project: it gets no variables with secrets, and one that only reads
 * runs where it can neither write nor connect.
 */
function createWrap(
  start: ProgramStart,
  use: ProgramUse,
  isInProject: boolean,
  { readOnlySandbox }: GuardDeps,
): (argv: readonly string[]) => readonly string[] {
  if (!isInProject && start.origin !== 'project') return (argv) => argv;
  // On Windows no path of a shell is known.
  const secrets = process.platform === 'win32' ? [] : listSecretVariables(start);
  const withoutSecrets = secrets.length === 0 ? [] : ['/bin/sh', '-c', `unset ${secrets.join(' ')}; exec "$@"`, 'sh'];
  if (!isInProject || use !== 'reads' || readOnlySandbox?.canEnforceReadOnly() !== true)
    return (argv) => [...withoutSecrets, ...argv];
  const { wrap, wrapperFile } = readOnlySandbox.prepare({ command: '', cwd: start.cwd, readable: [] });
  const opened = wrapperFile === undefined ? [] : [...OPEN_FILTER, wrapperFile];
  return (argv) => [...withoutSecrets, ...opened, ...wrap(argv)];
}

/** Lists the variables with secrets that neither the entry of a program sets nor its command line, as approved, names. */
function listSecretVariables({ command, variables, entryVariables = [] }: ProgramStart): readonly string[] {
  const words = ('line' in command ? command.line : command.argv.join(' ')).split(/\W+/);
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
