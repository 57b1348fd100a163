import {
  canListProcessesNow,
  listProcesses,
  listProcessesNow,
  type ProcessInfo,
  readNewestPid,
} from './process-info.ts';
import { CALL_PROCESS_MARKER, isMarkedByFileLockLimit, RUN_PROCESS_MARKER } from './process-markers.ts';
import { canListWindowsProcesses, endWindowsTree } from './windows-processes.ts';

export { CALL_PROCESS_MARKER as CALL_MARKER, RUN_PROCESS_MARKER as RUN_MARKER };

/** The processes of a call: its process group, and the marker of all of them. */
export type ProcessTree = {
  readonly groupId: number;
  readonly marker: string;
  /** Start time of its first process, if known: the environment of older processes is not read. */
  readonly startTime?: string;
};

/** A process group that an earlier run may have left: pid and start time identify its leader. */
export type LeftoverProcessGroup = { readonly pgid: number; readonly startTime: string; readonly marker: string };

const KILL_AFTER_MS = 2_000;
/** Time to wait for processes that survive SIGKILL, counted from the last new process, up to a maximum. */
const GIVE_UP_AFTER_MS = 2_000;
const MAX_WAIT_MS = 20_000;
const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 50;

/**
 * Kills all processes of a call: SIGTERM at once, SIGKILL after two seconds or as soon as it is urgent.
 * Resolves when none is left, or when the rest does not react to SIGKILL.
 */
export function killProcessTree(tree: ProcessTree, isUrgent: () => boolean = () => false): Promise<void> {
  if (process.platform === 'win32' && !canListWindowsProcesses()) return endWindowsTree(tree.groupId);
  return killMatching((candidate) => isInGroup(candidate, tree) || hasTreeMarker(candidate, tree), isUrgent);
}

function hasTreeMarker(candidate: ProcessInfo, { marker, startTime }: ProcessTree): boolean {
  const isOlder = Number(candidate.startTime) < Number(startTime || undefined);
  return !isOlder && hasMarker(candidate, marker);
}

function hasMarker(candidate: ProcessInfo, marker: string): boolean {
  return (
    candidate.hasVariable(`${CALL_PROCESS_MARKER}=${marker}`) ||
    isMarkedByFileLockLimit(candidate.getLockLimit(), { call: marker })
  );
}

/** Kills all processes that an ended run has started, except this process and its ancestors. */
export async function killRunProcesses(marker: string, isUrgent: () => boolean = () => false): Promise<void> {
  const excluded = findAncestors(process.pid, await listProcesses());
  await killMatching((candidate) => isOfRun(candidate, marker), isUrgent, excluded);
}

function isOfRun(candidate: ProcessInfo, marker: string): boolean {
  return (
    candidate.hasVariable(`${RUN_PROCESS_MARKER}=${marker}`) ||
    isMarkedByFileLockLimit(candidate.getLockLimit(), { run: marker })
  );
}

/** Time to wait for killed processes in a process that is about to exit. */
const EXIT_WAIT_MS = 500;

/**
 * Kills all processes of this run with SIGKILL and blocks until they are gone: for a process that is about to exit,
 * where nothing asynchronous runs any more. `groups` are the known process groups; where processes cannot be listed, only
 * these are killed.
 */
export function killRunProcessesNow(marker: string, groups: ReadonlySet<number>): void {
  if (!canListProcessesNow) {
    for (const groupId of groups) signalProcessGroup(groupId, 'SIGKILL');
    return;
  }
  const excluded = findAncestors(process.pid, listSynchronously());
  const found = new Map<number, string>();
  const matches = (candidate: ProcessInfo) =>
    groups.has(candidate.pid) || groups.has(candidate.groupId) || isOfRun(candidate, marker);
  const list = () => findMembers(listSynchronously(), matches, found, excluded);
  const giveUpAt = performance.now() + EXIT_WAIT_MS;
  for (let members = list(); members.length > 0 && performance.now() < giveUpAt; members = list()) {
    stopAndKill(members, list);
    blockFor(MIN_PAUSE_MS);
  }
}

