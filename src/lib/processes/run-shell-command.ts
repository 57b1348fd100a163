import { randomUUID } from 'node:crypto';
import { getProcessStartTime } from './process-info.ts';
import { CALL_MARKER, createMarkerCommand } from './process-markers.ts';
import { killProcessTree } from './process-tree.ts';
import { type ProgramOptions, type ProgramResult, runProgram } from './run-program.ts';

/** The system shells, started without the startup files of the user. */
const SHELLS = { bash: ['/bin/bash', '--noprofile', '--norc', '-c'], sh: ['/bin/sh', '-c'] } as const;

/**
 * Runs a command line in a shell. When it exits, all its processes are killed, including background processes and those
 * that detached, cleared their environment or changed their name.
 */
export async function runShellCommand(
  shell: keyof typeof SHELLS,
  line: string,
  options: ProgramOptions & Required<Pick<ProgramOptions, 'env'>>,
): Promise<ProgramResult> {
  const marker = randomUUID();
  const env = { ...options.env, [CALL_MARKER]: marker };
  const [file, ...args] = SHELLS[shell];
  let cleanup: Promise<void> | undefined;
  const end = await runProgram(file, [...args, createMarkerCommand(env) + line], { ...options, env }, (groupId) => {
    const startTime = getProcessStartTime(groupId) ?? '';
    return () => {
      cleanup = killProcessTree({ groupId, marker, startTime }, () => true);
    };
  });
  await cleanup;
  return end;
}
