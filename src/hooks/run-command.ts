import { runScript } from '../lib/processes/run-script.ts';
import type { CommandEnd } from './act.ts';

/** Runs a hook's command with its input on stdin, bounded in time and output; nothing of it outlives its answer. */
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
  const { code, stdout, stderr, timedOut, problem } = await runScript('bash', command, { ...options, input: stdin });
  if (problem !== undefined) throw new Error(problem);
  return { code, stdout: stdout.toString('utf8'), stderr: stderr.toString('utf8'), timedOut };
}
