import { formatHomePath } from '../../lib/files/path-style.ts';
import type { ProgramCheck, ProgramStart } from '../../lib/processes/program-check.ts';
import { listProgramFiles, type ProgramFile } from '../../lib/programs/program-files.ts';
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
};

/**
 * Creates the guard of a session. What lies where the session or others may write was perhaps written by a model, a
 * command or a repository: it starts only as the user approved it.
 */
export function createProgramGuard({ cwd, trusted, programs, environment, getRoots }: GuardDeps): ProgramGuard {
  const listFiles = (start: ProgramStart) =>
    listProgramFiles(start, createChangeableTest(getRoots(), environment.home));
  return {
    async check(start) {
      const files = listFiles(start);
      const refused = trusted ? await programs.findUnapproved(files) : files;
      const [first] = refused;
      if (first === undefined) return { ok: true, wrap: (argv) => argv };
      return { ok: false, why: explainRefusal(first, { cwd, trusted, home: environment.home }) };
    },
    async approve(command) {
      if (trusted) await programs.approve(listFiles({ command, cwd, variables: environment.variables }));
    },
  };
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
