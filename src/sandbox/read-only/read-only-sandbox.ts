import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { BlockedEffect } from '../../contracts/sandbox.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import type { HungMountFinder } from '../../lib/files/mount-health.ts';
import { splitWords } from '../../lib/text/lines.ts';
import { isPathInside } from '../../permissions/resolve-path.ts';
import { createProbeMemory, findSandboxProgram, runSandboxProbe, type SandboxProbeFailure } from '../backend.ts';
import { buildClosedFolder, buildCoveredFolder, buildVisibleMounts, closeEmptied } from '../bwrap.ts';
import { getPathKind, resolveAllLinks } from '../host-paths.ts';
import type { ReadOnlySandboxPlan } from '../plan.ts';
import type { PrivateTmp } from '../private-tmp.ts';
import { createProgramPathFinder } from '../program-paths.ts';
import { createFolderScanner } from '../scan-folders.ts';
import { buildReadOnlySeatbeltArgs } from '../seatbelt.ts';
import { writeSeccompFilter } from '../seccomp-filter.ts';
import type { TrialLayer } from '../trial-layer.ts';
import { createSystemSecretFinder } from '../visible-paths.ts';
import {
  createReadOnlySandboxPlan,
  type ReadOnlySandboxCommand,
  type ReadOnlySandboxPlanDeps,
} from './read-only-sandbox-plan.ts';
import { buildReadOnlySandboxEnv } from './read-only-variables.ts';
import { describeHidden, findSandboxDenials } from './sandbox-denials.ts';

/** A prepared run in the read-only sandbox. */
export type ReadOnlySandboxRun = {
  readonly wrap: (argv: readonly string[]) => readonly string[];
  /** The seccomp filter, which the wrapper expects as descriptor 4. */
  readonly wrapperFile?: string;
  /** The whole environment of the command. */
  readonly variables: Readonly<Record<string, string>>;
  /** Returns what the sandbox kept a failed command from doing, as seen in its last lines. */
  readonly findBlocked: (printed: readonly string[]) => readonly BlockedEffect[];
  /** Returns notes for the model about what a command met that is different outside, as seen in its last lines. */
  readonly describeLimits: (printed: readonly string[]) => readonly string[];
};

/** The sandbox of commands that run unasked because they only read. It does not depend on any setting. */
export type ReadOnlySandbox = ReturnType<typeof createReadOnlySandbox>;

/** The dependencies of the read-only sandbox. */
export type ReadOnlySandboxDeps = Pick<ReadOnlySandboxPlanDeps, 'environment' | 'sessionFolder' | 'getPolicy'> & {
  readonly now: () => number;
  readonly privateTmp: Pick<PrivateTmp, 'getFolder' | 'getCoverFile' | 'measure' | 'takeNotes'>;
  readonly mounts?: HungMountFinder;
};

/** The sandbox program, and the compiled seccomp filter (empty on macOS). */
type ReadOnlyTools = { readonly program: string; readonly seccompFilter: string };

/** The folder and the cover that a command gets besides its plan; the probe gets none. */
type ReadOnlyMounts = {
  readonly tmpFolder?: string;
  readonly coverFile: string;
  readonly layer?: TrialLayer | undefined;
};

/** The tools of the sandbox, or the reason why there is none. */
type Backend = { readonly ok: true; readonly tools: ReadOnlyTools } | SandboxProbeFailure;

const isMac = process.platform === 'darwin';
const EMPTY_PLAN: ReadOnlySandboxPlan = {
  ...{ home: '/', hidden: [], readable: [] },
  visible: { shown: ['/'], emptied: ['/tmp', '/run'], links: [], secretFiles: [] },
};

/** Creates the read-only sandbox of a session. The machine is probed once, when it is first needed. */
export function createReadOnlySandbox(deps: ReadOnlySandboxDeps) {
  const { environment, getPolicy, now } = deps;
  const folder = join(environment.ouroHome, 'sandbox');
  const search = {
    scanFolders: createFolderScanner(now, deps.mounts),
    findProgramPaths: createProgramPathFinder(environment),
    findSystemSecrets: createSystemSecretFinder(now),
  };
  const memory = createProbeMemory<Backend>(now);
  const findBackend = () =>
    memory.find(() => probeReadOnlySandbox({ environment, roots: getPolicy(environment.home).workspaceRoots, folder }));

  return {
    canEnforceReadOnly: (): boolean => findBackend().ok,
    /** Returns why it is not known yet whether there is a sandbox. */
    findUndecidedReason(): string | undefined {
      const backend = findBackend();
      return !backend.ok && backend.isUndecided === true ? backend.problem : undefined;
    },
    /** Prepares the run of a command; with a layer, it may write there. Throws if there is no sandbox. */
    prepare(command: ReadOnlySandboxCommand, layer?: TrialLayer): ReadOnlySandboxRun {
      const found = findBackend();
      if (!found.ok)
        throw new ToolFailure(`Nothing was run: the read-only sandbox is not available (${found.problem}).`);
      const plan = createReadOnlySandboxPlan({ ...deps, ...search }, command);
      const { privateTmp } = deps;
      const mounts = isMac
        ? NO_MOUNTS
        : { tmpFolder: privateTmp.getFolder(), coverFile: privateTmp.getCoverFile(), layer };
      const args = buildArgs(plan, found.tools, mounts);
      const roots = getPolicy(command.cwd).workspaceRoots.map(resolveAllLinks);
      return {
        wrap: (argv) => [...args, ...(layer === undefined ? argv : keepCounters(command.cwd, argv))],
        ...(found.tools.seccompFilter === '' ? {} : { wrapperFile: found.tools.seccompFilter }),
        variables: buildReadOnlySandboxEnv(environment, roots, command.command),
        findBlocked: (printed) => findSandboxDenials(printed, { plan, cwd: command.cwd }),
        describeLimits(printed) {
          void privateTmp.measure();
          return [...privateTmp.takeNotes(), ...describeHidden(printed, { plan, cwd: command.cwd })];
        },
      };
    },
  };
}