/** Blocks the thread, because a process that is about to exit runs no timers. */
function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function findAncestors(pid: number, running: readonly ProcessInfo[]): ReadonlySet<number> {
  const ancestors = new Set<number>();
  for (let next: number | undefined = pid; next !== undefined && next > 0 && !ancestors.has(next); ) {
    ancestors.add(next);
    next = running.find((candidate) => candidate.pid === next)?.parentPid;
  }
  return ancestors;
}

type Matcher = (candidate: ProcessInfo) => boolean;

async function killMatching(matches: Matcher, isUrgent: () => boolean, excluded?: ReadonlySet<number>): Promise<void> {
  const found = new Map<number, string>();
  const signalled = new Set<number>();
  const startedAt = performance.now();
  let killAt = startedAt + KILL_AFTER_MS;
  let lastFoundAt = startedAt;
  const findMembersNow = () => findMembers(listSynchronously(), matches, found, excluded);
  for (;;) {
    const known = found.size;
    const newest = readNewestPid();
    const listed = listProcessesNow();
    // Awaited only if needed: no other code may run between listing and signalling.
    const listedMembers = findMembers(listed instanceof Promise ? await listed : listed, matches, found, excluded);
    const members = listedMembers.length > 0 ? listedMembers : retryWhileForking(newest, findMembersNow);
    if (members.length === 0) return;
    const now = performance.now();
    if (isUrgent()) killAt = Math.min(killAt, now);
    if (found.size > known) lastFoundAt = now;
    if (now > Math.max(killAt, lastFoundAt) + GIVE_UP_AFTER_MS || now > killAt + MAX_WAIT_MS) return;
    if (now >= killAt) stopAndKill(members, findMembersNow);
    // A process forked later gets SIGTERM first, too.
    for (const { pid } of members) if (now < killAt && !signalled.has(pid)) sendSignal(pid, 'SIGTERM');
    for (const { pid } of members) signalled.add(pid);
    await new Promise((resolve) => setTimeout(resolve, getPause(now - startedAt)));
  }
}

const MAX_RETRIES = 10;

/**
 * Lists again while processes are created: a listing misses a process that forks and exits meanwhile, and its child. A
 * listing is complete only if no pid was assigned during it; `newest` is the last pid before the first listing.
 */
function retryWhileForking<Member>(newest: number | undefined, list: () => readonly Member[]): readonly Member[] {
  let before = newest;
  for (let round = 0; round < MAX_RETRIES && readNewestPid() !== before; round += 1) {
    before = readNewestPid();
    const members = list();
    if (members.length > 0) return members;
  }
  return [];
}

function listSynchronously(after?: number): readonly ProcessInfo[] {
  const listed = listProcessesNow(after);
  return listed instanceof Promise ? [] : listed;
}

const MAX_STOP_ROUNDS = 20;

/** Stops all processes with SIGSTOP before killing them: otherwise some could fork faster than they are killed. */
function stopAndKill(first: readonly ProcessInfo[], list: () => readonly ProcessInfo[]): void {
  let members = first;
  const stopped = new Set<number>();
  for (let round = 0; round < MAX_STOP_ROUNDS && process.platform === 'linux'; round += 1) {
    const added = members.filter(({ pid }) => !stopped.has(pid));
    if (added.length === 0) break;
    for (const { pid } of added) {
      sendSignal(pid, 'SIGSTOP');
      stopped.add(pid);
    }
    members = list();
  }
  for (const { pid } of members) sendSignal(pid, 'SIGKILL');
}

/** Returns the pause before the next listing. It grows: most processes exit at once, slow ones need no busy polling. */
function getPause(elapsedMs: number): number {
  return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, elapsedMs / 10));
}

