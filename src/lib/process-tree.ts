import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** The environment variable that marks everything a call starts, so that what detaches itself is found too. */
export const MARKER = 'OURO_CALL';

const KILL_AFTER_MS = 2_000;
const LOOK_EVERY_MS = 10;

/** A process by its number and the moment it started: the number alone may belong to somebody else later. */
export type ProcessMark = { readonly pid: number; readonly startTime: string };

/** Ends a call's whole tree: TERM at once, KILL after two seconds. Resolves when nothing of it is left. */
export async function endTree(
  groupId: number,
  marker: string,
  signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM',
): Promise<void> {
  send(-groupId, signal);
  // Whoever left the group is found by its mark; a late fork is found by looking again.
  for (const pid of await marked(marker)) send(pid, signal);
  const deadline = performance.now() + (signal === 'SIGTERM' ? KILL_AFTER_MS : 0);
  while (await isAlive(groupId, marker)) {
    if (performance.now() >= deadline) {
      send(-groupId, 'SIGKILL');
      for (const pid of await marked(marker)) send(pid, 'SIGKILL');
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function isAlive(groupId: number, marker: string): Promise<boolean> {
  return groupLives(groupId) || (await marked(marker)).length > 0;
}

function groupLives(groupId: number): boolean {
  try {
    process.kill(-groupId, 0);
    return !groupIsZombie(groupId);
  } catch {
    return false;
  }
}

/** A leader that nobody has waited for yet is dead all the same. */
function groupIsZombie(groupId: number): boolean {
  const stats = processes().filter((one) => one.groupId === groupId);
  return stats.length > 0 && stats.every((one) => one.state === 'Z');
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already.
  }
}

/** Living processes that carry the mark in their environment. */
export async function marked(marker: string): Promise<readonly number[]> {
  if (process.platform !== 'linux') return markedByPs(marker);
  const wanted = Buffer.from(`${MARKER}=${marker}\0`);
  return processes()
    .filter((one) => one.state !== 'Z' && environOf(one.pid)?.includes(wanted) === true)
    .map((one) => one.pid);
}

/** Elsewhere `ps` shows the environment of one's own processes. */
async function markedByPs(marker: string): Promise<readonly number[]> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-E', '-ww', '-o', 'pid=,command='], { maxBuffer: 64_000_000 });
    const lines = stdout.split('\n').filter((line) => line.includes(`${MARKER}=${marker}`));
    return lines.map((line) => Number.parseInt(line, 10)).filter((pid) => pid > 0);
  } catch {
    return [];
  }
}

type ProcessFacts = {
  readonly pid: number;
  readonly state: string;
  readonly groupId: number;
  readonly startTime: string;
};

function processes(): readonly ProcessFacts[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    const facts = Number.isInteger(pid) ? factsOf(pid) : undefined;
    return facts === undefined ? [] : [facts];
  });
}

function factsOf(pid: number): ProcessFacts | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name may hold anything, brackets included: what counts begins behind the last one.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid, state: fields[0] ?? '', groupId: Number(fields[2]), startTime: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

function environOf(pid: number): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/environ`);
  } catch {
    return undefined;
  }
}

/** When a process started, in the kernel's own count; `undefined` when there is none. */
export function startTimeOf(pid: number): string | undefined {
  return factsOf(pid)?.startTime;
}

/** Is this still the process that was meant? */
export function isSame({ pid, startTime }: ProcessMark): boolean {
  return factsOf(pid)?.startTime === startTime && startTime !== '';
}
