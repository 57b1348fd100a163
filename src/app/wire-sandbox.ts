import { spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync, rmdirSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { SandboxSettings } from '../contracts/settings.ts';
import { ToolFailure } from '../contracts/tool.ts';
import { foldersToMake, type PathKind, type SandboxPlan, sandboxArguments } from '../permissions/sandbox/recipe.ts';
import type { Environment } from './environment.ts';

const PROBE_MS = 1_000;

export type SandboxWiring = {
  readonly environment: Environment;
  readonly cwd: string;
  readonly roots: () => readonly string[];
  readonly sessionFolder: string;
  readonly settings: () => SandboxSettings | undefined;
};

export type SandboxState =
  | { readonly is: 'off' }
  | { readonly is: 'on'; readonly plan: SandboxPlan }
  | { readonly is: 'unavailable'; readonly why: string };

/** Shell commands in a box: asked for by settings or by `/sandbox on`, and never silently left out. */
export type Sandbox = {
  /** `undefined` when none is asked for; throws when one is asked for and cannot be had. */
  wrap(): ((argv: readonly string[]) => readonly string[]) | undefined;
  state(): SandboxState;
  /** For this session, whatever the settings say. */
  switchTo(wanted: 'on' | 'off'): void;
  /** Takes back the empty folders that were made to be guarded. */
  close(): void;
};

export function wireSandbox(wiring: SandboxWiring): Sandbox {
  const { environment, cwd } = wiring;
  const made = new Set<string>();
  let wanted: 'on' | 'off' | 'settings' = 'settings';
  let probed: { readonly why: string | undefined } | undefined;

  function state(): SandboxState {
    const settings = wiring.settings() ?? {};
    const isOn = wanted === 'settings' ? settings.enabled === true : wanted === 'on';
    if (!isOn) return { is: 'off' };
    const plan = planOf(settings);
    probed ??= { why: probe(plan, environment) };
    return probed.why === undefined ? { is: 'on', plan } : { is: 'unavailable', why: probed.why };
  }

  function planOf({ network, allowWrite = [], denyRead = [] }: SandboxSettings): SandboxPlan {
    const place = (path: string) =>
      real(
        isAbsolute(path) ? path : path.startsWith('~/') ? join(environment.home, path.slice(2)) : resolve(cwd, path),
      );
    return {
      roots: wiring.roots().map(real),
      allowWrite: allowWrite.map(place),
      denyRead: denyRead.map(place),
      home: real(environment.home),
      ouroHome: real(environment.ouroHome),
      sessionFolder: wiring.sessionFolder,
      network: network === true ? 'open' : 'none',
      user: process.getuid?.() === 0 ? 'root' : 'plain',
      kindOf,
    };
  }

  return {
    state,
    switchTo(next) {
      wanted = next;
    },
    wrap() {
      const now = state();
      if (now.is === 'off') return undefined;
      if (now.is === 'unavailable') {
        throw new ToolFailure(
          `Nothing was run: commands are to run in a sandbox, and there is none here (${now.why}). Tell the user; they can install bubblewrap, or set sandbox.enabled to false.`,
        );
      }
      for (const folder of foldersToMake(now.plan)) {
        mkdirSync(folder, { mode: 0o700 });
        made.add(folder);
      }
      const before = ['bwrap', ...sandboxArguments(now.plan)];
      return (argv) => [...before, ...argv];
    },
    close() {
      for (const folder of made) removeIfEmpty(folder);
      made.clear();
    },
  };
}

/** Starts nothing in a box like the one that is wanted, once. Says what is wrong with it. */
function probe(plan: SandboxPlan, { variables }: Environment): string | undefined {
  if (process.platform !== 'linux') return `there is no bubblewrap on ${process.platform}`;
  const { error, status, stderr } = spawnSync('bwrap', [...sandboxArguments(plan), '/bin/true'], {
    cwd: '/',
    env: { ...variables },
    timeout: PROBE_MS,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (error !== undefined) return 'code' in error && error.code === 'ENOENT' ? 'bwrap is not installed' : error.message;
  if (status === 0) return undefined;
  return stderr.trim().split('\n')[0] || `bwrap ended with ${status}`;
}

function kindOf(path: string): PathKind {
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return 'missing';
  return entry.isDirectory() ? 'directory' : 'file';
}

/** Where it really is; what is not there stays as it is spelled. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody put something into it: then it stays.
  }
}