/** Finds the members among running processes: new ones, and those found before whose parents have exited since. */
function findMembers(
  running: readonly ProcessInfo[],
  matches: Matcher,
  found: Map<number, string>,
  excluded?: ReadonlySet<number>,
): readonly ProcessInfo[] {
  const candidates = running.filter(({ pid }) => excluded?.has(pid) !== true);
  const members = withDescendants(
    candidates,
    (candidate) => found.get(candidate.pid) === candidate.startTime || matches(candidate),
  );
  for (const { pid, startTime } of members) found.set(pid, startTime);
  return members;
}

/** Age up to which pids cannot have wrapped around. */
const YOUNG_MS = 250;

/** Lists the running processes of a call except its first. A young call needs to check higher pids only. */
export async function listRemainingProcesses(tree: ProcessTree, ageMs: number): Promise<readonly number[]> {
  const after = ageMs < YOUNG_MS ? tree.groupId : undefined;
  const filterMembers = (running: readonly ProcessInfo[]) =>
    running
      .filter(
        (candidate) => candidate.pid !== tree.groupId && (isInGroup(candidate, tree) || hasTreeMarker(candidate, tree)),
      )
      .map(({ pid }) => pid);
  const newest = readNewestPid();
  // No process was started since the first one of the group.
  if (after !== undefined && newest === after) return [];
  const pids = filterMembers(await listProcesses(after));
  return pids.length > 0 ? pids : retryWhileForking(newest, () => filterMembers(listSynchronously(after)));
}

/** Lists the pids of running processes with a marker. @internal Exported for tests. */
export async function listMarkedProcesses(marker: string): Promise<readonly number[]> {
  return (await listProcesses()).filter((candidate) => hasMarker(candidate, marker)).map(({ pid }) => pid);
}

/** Kills process groups that an earlier run left, never a process with a reused pid. Returns how many still ran. */
export async function killLeftoverProcessGroups(leftovers: readonly LeftoverProcessGroup[]): Promise<number> {
  if (leftovers.length === 0) return 0;
  const running = await listProcesses();
  const isLeaderRunning = ({ pgid, startTime }: LeftoverProcessGroup) =>
    running.some((candidate) => candidate.pid === pgid && candidate.startTime === startTime);
  const alive = leftovers.filter(
    (leftover) => isLeaderRunning(leftover) || running.some((candidate) => hasMarker(candidate, leftover.marker)),
  );
  await Promise.all(
    alive.map((leftover) => {
      // Without its leader the group id may be reused, so only the marker counts.
      const groupId = isLeaderRunning(leftover) ? leftover.pgid : NO_GROUP;
      return killProcessTree({ groupId, marker: leftover.marker });
    }),
  );
  return alive.length;
}

/** A group id that no process has. */
const NO_GROUP = -1;

function isInGroup(candidate: ProcessInfo, { groupId }: Pick<ProcessTree, 'groupId'>): boolean {
  return candidate.pid === groupId || candidate.groupId === groupId || candidate.session === groupId;
}

function withDescendants(running: readonly ProcessInfo[], matches: Matcher): readonly ProcessInfo[] {
  const members = new Map<number, ProcessInfo>();
  for (const candidate of running) if (matches(candidate)) members.set(candidate.pid, candidate);
  for (let size = -1; size !== members.size; ) {
    size = members.size;
    for (const candidate of running) if (members.has(candidate.parentPid)) members.set(candidate.pid, candidate);
  }
  return [...members.values()];
}

/** Sends a signal to a process group. Windows has neither: all its processes are ended. */
export function signalProcessGroup(groupId: number, signal: NodeJS.Signals): void {
  if (process.platform !== 'win32') sendSignal(-groupId, signal);
  else
    for (const { pid } of withDescendants(listSynchronously(), (candidate) => isInGroup(candidate, { groupId })))
      sendSignal(pid, 'SIGKILL');
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has exited already.
  }
}
