import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { WAIT_MS } from './runs.ts';

/** A running process as listed in /proc (Linux). */
export type ProcessFacts = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** When it began, in milliseconds since the system started. */
  readonly startedMs: number;
  readonly command: string;
};

/** Every process that lives now; the dead who wait to be reaped are left out. */
export async function livingProcesses(): Promise<readonly ProcessFacts[]> {
  return pidsNow().flatMap((pid) => factsOf(pid) ?? []);
}

/** Children, their children, and so on; who left the family (setsid, reparented) is not among them. */
export async function descendantsOf(pid: number): Promise<readonly ProcessFacts[]> {
  const all = await livingProcesses();
  const below = (parent: number): readonly ProcessFacts[] =>
    all.filter((one) => one.parent === parent).flatMap((child) => [child, ...below(child.pid)]);
  return below(pid);
}

export async function processesInGroup(group: number): Promise<readonly ProcessFacts[]> {
  return (await livingProcesses()).filter((one) => one.group === group);
}

export async function processesInSession(session: number): Promise<readonly ProcessFacts[]> {
  return (await livingProcesses()).filter((one) => one.session === session);
}

/** Returns the newest process id: later processes get a higher one, until ids wrap around. */
export function newestPid(): number {
  return Number(readFileSync('/proc/loadavg', 'utf8').trim().split(' ')[4]);
}

/** Returns the time since the system started, to a hundredth of a second; the runtime knows only seconds. */
export function uptimeMs(): number {
  return existsSync('/proc/uptime') ? Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000 : 0;
}

/** All processes started with `NAME=value` in their environment, also those that became daemons. */
export async function processesMarked(marker: string, after = 0): Promise<readonly ProcessFacts[]> {
  // After every test: only the few that carry it are looked at any closer.
  const oldest = newestPid() >= after ? after : 0;
  const marked = pidsNow().filter((pid) => pid > oldest && read(pid, 'environ').includes(`${marker}\0`));
  return marked.flatMap((pid) => factsOf(pid) ?? []);
}

/** Processes whose environment, command or working directory names a folder. */
export async function processesNaming(folder: string): Promise<readonly ProcessFacts[]> {
  const naming = pidsNow().filter(
    (pid) =>
      pid !== process.pid &&
      (read(pid, 'environ').includes(folder) || read(pid, 'cmdline').includes(folder) || cwdOf(pid).startsWith(folder)),
  );
  return naming.flatMap((pid) => factsOf(pid) ?? []);
}

/** Waits until no process has the marker; throws with the remaining ones after the limit. */
export async function expectNoProcessesLeft(marker: string, limitMs = WAIT_MS): Promise<void> {
  const left = await listLeft(marker, limitMs);
  if (left.length === 0) return;
  const lines = left.map(
    ({ pid, group, session, command }) => `${pid} (group ${group}, session ${session}) ${command}`,
  );
  throw new Error(`Still alive after ${limitMs} ms with ${marker}:\n${lines.join('\n')}`);
}

/** Waits until nothing with the marker lives, and resolves with what is left: a busy system takes its time to kill. */
export function listLeft(marker: string, limitMs = WAIT_MS): Promise<readonly ProcessFacts[]> {
  return waitUntilNone(() => processesMarked(marker), limitMs);
}

/** Waits until a list of processes is empty, and resolves with what it has after the limit. */
export async function waitUntilNone(list: ProcessList, limitMs = WAIT_MS): Promise<readonly ProcessFacts[]> {
  const until = performance.now() + limitMs;
  for (;;) {
    const left = await list();
    if (left.length === 0 || performance.now() > until) return left;
    await wait(15);
  }
}

type ProcessList = () => Promise<readonly ProcessFacts[]>;

/** Kills the processes with the marker that were started after a process, until there are none. */
export function killMarkedProcesses(marker: string, after = 0): Promise<void> {
  return killUntilNone(() => processesMarked(marker, after));
}

/** Kills the processes of a list until it is empty. */
export async function killUntilNone(list: ProcessList): Promise<void> {
  for (let left = await list(); left.length > 0; left = await list()) {
    for (const { pid } of left) killNow(pid);
    await wait(5);
  }
}

/** Sends SIGKILL to a process, or to a group by its negative id; ignores missing ones. */
export function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/** None on systems without /proc. */
function pidsNow(): readonly number[] {
  return existsSync('/proc') ? readdirSync('/proc').map(Number).filter(Number.isInteger) : [];
}

function factsOf(pid: number): ProcessFacts | undefined {
  const stat = read(pid, 'stat');
  // The name in parentheses may hold anything, more parentheses included.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  if (state === undefined || state === '' || state === 'Z' || state === 'X') return undefined;
  const command = read(pid, 'cmdline').replaceAll('\0', ' ').trim();
  // The system counts in hundredths of a second.
  const startedMs = Number(fields[19]) * 10;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), startedMs, command };
}

/** At once: the system makes the text up in memory, and a promise for each would cost many times as much. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It may end between being listed and being read, or belong to somebody else.
    return '';
  }
}

function cwdOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
