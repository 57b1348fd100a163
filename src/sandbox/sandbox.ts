import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import type { Policy } from '../contracts/permission.ts';
import type { SandboxPaths } from '../contracts/sandbox.ts';
import type { Settings } from '../contracts/settings.ts';
import { ToolFailure } from '../contracts/tool.ts';
import { getErrorMessage } from '../lib/errors.ts';
import type { HungMountFinder } from '../lib/files/mount-health.ts';
import { listFolderNames } from '../lib/files/read-or-default.ts';
import { isProgramControlFile } from '../permissions/paths/program-files.ts';
import {
  buildSandboxArgs,
  createProbeMemory,
  findSandboxProgram,
  probeSandbox,
  type SandboxProbeResult,
} from './backend.ts';
import { deleteOldSandboxCaches, prepareSandboxCacheFolder } from './caches.ts';
import { createSandboxPlanner, type DeniedPaths } from './create-plan.ts';
import { describeBlockedAccess } from './describe-blocked.ts';
import { resolveAllLinks } from './host-paths.ts';
import type { LazyNetwork } from './network/lazy-network.ts';
import type { BlockedConnection, SandboxedCommand } from './network/sandbox-network.ts';
import type { SandboxPlan } from './plan.ts';
import type { PrivateTmp } from './private-tmp.ts';
import { listNeverWritablePaths, PROTECTED_IN_PROJECT, prepareWritablePaths } from './protected-paths.ts';
import { createRepositoryGuard } from './repositories/nested-repositories.ts';
import { createSandboxPlaceholders } from './sandbox-placeholders.ts';
import { createFolderScanner } from './scan-folders.ts';

/** The dependencies of the sandbox of a session. */
export type SandboxDeps = {
  readonly environment: Environment;
  readonly cwd: string;
  readonly now: () => number;
  readonly mounts?: HungMountFinder;
  readonly getSettings: () => Pick<Settings, 'sandbox' | 'env'>;
  /** Returns the workspace folders. */
  readonly getRoots: () => readonly string[];
  readonly sessionFolder: string;
  readonly network: LazyNetwork;
  /** The `/tmp` of commands; without it, each command has its own. */
  readonly privateTmp?: PrivateTmp;
  /** Returns the paths that rules deny to read or to write. */
  readonly getDeniedPaths: (use: 'read' | 'write') => DeniedPaths;
  /** Takes the paths that the decision about a call made writable. */
  readonly takeOpenedPaths: (callId: string) => readonly string[];
};

const MAX_SANDBOXED_CALLS = 100;

/** The state of the sandbox: off, on, or enabled but unavailable on this machine. */
type SandboxState =
  | { readonly is: 'off' }
  | { readonly is: 'on'; readonly plan: SandboxPlan; readonly program: string; readonly networkProblem?: string }
  | { readonly is: 'unavailable'; readonly problem: string };

/** A program that ouro starts by itself in the sandbox of commands. */
type SandboxedProgram = {
  readonly network: 'none' | 'open';
  readonly workspace: 'read-only' | 'writable';
  /** Paths that it reads or writes besides the workspace. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** Variables that it gets even if they hold secrets. */
  readonly keptVariables: readonly string[];
};

/** A program in its sandbox, a machine without one, or the reason why it is not known whether there is one. */
type PreparedSandboxProgram =
  | {
      readonly is: 'ready';
      readonly wrap: (argv: readonly string[]) => readonly string[];
      /** Must be called when all processes of the program have ended. */
      readonly ended: () => void;
    }
  | { readonly is: 'absent' }
  | { readonly is: 'undecided'; readonly problem: string };

