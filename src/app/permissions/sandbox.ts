import { randomUUID } from 'node:crypto';
import { isAbsolute, join, resolve } from 'node:path';
import type { Policy } from '../../contracts/permission.ts';
import type { SandboxSettings } from '../../contracts/settings.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { createCovers } from '../../sandbox/covers.ts';
import { follow, kindOf, nestedRepositories, placeOf } from '../../sandbox/host-places.ts';
import { linkedGit } from '../../sandbox/linked-git.ts';
import type { SandboxPlan } from '../../sandbox/plan.ts';
import { filterIn, type Probed, probe, wordsBefore } from '../../sandbox/probe.ts';
import type { Core } from '../core.ts';

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
  const folder = join(environment.ouroHome, 'sandbox');
  const covers = createCovers(join(folder, 'covers'), randomUUID());
  let running = 0;
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

  function planOf({ network, allowWrite = [], denyRead = [], denyWrite = [] }: SandboxSettings): SandboxPlan {
    const place = (path: string) =>
      isAbsolute(path) ? path : path.startsWith('~/') ? join(environment.home, path.slice(2)) : resolve(cwd, path);
    const [first] = roots();
    const worktree = first === undefined ? undefined : linkedGit(follow(first));
    return {
      roots: roots().flatMap(unmoved),
      allowWrite: allowWrite.map(place).flatMap(unmoved),
      denyRead: denyRead.map(place),
      denyWrite: denyWrite.map(place),
      home: follow(environment.home),
      ouroHome: follow(environment.ouroHome),
      nested: nestedRepositories(roots()),
      ...(worktree === undefined ? {} : { worktree }),
      variables: Object.keys(environment.variables).filter((name) => !(name in (settings.now().env ?? {}))),
      ...filterIn(folder, 'refused'),
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
      if (process.platform === 'linux') covers.cover(now.plan);
      running += 1;
      const before = wordsBefore(now.program, now.plan);
      return (argv) => [...before, ...argv];
    },
    sweep(end) {
      covers.mend();
      if (end === 'over') running -= 1;
      if (running === 0) covers.uncover();
    },
    close: () => covers.uncover(),
  };
}
