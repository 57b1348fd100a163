import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import { shortHash } from '../lib/text/short-hash.ts';
import { follow } from './host-places.ts';
import type { SandboxPlan } from './plan.ts';
import { sandboxArguments } from './recipe.ts';
import { seatbeltArguments } from './seatbelt.ts';
import { callFilter } from './system-calls.ts';

const PROBE_MS = 1_000;
const isMac = process.platform === 'darwin';

export type Probed = { readonly ok: true; readonly program: string } | { readonly ok: false; readonly why: string };

/** Starts nothing in a box like the one that is wanted. Says what is wrong with it. */
export function probe(plan: SandboxPlan, { variables, path }: Environment): Probed {
  if (process.platform !== 'linux' && !isMac) return { ok: false, why: `there is none for ${process.platform}` };
  const program = isMac ? '/usr/bin/sandbox-exec' : programOutside('bwrap', path, plan.roots);
  if (program === undefined) return { ok: false, why: 'bwrap is not installed' };
  // Nothing of the workspace is covered by trying.
  const { worktree: _, ...rest } = plan;
  const probed = { ...rest, roots: [], nested: [], allowWrite: [], denyWrite: [] };
  const { error, status, stderr } = spawnSync('/usr/bin/env', [...wordsBefore(program, probed), '/usr/bin/true'], {
    cwd: '/',
    env: { ...variables },
    timeout: PROBE_MS,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (error !== undefined) return { ok: false, why: error.message };
  if (status === 0) return { ok: true, program };
  return { ok: false, why: stderr.trim().split('\n')[0] || `bwrap ended with ${status}` };
}

/** The words in front of a command that keep it in the sandbox of this system. */
export function wordsBefore(program: string, plan: SandboxPlan): readonly string[] {
  return isMac ? seatbeltArguments(plan) : sandboxArguments(program, plan);
}

/** What puts a program into the network of another one. */
export function programThatEnters({ path }: Pick<Environment, 'path'>, { roots }: Pick<SandboxPlan, 'roots'>): string {
  const program = programOutside('nsenter', path, roots);
  if (program === undefined) throw new Error('nsenter (of util-linux) is not installed');
  return program;
}

/** Never a program of the workspace: what a command may write must not be what holds the next one. */
function programOutside(name: string, path: readonly string[], roots: readonly string[]): string | undefined {
  return path.flatMap((folder) => programIn(folder, name, roots)).at(0);
}

function programIn(folder: string, name: string, roots: readonly string[]): readonly string[] {
  const spelled = join(follow(folder), name);
  const program = follow(spelled);
  const isTheirs = [spelled, program].some((path) => roots.some((root) => path.startsWith(root + sep)));
  if (isTheirs || !isAbsolute(folder)) return [];
  try {
    accessSync(program, constants.X_OK);
    return [program];
  } catch {
    return [];
  }
}

/** The filter of system calls as a file of ours, for a processor that has one. */
export function filterIn(folder: string, unixSockets: 'refused' | 'made'): Pick<SandboxPlan, 'filter'> {
  const bytes = callFilter(process.arch, unixSockets);
  if (bytes === undefined) return {};
  const filter = join(folder, `filter-${shortHash(Buffer.from(bytes).toString('hex'), 8)}.bin`);
  if (isFileOf(filter, bytes)) return { filter };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(filter, bytes, { mode: 0o600 });
  return { filter };
}

function isFileOf(path: string, bytes: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(bytes);
  } catch {
    return false;
  }
}