/** The sandbox of shell commands, enabled by settings or `/sandbox on`. If enabled, no command runs without it. */
export type Sandbox = {
  /** Prepares the sandbox of a command; undefined if it is off. Throws if it is enabled but unavailable. */
  wrap(
    command: Omit<SandboxedCommand, 'signal'>,
  ): Promise<((argv: readonly string[]) => readonly string[]) | undefined>;
  /**
   * Prepares a program that the project names and the user approved. It does not depend on whether commands run in a
   * sandbox.
   */
  prepareProgram(program: SandboxedProgram): PreparedSandboxProgram;
  getState(): SandboxState;
  /** Returns whether it is off, by no choice of the user, and works on this machine. */
  canTurnOn(): boolean;
  /** Overrides the settings for this session. */
  switchTo(wanted: 'on' | 'off' | 'auto'): void;
  /** Returns whether sandboxed commands need approval; undefined if the sandbox is off. */
  getApproval(): Policy['sandbox'];
  /** Returns the paths that every command may write, and those that none may. */
  getPaths(): SandboxPaths;
  /** Cleans up after a command; `over` means that its background processes have ended, too. */
  cleanUp(end: 'exited' | 'over', callId: string): void;
  /** Returns notes for the model about what the sandbox blocked; uses the last output lines of the command. */
  describeBlocked(callId: string, printed: readonly string[]): readonly string[];
  /** Returns the last blocked connections, the oldest first. */
  listBlocked(): readonly BlockedConnection[];
  /** Removes all placeholders and the `/tmp` of commands, and closes the network, even while commands run. */
  close(): void;
};

/** Creates the sandbox of a conversation. */
export function createSandbox({
  mounts,
  environment,
  cwd,
  now,
  getSettings,
  getRoots,
  sessionFolder,
  network,
  privateTmp,
  getDeniedPaths,
  takeOpenedPaths,
}: SandboxDeps): Sandbox {
  const folder = join(environment.ouroHome, 'sandbox');
  const repositories = createRepositoryGuard(folder);
  const placeholders = createSandboxPlaceholders(join(folder, 'covers'), randomUUID());
  let runningCount = 0;
  let hasStarted = false;
  /** The last sandboxed calls, with the program files that the workspace had before each. */
  let sandboxedCalls: readonly { readonly id: string; readonly programFiles: readonly string[] }[] = [];
  let override: 'on' | 'off' | 'auto' | undefined;
  const createPlan = createSandboxPlanner({
    ...{ environment, cwd, now },
    getRoots,
    sessionFolder,
    folder,
    getDeniedPaths,
    listSetVariables: () => Object.keys(getSettings().env ?? {}),
    scanFolders: createFolderScanner(now, mounts),
  });
  const probes = createProbeMemory<SandboxProbeResult>(now);

  function computeState(): SandboxState {
    if (!isEnabled()) return { is: 'off' };
    const plan = createPlan(getSettings().sandbox ?? {});
    const probe = probes.find(() => probeSandbox(plan, environment));
    if (!probe.ok) return { is: 'unavailable', problem: probe.problem };
    const problem = network.getProblem();
    const networkProblem = problem === undefined ? {} : { networkProblem: problem };
    return { is: 'on', plan, program: probe.program, ...networkProblem };
  }

  const isEnabled = () => (override === undefined ? getSettings().sandbox?.enabled === true : override !== 'off');

  /** Prepares the disk for a run. */
  function start(plan: SandboxPlan): SandboxPlan {
    prepareSandboxCacheFolder(plan.cacheFolder, now());
    // Not awaited: a failed cleanup is repeated in the next session.
    if (!hasStarted) void deleteOldSandboxCaches(plan.cacheFolder, now()).catch(() => undefined);
    hasStarted = true;
    if (runningCount === 0) repositories.remember(plan);
    if (process.platform === 'linux') placeholders.create(plan);
    runningCount += 1;
    return plan;
  }

  /** Cleans up after a run. */
  function end(moment: 'exited' | 'over'): void {
    placeholders.repair();
    repositories.disarmNew(createPlan(getSettings().sandbox ?? {}));
    if (moment === 'over') runningCount -= 1;
    if (runningCount === 0) placeholders.remove();
  }

  return {
    getState: computeState,
    canTurnOn() {
      const settings = getSettings().sandbox ?? {};
      if (override !== undefined || settings.enabled !== undefined) return false;
      return probes.find(() => probeSandbox(createPlan(settings), environment)).ok;
    },
    switchTo(next) {
      override = next;
    },
    getApproval() {
      if (!isEnabled() || (probes.getKnown()?.ok ?? computeState().is === 'on') === false) return undefined;
      const isAutoAllowed = override === 'auto' || (override !== 'on' && getSettings().sandbox?.autoAllow === true);
      return isAutoAllowed ? 'unasked' : 'asked';
    },
    getPaths() {
      const plan = createPlan(getSettings().sandbox ?? {});
      return { writable: [...plan.roots, ...plan.allowWrite], readOnly: listNeverWritablePaths(plan) };
    },
    async wrap(command) {
      const current = computeState();
      if (current.is === 'off') return undefined;
      if (current.is === 'unavailable') throw new ToolFailure(explainUnavailable(current.problem));
      const openedPaths = takeOpenedPaths(command.id);
      prepareWritablePaths(openedPaths, current.plan);
      const filePlan = openedPaths.length === 0 ? current.plan : createPlan(getSettings().sandbox ?? {}, openedPaths);
      const planned = await network.addNetworkAccess(filePlan, current.program, command);
      const plan = privateTmp === undefined ? planned : { ...planned, tmpFolder: privateTmp.getFolder() };
      start(plan);
      const call = { id: command.id, programFiles: listProgramFiles(getRoots()) };
      sandboxedCalls = [...sandboxedCalls, call].slice(-MAX_SANDBOXED_CALLS);
      const sandboxArgs = buildSandboxArgs(current.program, plan);
      return (argv) => [...sandboxArgs, ...argv];
    },
    prepareProgram({ network: access, workspace, readable, writable, keptVariables }) {
      if (!findSandboxProgram(environment, getRoots().map(resolveAllLinks)).ok) return { is: 'absent' };
      try {
        prepareSandboxCacheFolder(join(folder, 'caches'), now());
      } catch (thrown) {
        return { is: 'undecided', problem: getErrorMessage(thrown) };
      }
      const { allowRead = [], ...settings } = getSettings().sandbox ?? {};
      const planned = createPlan(
        { ...settings, network: access === 'open', allowRead: [...allowRead, ...readable] },
        writable,
      );
      const probe = probes.find(() => probeSandbox(planned, environment));
      if (!probe.ok) return probe.isUndecided === true ? { is: 'undecided', problem: probe.problem } : { is: 'absent' };
      const { program } = probe;
      const secretVariables = planned.secretVariables.filter((name) => !keptVariables.includes(name));
      if (workspace === 'read-only') {
        prepareSandboxCacheFolder(planned.cacheFolder, now());
        const args = buildSandboxArgs(program, { ...makeReadOnly(planned), secretVariables });
        return { is: 'ready', wrap: (argv) => [...args, ...argv], ended: () => undefined };
      }
      const args = buildSandboxArgs(program, start({ ...planned, secretVariables }));
      return { is: 'ready', wrap: (argv) => [...args, ...argv], ended: () => end('over') };
    },
    cleanUp(moment, callId) {
      if (moment === 'over') network.unregister(callId);
      void privateTmp?.measure();
      end(moment);
    },
    describeBlocked(callId, printed) {
      const call = sandboxedCalls.find(({ id }) => id === callId);
      if (call === undefined) return [];
      return [
        ...(privateTmp?.takeNotes() ?? []),
        ...describeBlockedAccess(network.listBlocked(), callId, printed),
        ...describeNewFiles(call.programFiles, listProgramFiles(getRoots())),
      ];
    },
    listBlocked: network.listBlocked,
    close() {
      placeholders.remove();
      network.close();
      privateTmp?.close();
    },
  };
}

