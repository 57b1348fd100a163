import { livingNow, livingProcesses, type ProcessFacts, startTimeOf } from './process-facts.ts';

/** The environment variable that marks everything a call starts, so that what detaches itself is found too. */
export const MARKER = 'OURO_CALL';

/** Marks everything a whole run of ouro starts: commands, hooks and tool servers alike. */
export const RUN_MARKER = 'OURO_RUN';

/** What a call started: its process group, and the mark in the environment of everything in it. */
export type Tree = {
  readonly groupId: number;
  readonly marker: string;
  /** When its first process started, where that is known: the environment of what is older need not be read. */
  readonly startTime?: string;
};

/** What a run that is over may have left: the leader is known by its number and the moment it started. */
export type Leftover = { readonly pgid: number; readonly startTime: string; readonly marker: string };

const KILL_AFTER_MS = 2_000;
const GIVE_UP_AFTER_MS = 2_000;
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
  return !isOlder && one.carries(`${MARKER}=${marker}`);
}

/** Ends everything a run that is over has started; whoever asks and its ancestors are never among it. */
export async function endRun(mark: string, isUrgent: () => boolean = () => false): Promise<void> {
  const spared = ancestorsOf(process.pid, await livingProcesses());
  await endAll((one) => one.carries(`${RUN_MARKER}=${mark}`), isUrgent, spared);
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
  for (;;) {
    const looked = livingNow();
    // Not awaited needlessly: between a look and its signals others would have their turn.
    const members = livingMembers(looked instanceof Promise ? await looked : looked, matches, found, spared);
    if (members.length === 0) return;
    const now = performance.now();
    if (isUrgent()) killAt = Math.min(killAt, now);
    if (now > killAt + GIVE_UP_AFTER_MS) return;
    // A late fork gets the first signal too; once the time is up everybody gets the last one.
    for (const { pid } of members) {
      if (now >= killAt) send(pid, 'SIGKILL');
      else if (!signalled.has(pid)) send(pid, 'SIGTERM');
      signalled.add(pid);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseAfter(now - startedAt)));
  }
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
  const { groupId } = tree;
  const later = await livingProcesses(ageMs < JUST_NOW_MS ? groupId : undefined);
  return later
    .filter((one) => one.pid !== groupId && (belongs(one, tree) || carriesMark(one, tree)))
    .map(({ pid }) => pid);
}

/**
 * Living processes that carry the mark in their environment.
 * @internal Asked by tests.
 */
export async function marked(marker: string): Promise<readonly number[]> {
  return (await livingProcesses()).filter((one) => one.carries(`${MARKER}=${marker}`)).map(({ pid }) => pid);
}

/** Ends what an earlier run left, and nothing whose number merely looks like it. Answers how many trees still lived. */
export async function reapLeftovers(leftovers: readonly Leftover[]): Promise<number> {
  if (leftovers.length === 0) return 0;
  const living = await livingProcesses();
  const alive = leftovers.filter(
    ({ pgid, startTime, marker }) =>
      living.some((one) => one.pid === pgid && one.startTime === startTime) ||
      living.some((one) => one.carries(`${MARKER}=${marker}`)),
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

export { startTimeOf };

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
