import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { BlockedEffect } from '../../contracts/permission.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import type { MountHealth } from '../../lib/files/mount-health.ts';
import { splitWords } from '../../lib/text/lines.ts';
import { isPathInside } from '../../permissions/resolve-path.ts';
import { createProbeMemory, findSandboxProgram, runSandboxProbe, type SandboxProbeFailure } from '../backend.ts';
import { buildVisibleMounts, closeEmptied } from '../bwrap.ts';
import { getPathKind, resolveAllLinks } from '../host-paths.ts';
import type { ReadOnlySandboxPlan } from '../plan.ts';
import { createProgramPathFinder } from '../program-paths.ts';
import { createFolderScanner } from '../scan-folders.ts';
import { buildReadOnlySeatbeltArgs } from '../seatbelt.ts';
import { writeSeccompFilter } from '../seccomp-filter.ts';
import { createSystemSecretFinder, isShown } from '../visible-paths.ts';
import {
  createReadOnlySandboxPlan,
  type ReadOnlySandboxCommand,
  type ReadOnlySandboxPlanDeps,
} from './read-only-sandbox-plan.ts';
import { buildReadOnlySandboxEnv } from './read-only-variables.ts';

/** A prepared run in the read-only sandbox. */
export type ReadOnlySandboxRun = {
  readonly wrap: (argv: readonly string[]) => readonly string[];
  /** The seccomp filter, which the wrapper expects as descriptor 4. */
  readonly wrapperFile?: string;
  /** The whole environment of the command. */
  readonly variables: Readonly<Record<string, string>>;
  /** Returns what the sandbox kept a failed command from doing, as seen in its last lines. */
  readonly findBlocked: (printed: readonly string[]) => readonly BlockedEffect[];
};

/** The sandbox of commands that run unasked because they only read. It does not depend on any setting. */
export type ReadOnlySandbox = ReturnType<typeof createReadOnlySandbox>;

/** The dependencies of the read-only sandbox. */
export type ReadOnlySandboxDeps = Pick<ReadOnlySandboxPlanDeps, 'environment' | 'sessionFolder' | 'getPolicy'> & {
  readonly now: () => number;
  readonly mounts?: Pick<MountHealth, 'findHung'>;
};

/** The sandbox program, the compiled seccomp filter (empty on macOS), and an empty file that covers hidden ones. */
type ReadOnlyTools = { readonly program: string; readonly seccompFilter: string; readonly emptyFile: string };

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
      return !backend.ok && backend.isUndecided === true ? backend.why : undefined;
    },
    /** Prepares the run of a command. Throws if there is no sandbox. */
    prepare(command: ReadOnlySandboxCommand): ReadOnlySandboxRun {
      const found = findBackend();
      if (!found.ok) throw new ToolFailure(`Nothing was run: the read-only sandbox is not available (${found.why}).`);
      const plan = createReadOnlySandboxPlan({ ...deps, ...search }, command);
      const args = buildArgs(plan, found.tools);
      const roots = getPolicy(command.cwd).workspaceRoots.map(resolveAllLinks);
      return {
        wrap: (argv) => [...args, ...argv],
        ...(found.tools.seccompFilter === '' ? {} : { wrapperFile: found.tools.seccompFilter }),
        variables: buildReadOnlySandboxEnv(environment, roots),
        findBlocked: (printed) => findSandboxDenials(printed, { plan, cwd: command.cwd }),
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
    const { seccompFilter } = writeSeccompFilter(folder, 'none');
    if (seccompFilter === undefined && !isMac)
      return { ok: false, why: `system calls cannot be filtered on ${process.arch}` };
    const tools = { program: found.program, seccompFilter: seccompFilter ?? '', emptyFile: writeEmptyFile(folder) };
    return runNoOp(tools) ?? { ok: true, tools };
  } catch (thrown) {
    // Files could not be written, which says nothing about the sandbox: the disk may be full.
    return { ok: false, why: getErrorMessage(thrown), isUndecided: true };
  }
}

/** Runs a no-op command in the sandbox. Returns the reason if it fails. */
function runNoOp(tools: ReadOnlyTools): SandboxProbeFailure | undefined {
  const argv = [...buildArgs(EMPTY_PLAN, tools), '/bin/bash', '-c', ':'];
  const env = { PATH: '/usr/bin:/bin' };
  if (tools.seccompFilter === '') return runSandboxProbe(argv, { env });
  const filter = openSync(tools.seccompFilter, 'r');
  try {
    return runSandboxProbe(argv, { env, filter });
  } finally {
    closeSync(filter);
  }
}

function buildArgs(plan: ReadOnlySandboxPlan, tools: ReadOnlyTools): readonly string[] {
  return isMac ? buildReadOnlySeatbeltArgs(plan) : buildReadOnlyBwrapArgs(plan, tools);
}

/** Writes the file that covers hidden files, unless it is there already. */
export function writeEmptyFile(folder: string): string {
  const path = join(folder, 'empty');
  if (getPathKind(path) === 'file') return path;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(path, '', { mode: 0o600 });
  return path;
}

/**
 * Builds the bubblewrap arguments that go before a command that may only read. Later mounts cover earlier ones, so a
 * hidden folder with a visible one inside comes first.
 */