/** Takes the writable folders out of a plan, and with them what protects paths in them. */
function makeReadOnly({ worktree: _, ...plan }: SandboxPlan): SandboxPlan {
  const gitConfigPaths = { folders: [], files: [] };
  return {
    ...{ ...plan, gitConfigPaths },
    ...{ roots: [], allowWrite: [], denyWrite: [], nestedGitPaths: [], programFiles: [], ignoreFiles: [] },
  };
}

function describeNewFiles(before: readonly string[], after: readonly string[]): readonly string[] {
  const added = after.filter((path) => !before.includes(path));
  if (added.length === 0) return [];
  return [`[created, and other programs run from it: ${added.join(', ')}. Tell the user what it is for.]`];
}

/** Lists the files directly in the roots that other programs run from, except those that no command can create. */
function listProgramFiles(roots: readonly string[]): readonly string[] {
  const covered: readonly string[] = [...PROTECTED_IN_PROJECT.folders, ...PROTECTED_IN_PROJECT.files];
  return roots.flatMap((root) =>
    listFolderNames(root)
      .filter((name) => isProgramControlFile(name) && !covered.includes(name))
      .toSorted()
      .map((name) => join(root, name)),
  );
}

function explainUnavailable(why: string): string {
  return `Nothing was run: commands must run in a sandbox, which is not available here (${why}). Tell the user; they can install bubblewrap, or set sandbox.enabled to false.`;
}