/** Finds out whether commands can be limited to reading on this machine. Writes the files that it needs to a folder. */
export function probeReadOnlySandbox({
  environment,
  roots,
  folder,
}: {
  readonly environment: Environment;
  readonly roots: readonly string[];
  readonly folder: string;
}): Backend {
  const found = findSandboxProgram(environment, roots);
  if (!found.ok) return found;
  try {
    const { seccompFilter } = writeSeccompFilter(folder, 'internet');
    if (seccompFilter === undefined && !isMac)
      return { ok: false, problem: `system calls cannot be filtered on ${process.arch}` };
    const tools = { program: found.program, seccompFilter: seccompFilter ?? '' };
    return runNoOp(tools) ?? { ok: true, tools };
  } catch (thrown) {
    // Files could not be written, which says nothing about the sandbox: the disk may be full.
    return { ok: false, problem: getErrorMessage(thrown), isUndecided: true };
  }
}

/** Runs a no-op command in the sandbox. Returns the reason if it fails. */
function runNoOp(tools: ReadOnlyTools): SandboxProbeFailure | undefined {
  const argv = [...buildArgs(EMPTY_PLAN, tools, NO_MOUNTS), '/bin/bash', '-c', ':'];
  const env = { PATH: '/usr/bin:/bin' };
  if (tools.seccompFilter === '') return runSandboxProbe(argv, { env });
  const filter = openSync(tools.seccompFilter, 'r');
  try {
    return runSandboxProbe(argv, { env, filter });
  } finally {
    closeSync(filter);
  }
}

const NO_MOUNTS: ReadOnlyMounts = { coverFile: '/dev/null' };

function buildArgs(plan: ReadOnlySandboxPlan, tools: ReadOnlyTools, mounts: ReadOnlyMounts): readonly string[] {
  return isMac ? buildReadOnlySeatbeltArgs(plan) : buildReadOnlyBwrapArgs(plan, tools, mounts);
}

/**
 * Builds the bubblewrap arguments that go before a command that may only read. Later mounts cover earlier ones, so a
 * hidden folder with a visible one inside comes first.
 */
function buildReadOnlyBwrapArgs(
  plan: ReadOnlySandboxPlan,
  tools: ReadOnlyTools,
  { tmpFolder, coverFile, layer }: ReadOnlyMounts,
): readonly string[] {
  const { visible, hidden, readable } = plan;
  const replaced =
    layer && new Map(layer.folders.map(({ path, source }) => [path, source])).set(plan.home, layer.home.source);
  const isFolder = (path: string) => getPathKind(path) === 'directory';
  const cover = (path: string) => ['--ro-bind', coverFile, path];
  const show = (path: string) => ['--ro-bind', path, path];
  const listShownInside = (folder: string) =>
    [...visible.shown, ...readable].filter((path) => path !== folder && isPathInside(path, folder));
  const outer = hidden.filter((path) => listShownInside(path).length > 0);
  const inner = hidden.filter((path) => !outer.includes(path));
  return [
    ...(layer === undefined ? [tools.program] : [...enterLayer(layer), tools.program, ...USER]),
    ...['--seccomp', '4'],
    ...buildVisibleMounts({ ...plan, tmpFolder, replaced }),
    ...splitWords('--remount-ro /dev --tmpfs /dev/shm --remount-ro /proc'),
    ...['--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent', '--new-session'],
    ...['--cap-drop', 'ALL'],
    ...outer.flatMap((path) => (isFolder(path) ? buildCoveredFolder(path) : cover(path))),
    ...SYSTEM_LINKS.flatMap((path) => ['--ro-bind-try', path, path]),
    ...[...new Set(outer.flatMap(listShownInside))].toSorted((a, b) => a.length - b.length).flatMap(show),
    ...inner.flatMap((path) => (isFolder(path) ? buildClosedFolder(path) : cover(path))),
    ...readable.flatMap(show),
    ...outer.filter(isFolder).flatMap((path) => ['--remount-ro', path]),
    ...closeEmptied(visible, (path) => replaced?.has(path) === true),
    '--',
  ];
}

/** The layers belong to a user namespace in which this user is root; the command is to see its own name. */
const USER = ['--unshare-user', '--uid', String(process.getuid?.() ?? 0), '--gid', String(process.getgid?.() ?? 0)];

/** Enters the layers, with the file for the network counters as descriptor 8. */
const enterLayer = ({ enter, counters }: TrialLayer): readonly string[] => [
  ...[...enter, '/bin/bash', '--noprofile', '--norc', '-c', 'exec 8>"$0"; exec "$@"', counters.source],
];

/** Starts a command in its folder, which entering the layers has left, and keeps the network counters at its end. */
const keepCounters = (cwd: string, argv: readonly string[]): readonly string[] => [
  ...['/bin/bash', '--noprofile', '--norc', '-c'],
  ...['cd -- "$0" && "$@" 8>&-; code=$?; cat /proc/net/snmp /proc/net/snmp6 2>/dev/null >&8; exit $code', cwd, ...argv],
];

/** Programs of NixOS are reached through these links. */
const SYSTEM_LINKS = ['/run/current-system', '/run/opengl-driver'];
