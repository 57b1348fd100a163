import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import { buildBwrapArgs } from './bwrap.ts';
import { resolveAllLinks } from './host-paths.ts';
import type { SandboxPlan } from './plan.ts';
import { buildSeatbeltArgs } from './seatbelt.ts';

const PROBE_MS = 5_000;
const isMac = process.platform === 'darwin';

/** The sandbox program of this machine, or the reason why there is none. */
export type SandboxProbeResult =
  | { readonly ok: true; readonly program: string }
  | { readonly ok: false; readonly why: string };

/** Finds the program that creates sandboxes on this system, outside the workspace. */
export function findSandboxProgram({ path }: Pick<Environment, 'path'>, roots: readonly string[]): SandboxProbeResult {
  if (process.platform !== 'linux' && !isMac) return { ok: false, why: `${process.platform} is not supported` };
  const program = isMac ? '/usr/bin/sandbox-exec' : findTrustedProgram('bwrap', path, roots);
  return program === undefined ? { ok: false, why: 'bwrap is not installed' } : { ok: true, program };
}

/** Runs a no-op command in a sandbox like the planned one, to find out whether sandboxing works on this machine. */
export function probeSandbox(plan: SandboxPlan, environment: Environment): SandboxProbeResult {
  const found = findSandboxProgram(environment, plan.roots);
  if (!found.ok) return found;
  const { program } = found;
  // Without the workspace: the probe must not create placeholders there.
  const { worktree: _, ...rest } = plan;
  const probePlan: SandboxPlan = { ...rest, roots: [], nestedGitPaths: [], allowWrite: [], denyWrite: [] };
  const { error, status, stderr } = spawnSync(
    '/usr/bin/env',
    [...buildSandboxArgs(program, probePlan), '/usr/bin/true'],
    {
      cwd: '/',
      env: { ...environment.variables },
      timeout: PROBE_MS,
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  if (error !== undefined) return { ok: false, why: error.message };
  if (status === 0) return { ok: true, program };
  return { ok: false, why: stderr.trim().split('\n')[0] || `bwrap exited with ${status}` };
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
function findTrustedProgram(name: string, path: readonly string[], roots: readonly string[]): string | undefined {
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
