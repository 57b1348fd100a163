import { isBranded, MARKER, RUN_MARKER } from './brand.ts';
import { livingNow, livingProcesses, newestPid, type ProcessFacts } from './process-facts.ts';

export { MARKER, RUN_MARKER };

/** What a call started: its process group, and the mark of everything in it. */
export type Tree = {
  readonly groupId: number;
  readonly marker: string;
  /** When its first process started, where that is known: the environment of what is older need not be read. */
  readonly startTime?: string;
};

/** What a run that is over may have left: the leader is known by its number and the moment it started. */
export type Leftover = { readonly pgid: number; readonly startTime: string; readonly marker: string };

const KILL_AFTER_MS = 2_000;
/** So long after KILL for what does not even heed that; whoever is new is waited for anew, but not for ever. */
const GIVE_UP_AFTER_MS = 2_000;
const GIVE_UP_AT_LAST_MS = 20_000;
const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;

/**
 * Ends a call's whole tree: TERM at once, KILL after two seconds or as soon as it is urgent.
 * Resolves when nothing of it is left, or when what is left does not even heed KILL.
 */
export function endTree(tree: Tree, isUrgent: () => boolean = () => false): Promise<void> {
  return endAll((one) => belongs(one, tree) || carriesMark(one, tree), isUrgent);
}

function carriesMark(one: ProcessFacts, { marker, startTime }: Tree): boolean {
  const isOlder = Number(one.startTime) < Number(startTime || undefined);
  return !isOlder && isMarked(one, marker);
}

function isMarked(one: ProcessFacts, marker: string): boolean {
  return one.carries(`${MARKER}=${marker}`) || isBranded(one.lockLimit(), { call: marker });
}

/** Ends everything a run that is over has started; whoever asks and its ancestors are never among it. */
export async function endRun(mark: string, isUrgent: () => boolean = () => false): Promise<void> {
  const spared = ancestorsOf(process.pid, await livingProcesses());
  const isOfRun = (one: ProcessFacts) =>
    one.carries(`${RUN_MARKER}=${mark}`) || isBranded(one.lockLimit(), { run: mark });
  await endAll(isOfRun, isUrgent, spared);
}

function ancestorsOf(pid: number, living: readonly ProcessFacts[]): ReadonlySet<number> {
  const line = new Set<number>();
  for (let next: number | undefined = pid; next !== undefined && next > 0 && !line.has(next); ) {
    line.add(next);
    next = living.find((one) => one.pid === next)?.parent;
  }
  return line;
}

type Matches = (one: ProcessFacts) => boolean;

async function endAll(matches: Matches, isUrgent: () => boolean, spared?: ReadonlySet<number>): Promise<void> {
  const found = new Map<number, string>();
  const signalled = new Set<number>();
  const startedAt = performance.now();
  let killAt = startedAt + KILL_AFTER_MS;
  let newsAt = startedAt;
  for (;;) {
    const known = found.size;
    const newest = newestPid();
    const looked = livingNow();
    // Not awaited needlessly: between a look and its signals others would have their turn.
    const seen = livingMembers(looked instanceof Promise ? await looked : looked, matches, found, spared);
    const members =
      seen.length > 0 ? seen : missedSince(newest, () => livingMembers(seenAtOnce(), matches, found, spared));
    if (members.length === 0) return;
    const now = performance.now();
    if (isUrgent()) killAt = Math.min(killAt, now);
    if (found.size > known) newsAt = now;
    if (now > Math.max(killAt, newsAt) + GIVE_UP_AFTER_MS || now > killAt + GIVE_UP_AT_LAST_MS) return;
    if (now >= killAt) killTogether(members, () => livingMembers(seenAtOnce(), matches, found, spared));
    // A late fork gets the first signal too.
    for (const { pid } of members) if (now < killAt && !signalled.has(pid)) send(pid, 'SIGTERM');
    for (const { pid } of members) signalled.add(pid);
    await new Promise((resolve) => setTimeout(resolve, pauseAfter(now - startedAt)));
  }
}

const DOUBTED_LOOKS = 10;

/**
 * Who forks and ends while it is looked for is missed, and so is its child, which was not there when the look began.
 * Only a look during which no process was created has seen everybody; `newest` is the last one before the first look.
 */