function buildReadOnlyBwrapArgs(plan: ReadOnlySandboxPlan, tools: ReadOnlyTools): readonly string[] {
  const { visible, hidden, readable } = plan;
  const isFolder = (path: string) => getPathKind(path) === 'directory';
  const cover = (path: string) => (isFolder(path) ? ['--tmpfs', path] : ['--ro-bind', tools.emptyFile, path]);
  // Writing into a hidden folder must fail and not seem to succeed.
  const close = (path: string) => (isFolder(path) ? ['--remount-ro', path] : []);
  const show = (path: string) => ['--ro-bind', path, path];
  const listShownInside = (folder: string) =>
    [...visible.shown, ...readable].filter((path) => path !== folder && isPathInside(path, folder));
  const outer = hidden.filter((path) => listShownInside(path).length > 0);
  const inner = hidden.filter((path) => !outer.includes(path));
  return [
    ...[tools.program, '--seccomp', '4'],
    ...buildVisibleMounts(plan),
    ...splitWords('--remount-ro /dev --tmpfs /dev/shm --remount-ro /proc'),
    ...['--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent', '--new-session'],
    ...['--cap-drop', 'ALL'],
    ...outer.flatMap(cover),
    ...SYSTEM_LINKS.flatMap((path) => ['--ro-bind-try', path, path]),
    ...[...new Set(outer.flatMap(listShownInside))].toSorted((a, b) => a.length - b.length).flatMap(show),
    ...inner.flatMap((path) => [...cover(path), ...close(path)]),
    ...readable.flatMap(show),
    ...outer.flatMap(close),
    ...closeEmptied(visible),
    '--',
  ];
}

/** Programs of NixOS are reached through these links. */
const SYSTEM_LINKS = ['/run/current-system', '/run/opengl-driver'];

/** The context in which the output of a failed command is read. */
type FailedCommand = { readonly plan: ReadOnlySandboxPlan; readonly cwd: string };

const MAX_EFFECTS = 5;
const MAX_LINE_CHARS = 500;

/**
 * Finds what the sandbox kept a failed command from doing. Programs report it only as text: the messages of the C
 * library and of language runtimes for the errors that the sandbox causes.
 */
function findSandboxDenials(printed: readonly string[], failed: FailedCommand): readonly BlockedEffect[] {
  const effects = printed.flatMap((line) => parseLine(line.slice(0, MAX_LINE_CHARS), failed) ?? []);
  const keys = effects.map((effect) => JSON.stringify(effect));
  return effects.filter((_, index) => keys.indexOf(keys[index] ?? '') === index).slice(0, MAX_EFFECTS);
}

const NOT_WRITABLE = /read-only file system|\bEROFS\b/i;
const NO_NETWORK =
  /network is (?:down|unreachable)|\bENET(?:DOWN|UNREACH)\b|temporary failure in name resolution|could not resolve|\bEAI_AGAIN\b|\bENOTFOUND\b|name or service not known|no such host|nodename nor servname|UnknownHostException|unable to resolve|failed to lookup address|dns error/i;
const NO_SOCKET =
  /(?:socket|connect|\bbus\b|\bdial\b|daemon|server).*operation not permitted|operation not permitted.*socket|cannot connect to the docker daemon/i;
const NOT_PERMITTED = /operation not permitted|\bEPERM\b/i;
const NOT_FOUND =
  /no such file or directory|\bENOENT\b|cannot access|not found|does not exist|permission denied|\bEACCES\b/i;

function parseLine(line: string, failed: FailedCommand): BlockedEffect | undefined {
  if (NOT_WRITABLE.test(line)) return { kind: 'write', ...pick('path', findPath(line, failed.cwd)) };
  if (NO_NETWORK.test(line)) return { kind: 'connect', ...pick('host', findHost(line)) };
  if (NO_SOCKET.test(line)) return { kind: 'connect', host: 'a local service' };
  if (NOT_PERMITTED.test(line)) return { kind: 'other' };
  const path = NOT_FOUND.test(line) ? findPath(line, failed.cwd) : undefined;
  return path !== undefined && isHidden(path, failed.plan) ? { kind: 'read', path } : undefined;
}

const pick = <Key extends string>(key: Key, value: string | undefined) => (value === undefined ? {} : { [key]: value });

/** Finds the path that an error message names: in quotes, or before the message. */
function findPath(line: string, cwd: string): string | undefined {
  const quoted = /['"‘’`]([^'"‘’`\n]{1,300})['"‘’`]/.exec(line)?.[1];
  const absolute = /(?:^|[\s:=(])(\/[^\s:'",)]{1,300})/.exec(line)?.[1];
  const before = /(?<![^\s:])([^\s:]+): (?:read-only file system|no such file|permission denied)/i.exec(line)?.[1];
  const path = quoted !== undefined && /[/.\w]/.test(quoted) ? quoted : (before ?? absolute);
  return path === undefined ? undefined : resolve(cwd, path);
}

function findHost(line: string): string | undefined {
  const url = /\w:\/\/(?:[^\s/@]*@)?([a-z0-9.-]+(?::\d+)?)/i.exec(line)?.[1];
  const named =
    /(?:resolve(?: host(?:name)?)?:?|EAI_AGAIN|ENOTFOUND|lookup|connect to|UnknownHostException:) ['"(]?([a-z0-9-]+(?:\.[a-z0-9-]+)+)/i.exec(
      line,
    )?.[1];
  return url ?? named;
}

/** Returns whether a path exists and is hidden in the sandbox. */
function isHidden(path: string, { visible, hidden, readable }: ReadOnlySandboxPlan): boolean {
  const isCovered = !isShown(visible, path) || hidden.some((folder) => isPathInside(path, folder));
  return isCovered && !readable.some((folder) => isPathInside(path, folder)) && existsSync(path);
}
