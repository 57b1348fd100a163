import { runProgram } from '../lib/processes/run-program.ts';
import type { CommandEnd } from './run-hook.ts';

/** Runs a hook's command with its input on stdin, in its own process group, bounded in time and output. */
export async function runHookCommand(
  command: string,
  stdin: string,
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  },
): Promise<CommandEnd> {
  const args = ['--noprofile', '--norc', '-c', command];
  const { code, stdout, stderr, timedOut, problem } = await runProgram('/bin/bash', args, { ...options, input: stdin });
  if (problem !== undefined) throw new Error(problem);
  return { code, stdout: stdout.toString('utf8'), stderr: stderr.toString('utf8'), timedOut };
}
