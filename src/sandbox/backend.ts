import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import { getErrnoCode } from '../lib/errors.ts';
import { readTextOrEmpty } from '../lib/files/read-or-default.ts';
import { createTimeoutBackoff } from '../lib/processes/timeout-backoff.ts';
import { isLateTimer } from '../lib/time-limit.ts';
import { buildBwrapArgs } from './bwrap.ts';
import { resolveAllLinks } from './host-paths.ts';
import type { SandboxPlan } from './plan.ts';
import { buildSeatbeltArgs } from './seatbelt.ts';

const isMac = process.platform === 'darwin';

/** The reason why there is no sandbox; `isUndecided` if the machine did not say whether there is one. */
export type SandboxProbeFailure = { readonly ok: false; readonly problem: string; readonly isUndecided?: true };

/** The sandbox program of this machine, or the reason why there is none. */
export type SandboxProbeResult = { readonly ok: true; readonly program: string } | SandboxProbeFailure;

/** Finds the program that creates sandboxes on this system, outside the workspace. */
export function findSandboxProgram({ path }: Pick<Environment, 'path'>, roots: readonly string[]): SandboxProbeResult {
  if (process.platform !== 'linux' && !isMac) return { ok: false, problem: `${process.platform} is not supported` };
  const program = isMac ? '/usr/bin/sandbox-exec' : findTrustedProgram('bwrap', path, roots);
  return program === undefined ? { ok: false, problem: 'bwrap is not installed' } : { ok: true, program };
}

/** Runs a no-op command in a sandbox like the planned one, to find out whether sandboxing works on this machine. */
export function probeSandbox(plan: SandboxPlan, environment: Environment): SandboxProbeResult {
  const found = findSandboxProgram(environment, plan.roots);
  if (!found.ok) return found;
  const { program } = found;
  // Without the workspace: the probe must not create placeholders there.
  const { worktree: _, ...rest } = plan;
  const probePlan: SandboxPlan = { ...rest, roots: [], nestedGitPaths: [], allowWrite: [], denyWrite: [] };
  const argv = ['/usr/bin/env', ...buildSandboxArgs(program, probePlan), '/usr/bin/true'];
  return runSandboxProbe(argv, { env: { ...environment.variables } }) ?? { ok: true, program };
}

const PROBE_MS = 5_000;
const MAX_STOPS = 3;
/** Messages of the system about missing resources, which pass. */
const NO_RESOURCES =
  /resource temporarily unavailable|cannot allocate memory|too many open files|no space left on device/i;
/** Says how many user namespaces there may be; none where they are switched off, which reads like a full table. */
const NAMESPACE_LIMIT = '/proc/sys/user/max_user_namespaces';

/**
 * Runs a no-op command in a sandbox. Returns why it failed; a command that did not end by itself says nothing about the
 * machine. It starts again if this program was stopped meanwhile, which counts as time for the command, too.
 */
export function runSandboxProbe(
  [file = '', ...args]: readonly string[],
  { env, filter }: { readonly env: Readonly<Record<string, string>>; readonly filter?: number },
): SandboxProbeFailure | undefined {
  for (let stops = 0; ; stops += 1) {
    const startedMs = performance.now();
    const { error, signal, status, stderr } = spawnSync(file, args, {
      cwd: '/',
      env,
      timeout: PROBE_MS,
      killSignal: 'SIGKILL',
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe', 'ignore', filter ?? 'ignore'],
    });
    if (status === 0) return undefined;
    const [line = ''] = stderr?.trim().split('\n') ?? [];
    if (status !== null) {
      const problem = line || `it exited with ${status}`;
      const isShort = NO_RESOURCES.test(line) && readTextOrEmpty(NAMESPACE_LIMIT).trim() !== '0';
      return isShort ? { ok: false, problem, isUndecided: true } : { ok: false, problem };
    }
    if (error !== undefined && ['ENOENT', 'EACCES'].includes(getErrnoCode(error) ?? ''))
      return { ok: false, problem: error.message };
    const isTimeout = error !== undefined && getErrnoCode(error) === 'ETIMEDOUT';
    if (isTimeout && stops < MAX_STOPS && isLateTimer(startedMs, PROBE_MS)) continue;
    const why = isTimeout ? `did not end within ${PROBE_MS / 1_000} s` : (error?.message ?? `was ended by ${signal}`);
    return { ok: false, problem: `its test ${why}`, isUndecided: true };
  }
}

/**
 * Remembers the result of a probe. One that did not find out whether there is a sandbox is repeated, later each time: it
 * delays everything else.
 */
export function createProbeMemory<Result extends SandboxProbeFailure | { readonly ok: true }>(now: () => number) {
  const backoff = createTimeoutBackoff(now);
  let last: Result | undefined;
  const isUndecided = (result: Result) => !result.ok && result.isUndecided === true;
  const getKnown = () => (last === undefined || (isUndecided(last) && !backoff.isPaused('probe')) ? undefined : last);
  return {
    getKnown,
    find(probe: () => Result): Result {
      const known = getKnown();
      if (known !== undefined) return known;
      const startedMs = now();
      const result = probe();
      backoff.record('probe', { timedOut: isUndecided(result), tookMs: now() - startedMs });
      last = result;
      return result;
    },
  };
}

/** Builds the arguments that go before a command to sandbox it on this system. */
export function buildSandboxArgs(program: string, plan: SandboxPlan): readonly string[] {
  return isMac ? buildSeatbeltArgs(plan) : buildBwrapArgs(program, plan);
}

/** Finds nsenter, which starts a program in the network namespace of another process. */
export function findNsenter({ path }: Pick<Environment, 'path'>, { roots }: Pick<SandboxPlan, 'roots'>): string {
  const program = findTrustedProgram('nsenter', path, roots);
  if (program === undefined) throw new Error('nsenter (from util-linux) is not installed');
  return program;
}

/** Finds a program on PATH outside the workspace: a sandboxed command could have replaced one inside. */
export function findTrustedProgram(
  name: string,
  path: readonly string[],
  roots: readonly string[],
): string | undefined {
  return path.flatMap((folder) => findInFolder(folder, name, roots)).at(0);
}

function findInFolder(folder: string, name: string, roots: readonly string[]): readonly string[] {
  const candidate = join(resolveAllLinks(folder), name);
  const program = resolveAllLinks(candidate);
  const isInWorkspace = [candidate, program].some((path) => roots.some((root) => path.startsWith(root + sep)));
  if (isInWorkspace || !isAbsolute(folder)) return [];
  try {
    accessSync(program, constants.X_OK);
    return [program];
  } catch {
    return [];
  }
}
