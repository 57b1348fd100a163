import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { applyTrialChanges, collectTrialChanges, type TrialChanges } from '../../checkpoints/trial-changes.ts';
import { previewTrialChanges } from '../../checkpoints/trial-preview.ts';
import type { Environment } from '../../contracts/environment.ts';
import type { Policy } from '../../contracts/permission.ts';
import type { ToolOutcome } from '../../contracts/tool.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import type { FileLocks } from '../../lib/files/file-locks.ts';
import { listMountPoints } from '../../lib/files/mount-health.ts';
import { formatHomePath } from '../../lib/files/path-style.ts';
import { isPathInside } from '../../permissions/resolve-path.ts';
import { createProbeMemory, type SandboxProbeFailure } from '../../sandbox/backend.ts';
import { SCRATCH_FOLDERS } from '../../sandbox/bwrap.ts';
import { resolveAllLinks } from '../../sandbox/host-paths.ts';
import type { PrivateTmp } from '../../sandbox/private-tmp.ts';
import type { ReadOnlySandbox } from '../../sandbox/read-only/read-only-sandbox.ts';
import type { ReadOnlySandboxCommand } from '../../sandbox/read-only/read-only-sandbox-plan.ts';
import {
  findLayerPrograms,
  type LayerPrograms,
  probeTrialLayer,
  startTrialLayer,
  type TrialLayer,
} from '../../sandbox/trial-layer.ts';
import type { CommandTrial, TrialRun } from '../../tools/bash/bash-deps.ts';

/** The trials of commands: runs in a throw-away layer over the workspace before somebody is asked. */
export type CommandTrials = {
  /** Returns whether this machine permits trials. The first call probes the machine. */
  readonly canTry: () => boolean;
  readonly prepare: (command: ReadOnlySandboxCommand) => Promise<CommandTrial>;
};

/** The dependencies of trials. */
export type CommandTrialsDeps = {
  readonly environment: Environment;
  readonly readOnlySandbox: Pick<ReadOnlySandbox, 'canEnforceReadOnly' | 'prepare'>;
  readonly privateTmp: Pick<PrivateTmp, 'getBase'>;
  readonly getPolicy: (cwd: string) => Policy;
  readonly now: () => number;
  readonly locks: FileLocks;
  /** Folder for notes about unfinished writes. */
  readonly unfinished: string;
};

type Probe = { readonly ok: true; readonly programs: LayerPrograms } | SandboxProbeFailure;

/** Creates the trials of a session. */
export function createCommandTrials(deps: CommandTrialsDeps): CommandTrials {
  const { environment, readOnlySandbox, privateTmp, getPolicy } = deps;
  const memory = createProbeMemory<Probe>(deps.now);
  const listRoots = (cwd: string) => [...new Set(getPolicy(cwd).workspaceRoots.map(resolveAllLinks))];

  const findProgramsOnce = () =>
    memory.find((): Probe => {
      const programs = findLayerPrograms(environment, listRoots(environment.home));
      if (programs === undefined) return { ok: false, problem: 'unshare and nsenter (from util-linux) are missing' };
      try {
        return probeTrialLayer(programs, privateTmp.getBase()) ?? { ok: true, programs };
      } catch (thrown) {
        return { ok: false, problem: getErrorMessage(thrown), isUndecided: true };
      }
    });

  return {
    canTry: () => readOnlySandbox.canEnforceReadOnly() && findProgramsOnce().ok,
    async prepare(command) {
      const found = findProgramsOnce();
      if (!found.ok) throw new Error(found.problem);
      const roots = listRoots(command.cwd);
      const outer = roots.filter((root) => !roots.some((other) => other !== root && isPathInside(root, other)));
      if (outer.some((root) => isPathInside(resolveAllLinks(environment.home), root)))
        throw new Error('the home folder lies in the workspace');
      const isInside = (path: string) => outer.some((root) => path !== root && isPathInside(path, root));
      // A layer knows one user.
      const foreign = outer.find((root) => lstatSync(root).uid !== process.getuid?.());
      if (foreign !== undefined) throw new Error(`${foreign} belongs to another user`);
      // A layer covers what is mounted below it.
      const mounted = (await listMountPoints()).find(isInside);
      if (mounted !== undefined) throw new Error(`${mounted} is another file system`);
      const place = mkdtempSync(join(privateTmp.getBase(), 'trial-'));
      let layer: TrialLayer | undefined;
      const stop = () => {
        layer?.stop();
        rmSync(place, { recursive: true, force: true });
      };
      try {
        layer = await startTrialLayer(found.programs, place, outer);
        const run = { ...deps, layer, stop, cwd: command.cwd };
        return { ...readOnlySandbox.prepare(command, layer), stop, judge: (ended) => judgeRun(ended, run) };
      } catch (thrown) {
        stop();
        throw thrown;
      }
    },
  };
}

