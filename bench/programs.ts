import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { type ApiServer, type Script, startApiServer } from '../test/support/api/server.ts';
import {
  bareEnvironment,
  type ProjectFolders,
  terminalEnvironment,
  withSettings,
} from '../test/support/environment.ts';
import { LAUNCHER } from '../test/support/run-ouro.ts';
import { createTempProject, type TempProject } from '../test/support/temp-project.ts';
import { openTerminal, type VirtualTerminal } from '../test/support/terminal/virtual-terminal.ts';

/** The time and output of a command. */
export type Used = {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly stdout: string;
};

/** Enables the JIT compilers, as for users; the tests disable them, because short runs do not profit. */
export const AS_SHIPPED = { BUN_JSC_useJIT: undefined };

/** Runs a command to its end and returns the time and output. */
export async function timed(command: readonly string[], project: TempProject, apiUrl?: string): Promise<Used> {
  const startedAt = performance.now();
  const child = Bun.spawn([...command], {
    cwd: project.dir,
    env: shippedEnvironment(project, apiUrl),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), child.exited]);
  const wallMs = performance.now() - startedAt;
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${stderr}`);
  const usage = child.resourceUsage();
  return {
    wallMs,
    cpuMs: Number(usage?.cpuTime.total ?? 0) / 1000,
    stdout,
  };
}

/**
 * Returns the peak memory of a command, sampled every millisecond: the system's figure for a child includes the memory
 * of its parent at the fork.
 */
export async function peakMemoryMb(
  [file = '', ...args]: readonly string[],
  project: TempProject,
  apiUrl?: string,
): Promise<number> {
  const child = spawn(file, args, { cwd: project.dir, env: shippedEnvironment(project, apiUrl), stdio: 'ignore' });
  const { pid } = child;
  let peak = 0;
  while (pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const { peak: now } = await memoryMb(pid).catch(() => ({ peak: 0 }));
    peak = Math.max(peak, now);
    await setTimeout(1);
  }
  return peak;
}

/** Runs work with a temporary project and an API server. */
export async function withApi<Result>(
  script: Script,
  work: (parts: { readonly project: TempProject; readonly api: ApiServer }) => Promise<Result>,
): Promise<Result> {
  await using project = await createTempProject({ 'notes.txt': 'A few words.\n'.repeat(50) });
  await using api = await startApiServer(script);
  return await work({ project, api });
}

/** Starts ouro in a terminal of 120x40 and waits for its prompt. */
export async function openOuro(
  project: TempProject,
  apiUrl: string,
  args: readonly string[] = [],
): Promise<VirtualTerminal> {
  const terminal = startInTerminal(project, apiUrl, args);
  await terminal.waitForText(PROMPT, 30_000);
  return terminal;
}

/** Starts ouro in a terminal without waiting. */
export function startInTerminal(project: TempProject, apiUrl: string, args: readonly string[] = []): VirtualTerminal {
  const env = withSettings(terminalEnvironment(project, apiUrl), AS_SHIPPED);
  return openTerminal([LAUNCHER, '--trust', ...args], { cwd: project.dir, env, cols: 120, rows: 40 });
}

function shippedEnvironment(project: ProjectFolders, apiUrl?: string): Record<string, string> {
  return withSettings(bareEnvironment(project, apiUrl), AS_SHIPPED);
}

/** Matches a screen with the prompt. */
export const PROMPT = /^[▌|]/m;

/** Returns the processor time of a process in seconds (Linux). */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) / 100;
}

/** Returns the present and the peak memory of a process in megabytes (Linux). */
export async function memoryMb(pid: number): Promise<{ readonly now: number; readonly peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  return { now: field('VmRSS'), peak: field('VmHWM') };
}