function missedSince<One>(newest: number | undefined, look: () => readonly One[]): readonly One[] {
  let before = newest;
  for (let round = 0; round < DOUBTED_LOOKS && newestPid() !== before; round += 1) {
    before = newestPid();
    const members = look();
    if (members.length > 0) return members;
  }
  return [];
}

function seenAtOnce(after?: number): readonly ProcessFacts[] {
  const looked = livingNow(after);
  return looked instanceof Promise ? [] : looked;
}

const FREEZE_ROUNDS = 20;

/** Who forks faster than it can be killed is stopped first: from a standstill everybody is found. */
function killTogether(first: readonly ProcessFacts[], look: () => readonly ProcessFacts[]): void {
  let members = first;
  const stopped = new Set<number>();
  for (let round = 0; round < FREEZE_ROUNDS && process.platform === 'linux'; round += 1) {
    const fresh = members.filter(({ pid }) => !stopped.has(pid));
    if (fresh.length === 0) break;
    for (const { pid } of fresh) {
      send(pid, 'SIGSTOP');
      stopped.add(pid);
    }
    members = look();
  }
  for (const { pid } of members) send(pid, 'SIGKILL');
}

/** Most end at once; who takes its time is not looked for all the time. */
function pauseAfter(elapsedMs: number): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, elapsedMs / 10));
}

/** Members that live: new ones, and those found before whose parents have died since. */
function livingMembers(
  living: readonly ProcessFacts[],
  matches: Matches,
  found: Map<number, string>,
  spared?: ReadonlySet<number>,
): readonly ProcessFacts[] {
  const near = living.filter(({ pid }) => spared?.has(pid) !== true);
  const members = membersOf(near, (one) => found.get(one.pid) === one.startTime || matches(one));
  for (const { pid, startTime } of members) found.set(pid, startTime);
  return members;
}

/** In so short a time the numbers of processes have not gone round once. */
const JUST_NOW_MS = 250;

/** What of a call's tree still lives, its first process apart. Only what has just begun is known by higher numbers. */
export async function leftOf(tree: Tree, ageMs: number): Promise<readonly number[]> {
  const after = ageMs < JUST_NOW_MS ? tree.groupId : undefined;
  const left = (living: readonly ProcessFacts[]) =>
    living
      .filter((one) => one.pid !== tree.groupId && (belongs(one, tree) || carriesMark(one, tree)))
      .map(({ pid }) => pid);
  const newest = newestPid();
  const seen = left(await livingProcesses(after));
  return seen.length > 0 ? seen : missedSince(newest, () => left(seenAtOnce(after)));
}

/**
 * Living processes that carry the mark.
 * @internal Asked by tests.
 */
export async function marked(marker: string): Promise<readonly number[]> {
  return (await livingProcesses()).filter((one) => isMarked(one, marker)).map(({ pid }) => pid);
}

/** Ends what an earlier run left, and nothing whose number merely looks like it. Answers how many trees still lived. */
export async function reapLeftovers(leftovers: readonly Leftover[]): Promise<number> {
  if (leftovers.length === 0) return 0;
  const living = await livingProcesses();
  const alive = leftovers.filter(
    ({ pgid, startTime, marker }) =>
      living.some((one) => one.pid === pgid && one.startTime === startTime) ||
      living.some((one) => isMarked(one, marker)),
  );
  await Promise.all(
    alive.map(({ pgid, startTime, marker }) => {
      const isOurs = living.some((one) => one.pid === pgid && one.startTime === startTime);
      // Without its leader the group's number proves nothing: only the mark does.
      return endTree({ groupId: isOurs ? pgid : NO_GROUP, marker });
    }),
  );
  return alive.length;
}

/** No process is in it. */
const NO_GROUP = -1;

function belongs(one: ProcessFacts, { groupId }: Pick<Tree, 'groupId'>): boolean {
  return one.pid === groupId || one.groupId === groupId || one.session === groupId;
}

/** Those that match and all their descendants. */
function membersOf(living: readonly ProcessFacts[], matches: (one: ProcessFacts) => boolean): readonly ProcessFacts[] {
  const members = new Map<number, ProcessFacts>();
  for (const one of living) if (matches(one)) members.set(one.pid, one);
  for (let size = -1; size !== members.size; ) {
    size = members.size;
    for (const one of living) if (members.has(one.parent)) members.set(one.pid, one);
  }
  return [...members.values()];
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already.
  }
}