type Run = CommandTrialsDeps & { readonly layer: TrialLayer; readonly stop: () => void; readonly cwd: string };

async function judgeRun({ outcome, printed, isCut, finish, isAborted }: TrialRun, run: Run): Promise<ToolOutcome> {
  const { layer, stop, environment, cwd } = run;
  const end = (ended: ToolOutcome): ToolOutcome => {
    stop();
    return ended;
  };
  if (isAborted() || (outcome.blocked ?? []).length > 0) return end(outcome);
  const why = isCut
    ? 'did not end within 5 s'
    : (describeNetworkUse(layer) ?? describeHomeWrites(layer, environment) ?? describeLayerLimit(printed));
  if (why !== undefined) return end({ ...outcome, trial: { is: 'void', why } });
  const changes = collectTrialChanges(layer.folders);
  if ('unusable' in changes) return end({ ...outcome, trial: { is: 'void', why: changes.unusable } });
  if (changes.changes.length === 0) return end(await finish());
  const preview = await previewTrialChanges(changes, cwd);
  if (isAborted()) return end(outcome);
  const apply = async () => end(await applyChanges(changes, run, finish));
  const paths = changes.changes.map(({ path }) => path);
  const shown = printed.slice(-SHOWN_LINES);
  return { ...outcome, trial: { is: 'pending', paths, preview, printed: shown, apply, discard: stop } };
}

async function applyChanges(changes: TrialChanges, run: Run, finish: TrialRun['finish']): Promise<ToolOutcome> {
  const result = await applyTrialChanges(changes, run);
  if (result.is === 'made') return finish();
  const format = (path: string) => relative(run.cwd, path) || path;
  const content =
    result.is === 'outdated'
      ? `Nothing was changed: ${result.paths.map(format).join(', ')} changed while the question was open. Run the command again.`
      : `The command has run, but not all of what it changed could be kept: ${result.problems.join(' ')}`;
  return { content, isError: true };
}

/** How many lines of the output the question shows. */
const SHOWN_LINES = 8;

/** Tells whether a program met what layers do not permit: renaming a folder, and changing files of other users. */
function describeLayerLimit(printed: readonly string[]): string | undefined {
  const isLimit = printed.some((line) =>
    /\bEXDEV\b|cross-device|\bEOVERFLOW\b|value too large for defined/i.test(line),
  );
  return isLimit ? 'could not rename a folder or change a file of another user' : undefined;
}

/** Counters of packets that found no way out, and of services of this machine that did not answer. */
const COUNTERS = [/^Ip: /, /^Tcp: /, /^Udp: /];
const FAILED_COUNTERS = ['OutNoRoutes', 'AttemptFails', 'NoPorts'];

/** Tells from the counters of its network whether a command tried to reach something. */
function describeNetworkUse({ counters }: TrialLayer): string | undefined {
  const lines = readFileSync(counters.own, 'utf8').split('\n');
  const countsOf = (protocol: RegExp) => {
    const [names = '', values = ''] = lines.filter((line) => protocol.test(line));
    const numbers = values.split(' ');
    return names.split(' ').filter((name, index) => FAILED_COUNTERS.includes(name) && Number(numbers[index]) > 0);
  };
  const hasTried =
    COUNTERS.some((protocol) => countsOf(protocol).length > 0) ||
    lines.some((line) => /^(?:Ip6OutNoRoutes|Udp6NoPorts)\s+[1-9]/.test(line));
  return hasTried ? 'tried to reach the network or a server on this machine' : undefined;
}

/** Folders of the home folder where nothing counts as written. */
const SCRATCH = [...SCRATCH_FOLDERS, '.npm'];

/** Names a file that a command wrote into the home folder, which lasts only as long as the trial. */
function describeHomeWrites({ home }: TrialLayer, environment: Environment): string | undefined {
  const written = findWrittenFile(home.own, '');
  return written && `wrote ${formatHomePath(join(environment.home, written), environment.home, '/')}`;
}

function findWrittenFile(folder: string, path: string): string | undefined {
  if (SCRATCH.includes(path)) return undefined;
  for (const name of readdirSync(join(folder, path))) {
    const inner = join(path, name);
    const entry = lstatSync(join(folder, inner));
    if (entry.isFile() && entry.size > 0) return inner;
    const found = entry.isDirectory() ? findWrittenFile(folder, inner) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
