import { randomUUID } from 'node:crypto';
import { findShell, NO_SHELL_MESSAGE } from './find-shell.ts';
import { getProcessStartTime } from './process-info.ts';
import { CALL_PROCESS_MARKER, createProcessMarkerCommand } from './process-markers.ts';
import { killProcessTree } from './process-tree.ts';
import { type ProgramOptions, type ProgramResult, runProgram } from './run-program.ts';

/** Flags that keep the shells from reading the startup files of the user. */
const FLAGS = { bash: ['--noprofile', '--norc', '-c'], sh: ['-c'] } as const;

/**
 * Runs a command line in a shell. When it exits, all its processes are killed, including background processes and those
 * that detached, cleared their environment or changed their name.
 */
export async function runShellCommand(
  shell: keyof typeof FLAGS,
  line: string,
  options: ProgramOptions & Required<Pick<ProgramOptions, 'env'>>,
): Promise<ProgramResult> {
  const marker = randomUUID();
  const env = { ...options.env, [CALL_PROCESS_MARKER]: marker };
  const file = findShell(shell, env);
  if (file === undefined) {
    const empty = Buffer.alloc(0);
    return { code: null, stdout: empty, stderr: empty, timedOut: false, problem: NO_SHELL_MESSAGE };
  }
  let cleanup: Promise<void> | undefined;
  const end = await runProgram(
    file,
    [...FLAGS[shell], createProcessMarkerCommand(env) + line],
    { ...options, env },
    (groupId) => {
      const startTime = getProcessStartTime(groupId) ?? '';
      return () => {
        cleanup = killProcessTree({ groupId, marker, startTime }, () => true);
      };
    },
  );
  await cleanup;
  return end;
}
