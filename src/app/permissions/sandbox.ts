import { spawnSync } from 'node:child_process';
import { accessSync, constants, lstatSync, mkdirSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve, sep } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { Policy } from '../../contracts/permission.ts';
import type { SandboxSettings } from '../../contracts/settings.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { follow, kindOf, nestedRepositories, placeOf } from '../../sandbox/host-places.ts';
import { placesToCover, type SandboxPlan, sandboxArguments, strayFiles } from '../../sandbox/recipe.ts';
import { seatbeltArguments } from '../../sandbox/seatbelt.ts';
import { socketFilter } from '../../sandbox/system-calls.ts';
import type { Core } from '../core.ts';

const PROBE_MS = 1_000;

type Needs = { readonly roots: () => readonly string[]; readonly sessionFolder: string };

export type SandboxState =
  | { readonly is: 'off' }
  | { readonly is: 'on'; readonly plan: SandboxPlan; readonly program: string }
  | { readonly is: 'unavailable'; readonly why: string };

/** Shell commands in a box: asked for by settings or by `/sandbox on`, and never silently left out. */
export type Sandbox = {
  /** `undefined` when none is asked for; throws when one is asked for and cannot be had. */
  wrap(): ((argv: readonly string[]) => readonly string[]) | undefined;
  state(): SandboxState;
  /** For this session, whatever the settings say. */
  switchTo(wanted: 'on' | 'off' | 'auto'): void;
  /** Is what stays inside asked about? Nothing without a sandbox. */
  asks(): Policy['sandbox'];
  /** A command has ended: what would lead git elsewhere goes. All it left is over: after the last, covers go too. */
  sweep(end: 'exited' | 'over'): void;
  /** Takes back what was made to be guarded, whatever still runs. */
  close(): void;
};

export function wireSandbox(
  { environment, cwd, settings }: Pick<Core, 'environment' | 'cwd' | 'settings'>,
  { roots, sessionFolder }: Needs,
): Sandbox {
  const made = new Map<string, 'folder' | 'file'>();
  let running = 0;
  const stray = new Set<string>();
  let wanted: 'on' | 'off' | 'auto' | 'settings' = 'settings';
  /** Where each place really was before the first command: one that leads elsewhere since is not opened. */
  const known = new Map<string, string>();
  let probed: Probed | undefined;

  function state(): SandboxState {
    if (!isOn()) return { is: 'off' };
    const plan = planOf(settings.now().sandbox ?? {});
    probed ??= probe(plan, environment);
    return probed.ok ? { is: 'on', plan, program: probed.program } : { is: 'unavailable', why: probed.why };
  }

  const isOn = () => (wanted === 'settings' ? settings.now().sandbox?.enabled === true : wanted !== 'off');

  function planOf({ network, allowWrite = [], denyRead = [] }: SandboxSettings): SandboxPlan {
    const place = (path: string) =>
      isAbsolute(path) ? path : path.startsWith('~/') ? join(environment.home, path.slice(2)) : resolve(cwd, path);
    return {
      roots: roots().flatMap(unmoved),
      allowWrite: allowWrite.map(place).flatMap(unmoved),
      denyRead: denyRead.map(place),
      home: follow(environment.home),
      ouroHome: follow(environment.ouroHome),
      nested: nestedRepositories(roots()),
      variables: Object.keys(environment.variables).filter((name) => !(name in (settings.now().env ?? {}))),
      ...filterIn(environment.ouroHome),
      sessionFolder,
      network: network === true ? 'open' : 'none',
      user: process.getuid?.() === 0 ? 'root' : 'plain',
      kindOf,
      follow,
    };
  }

  function unmoved(path: string): readonly string[] {
    const real = known.get(path) ?? placeOf(path);
    known.set(path, real);
    return placeOf(real) === real ? [real] : [];
  }

  return {
    state,
    switchTo(next) {
      wanted = next;
    },
    asks() {
      if (!isOn() || (probed?.ok ?? state().is === 'on') === false) return undefined;
      const isAuto = wanted === 'auto' || (wanted !== 'on' && settings.now().sandbox?.autoAllow === true);
      return isAuto ? 'unasked' : 'asked';
    },
    wrap() {
      const now = state();
      if (now.is === 'off') return undefined;
      if (now.is === 'unavailable') {
        throw new ToolFailure(
          `Nothing was run: commands are to run in a sandbox, and there is none here (${now.why}). Tell the user; they can install bubblewrap, or set sandbox.enabled to false.`,
        );
      }
      if (!isMac) cover(now.plan, made);
      for (const path of strayFiles(now.plan)) stray.add(path);
      running += 1;
      const before = wordsBefore(now.program, now.plan);
      return (argv) => [...before, ...argv];
    },
    sweep(end) {
      for (const path of stray) rmSync(path, { recursive: true, force: true });
      stray.clear();
      if (end === 'over') running -= 1;
      if (running === 0) uncover(made);
    },
    close: () => uncover(made),
  };
}

function cover(plan: SandboxPlan, made: Map<string, 'folder' | 'file'>): void {
  for (const { path, as } of placesToCover(plan)) {
    if (as === 'folder') mkdirSync(path, { mode: 0o700, recursive: true });
    made.set(path, as);
  }
}

/** Innermost first, and only what is as empty as it was made. */
function uncover(made: Map<string, 'folder' | 'file'>): void {
  for (const [path, as] of [...made].reverse()) {
    try {
      if (as === 'folder') rmdirSync(path);
      else if (lstatSync(path).isFile() && lstatSync(path).size === 0) unlinkSync(path);
    } catch {
      // Somebody put something into it, or took it away: then it stays as it is.
    }
  }
  made.clear();
}

const isMac = process.platform === 'darwin';

function wordsBefore(program: string, plan: SandboxPlan): readonly string[] {
  return isMac ? seatbeltArguments(plan) : sandboxArguments(program, plan);
}

type Probed = { readonly ok: true; readonly program: string } | { readonly ok: false; readonly why: string };

/** Starts nothing in a box like the one that is wanted, once. Says what is wrong with it. */
function probe(plan: SandboxPlan, { variables, path }: Environment): Probed {
  if (process.platform !== 'linux' && !isMac) return { ok: false, why: `there is none for ${process.platform}` };
  const program = isMac ? '/usr/bin/sandbox-exec' : path.flatMap((folder) => programIn(folder, plan.roots)).at(0);
  if (program === undefined) return { ok: false, why: 'bwrap is not installed' };
  // Nothing of the workspace is covered by trying.
  const probedPlan = { ...plan, roots: [], nested: [] };
  const { error, status, stderr } = spawnSync('/usr/bin/env', [...wordsBefore(program, probedPlan), '/usr/bin/true'], {
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

/** Never one of the workspace: what a command may write must not be what holds the next one. */
function programIn(folder: string, roots: readonly string[]): readonly string[] {
  const spelled = join(follow(folder), 'bwrap');
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
function filterIn(ouroHome: string): Pick<SandboxPlan, 'filter'> {
  const bytes = socketFilter(process.arch);
  if (bytes === undefined) return {};
  const filter = join(ouroHome, 'sandbox-filter.bin');
  if (lstatSync(filter, { throwIfNoEntry: false })?.size === bytes.length) return { filter };
  mkdirSync(ouroHome, { recursive: true, mode: 0o700 });
  writeFileSync(filter, bytes, { mode: 0o600 });
  return { filter };
}
