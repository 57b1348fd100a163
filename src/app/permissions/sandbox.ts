import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Policy, SandboxPlaces } from '../../contracts/permission.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import type { DeniedPlaces } from '../../permissions/paths/denied-places.ts';
import { clearOldCaches, touchCaches } from '../../sandbox/caches.ts';
import { closedPlaces, openPlaces } from '../../sandbox/closed.ts';
import { createCovers } from '../../sandbox/covers.ts';
import { keptWords } from '../../sandbox/kept-words.ts';
import { planMaker } from '../../sandbox/make-plan.ts';
import type { Caller, Refusal } from '../../sandbox/network/box-network.ts';
import type { SandboxPlan } from '../../sandbox/plan.ts';
import { type Probed, probe, wordsBefore } from '../../sandbox/probe.ts';
import type { Core } from '../core.ts';
import type { BoxWay } from './box-way.ts';

type Needs = {
  readonly roots: () => readonly string[];
  readonly sessionFolder: string;
  readonly way: BoxWay;
  /** What rules deny to read and to change. */
  readonly denied: (use: 'read' | 'write') => DeniedPlaces;
  /** The places that were opened to this call. */
  readonly opened: (callId: string) => readonly string[];
};

const KEPT_CALLS = 100;

export type SandboxState =
  | { readonly is: 'off' }
  | { readonly is: 'on'; readonly plan: SandboxPlan; readonly program: string; readonly noNetwork?: string }
  | { readonly is: 'unavailable'; readonly why: string };

/** Shell commands in a box: asked for by settings or by `/sandbox on`, and never silently left out. */
export type Sandbox = {
  /** `undefined` when none is asked for; throws when one is asked for and cannot be had. */
  wrap(command: Omit<Caller, 'signal'>): Promise<((argv: readonly string[]) => readonly string[]) | undefined>;
  state(): SandboxState;
  /** For this session, whatever the settings say. */
  switchTo(wanted: 'on' | 'off' | 'auto'): void;
  /** Is what stays inside asked about? Nothing without a sandbox. */
  asks(): Policy['sandbox'];
  /** What every command may write, and what is opened to none. */
  places(): SandboxPlaces;
  /** A command has ended: what would lead git elsewhere goes. All it left is over: after the last, covers go too. */
  sweep(end: 'exited' | 'over', callId: string): void;
  /** What this command was kept from, in sentences for the model; what it printed last says some of it. */
  keptFrom(callId: string, printed: readonly string[]): readonly string[];
  /** The hosts that commands were kept from lately, the oldest first. */
  refusals(): readonly Refusal[];
  /** Takes back what was made to be guarded, whatever still runs. */
  close(): void;
};

export function wireSandbox(
  { environment, cwd, settings, now }: Pick<Core, 'environment' | 'cwd' | 'settings' | 'now'>,
  { roots, sessionFolder, way, denied, opened }: Needs,
): Sandbox {
  const folder = join(environment.ouroHome, 'sandbox');
  const covers = createCovers(join(folder, 'covers'), randomUUID());
  let running = 0;
  /** The commands that were put into it lately. */
  let boxed: readonly string[] = [];
  let wanted: 'on' | 'off' | 'auto' | 'settings' = 'settings';
  const planOf = planMaker({
    environment,
    cwd,
    roots,
    sessionFolder,
    folder,
    denied,
    setVariables: () => Object.keys(settings.now().env ?? {}),
  });
  let probed: Probed | undefined;

  function state(): SandboxState {
    if (!isOn()) return { is: 'off' };
    const plan = planOf(settings.now().sandbox ?? {});
    probed ??= probe(plan, environment);
    if (!probed.ok) return { is: 'unavailable', why: probed.why };
    const problem = way.problem();
    return { is: 'on', plan, program: probed.program, ...(problem === undefined ? {} : { noNetwork: problem }) };
  }

  const isOn = () => (wanted === 'settings' ? settings.now().sandbox?.enabled === true : wanted !== 'off');

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
    places() {
      const plan = planOf(settings.now().sandbox ?? {});
      return { open: [...plan.roots, ...plan.allowWrite], closed: closedPlaces(plan) };
    },
    async wrap(command) {
      const here = state();
      if (here.is === 'off') return undefined;
      if (here.is === 'unavailable') throw new ToolFailure(noBox(here.why));
      const places = opened(command.id);
      openPlaces(places, here.plan);
      const box = places.length === 0 ? here.plan : planOf(settings.now().sandbox ?? {}, places);
      const plan = await way.planFor(box, here.program, command);
      touchCaches(plan.caches, now());
      // Nobody waits: what is left of old ones goes another time.
      if (boxed.length === 0) void clearOldCaches(plan.caches, now()).catch(() => undefined);
      if (process.platform === 'linux') covers.cover(plan);
      running += 1;
      boxed = [...boxed, command.id].slice(-KEPT_CALLS);
      const before = wordsBefore(here.program, plan);
      return (argv) => [...before, ...argv];
    },
    sweep(end, callId) {
      covers.mend();
      if (end === 'over') {
        running -= 1;
        way.leave(callId);
      }
      if (running === 0) covers.uncover();
    },
    keptFrom: (callId, printed) => (boxed.includes(callId) ? keptWords(way.refusals(), callId, printed) : []),
    refusals: way.refusals,
    close() {
      covers.uncover();
      way.close();
    },
  };
}

function noBox(why: string): string {
  return `Nothing was run: commands are to run in a sandbox, and there is none here (${why}). Tell the user; they can install bubblewrap, or set sandbox.enabled to false.`;
}
