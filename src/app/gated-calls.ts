import { resolve } from 'node:path';
import type { AgentPort } from '../agent/parts.ts';
import type { LoopParts } from './wire-loop.ts';

/** Calls that stand in a command's file: through the same gate as the model's. Before the agent is there they say nothing. */
export function gatedCalls(port: () => AgentPort | undefined, run: LoopParts['runGated'], cwd: () => string) {
  const withPort = async (use: (attached: AgentPort) => Promise<string>) => {
    const attached = port();
    return attached === undefined ? '' : use(attached);
  };
  return {
    gatedShell: (command: string, allowed: readonly string[]) =>
      withPort((attached) => run('Bash', { command }, attached, allowed)),
    gatedFile: (path: string) => withPort((attached) => run('Read', { file_path: resolve(cwd(), path) }, attached)),
  };
}
