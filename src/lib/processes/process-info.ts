import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { runForOutput } from './run-program.ts';
import { getWindowsStartTime, listWindowsProcesses, type WindowsProcess } from './windows-processes.ts';

/** A running process. */
export type ProcessInfo = {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly session: number;
  /** Start time in the units of the system. Together with the pid it identifies a process uniquely. */
  readonly startTime: string;
  /** Returns whether this assignment was in the environment it was started with. */
  readonly hasVariable: (assignment: string) => boolean;
  /** Limit of file locks, which carries the process markers; `NaN` on other systems than Linux. */
  readonly getLockLimit: () => number;
};

/** Lists running processes without zombies, optionally only those started after a process. */
export async function listProcesses(after?: number): Promise<readonly ProcessInfo[]> {
  return listProcessesNow(after);
}

/** Tells whether processes can be listed synchronously, so that no other code runs in between. */
export const canListProcessesNow = process.platform === 'linux' || process.platform === 'win32';

/** Lists running processes, synchronously where this is possible; elsewhere through `ps`. */
export function listProcessesNow(after?: number): readonly ProcessInfo[] | Promise<readonly ProcessInfo[]> {
  if (process.platform === 'win32') return listWindowsProcesses().map(describeWindowsProcess);
  return process.platform === 'linux' ? listFromProc(startedAfter(after)) : listFromPs();
}

/** Windows has no process groups: the parent stands for the group, so that a process is found after its parent exited. */
function describeWindowsProcess({ pid, parentPid, startTime }: WindowsProcess): ProcessInfo {
  const unknown = { hasVariable: () => false, getLockLimit: () => Number.NaN };
  return { pid, parentPid, groupId: parentPid, session: 0, startTime, ...unknown };
}

/** Returns the start time of a process; `undefined` if it does not run. */
export function getProcessStartTime(pid: number): string | undefined {
  if (process.platform === 'win32') return getWindowsStartTime(pid);
  if (process.platform === 'darwin') return readStartTimeFromPs(pid);
  return readStat(pid)?.startTime;
}

function listFromProc(isIncluded: (pid: number) => boolean): readonly ProcessInfo[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    const facts = Number.isInteger(pid) && isIncluded(pid) ? readStat(pid) : undefined;
    return facts === undefined ? [] : [facts];
  });
}

function readStat(pid: number): ProcessInfo | undefined {
  const fields = readStatFields(pid);
  if (fields === undefined) return undefined;
  const [state, parent, groupId, session] = fields;
  if (state === 'Z' || state === 'X') return undefined;
  return {
    pid,
    parentPid: Number(parent),
    groupId: Number(groupId),
    session: Number(session),
    startTime: fields[19] ?? '',
    hasVariable: (assignment) => readEnvironment(pid)?.includes(`${assignment}\0`) === true,
    getLockLimit: () =>
      Number(/^Max file locks +(\d+)/m.exec(readIfExists(`/proc/${pid}/limits`)?.toString() ?? '')?.[1]),
  };
}

/** Returns the fields of /proc/pid/stat from the state on. */
function readStatFields(pid: number): readonly string[] | undefined {
  const text = readIfExists(`/proc/${pid}/stat`)?.toString('latin1');
  // The process name may contain brackets, so the fields start after the last one.
  return text
    ?.slice(text.lastIndexOf(')') + 2)
    .trimEnd()
    .split(' ');
}

const EXEC_WAIT_MS = 20;

/** Reads the environment of a process. While it starts another program, Linux shows an empty one: that is waited for. */
function readEnvironment(pid: number): Buffer | undefined {
  const giveUpAt = performance.now() + EXEC_WAIT_MS;
  let environment = readIfExists(`/proc/${pid}/environ`);
  while (environment?.length === 0 && performance.now() < giveUpAt) {
    const isStarting = isStartingProgram(pid);
    environment = readIfExists(`/proc/${pid}/environ`);
    if (!isStarting) break;
  }
  return environment;
}

/** Returns whether a process is in `execve`: the end of its environment is not known yet. Kernel threads have none. */
function isStartingProgram(pid: number): boolean {
  const fields = readStatFields(pid);
  const [, parent] = fields ?? [];
  return fields?.[ENVIRONMENT_END] === '0' && pid !== KERNEL_THREADS && Number(parent) !== KERNEL_THREADS;
}

const ENVIRONMENT_END = 48;
/** Pid of the parent of all kernel threads. */
const KERNEL_THREADS = 2;

function readIfExists(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Returns the pid that was assigned last; `undefined` on systems without /proc. */
export function readNewestPid(): number | undefined {
  const text = readIfExists('/proc/loadavg')?.toString();
  return text === undefined ? undefined : Number(text.trim().split(' ')[4]);
}

/** Returns a filter for later pids: pids are assigned in order, unless they have wrapped around since. */
function startedAfter(pid: number | undefined): (candidate: number) => boolean {
  if (pid === undefined) return () => true;
  const newest = readNewestPid() ?? -1;
  return newest >= pid ? (candidate) => candidate > pid && candidate <= newest : () => true;
}

const PS_TIMEOUT_MS = 5_000;
/** The names of days and months depend on the locale. */
const PS_ENV = { LC_ALL: 'C', PATH: '/bin:/usr/bin' };

/** Returns the start time of a process as `ps` prints it, in whole seconds. @internal Exported for tests. */
export function readStartTimeFromPs(pid: number): string | undefined {
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: PS_ENV,
    timeout: PS_TIMEOUT_MS,
  });
  // Without the program there is no output at all.
  return stdout?.trim().split(/\s+/).join(' ') || undefined;
}

/** Lists processes through `ps`, which prints the environment of the user's processes after their command. */
async function listFromPs(): Promise<readonly ProcessInfo[]> {
  const columns = 'pid=,ppid=,pgid=,state=,lstart=,command=';
  try {
    const stdout = await runForOutput('ps', ['-A', '-E', '-ww', '-o', columns], {
      env: PS_ENV,
      timeoutMs: PS_TIMEOUT_MS,
      maxBytes: 64_000_000,
    });
    return stdout.split('\n').flatMap((line): readonly ProcessInfo[] => {
      const [pid, parent, groupId, state = 'Z', ...rest] = line.trim().split(/\s+/);
      if (state.startsWith('Z')) return [];
      const facts: ProcessInfo = {
        pid: Number(pid),
        parentPid: Number(parent),
        groupId: Number(groupId),
        session: 0,
        startTime: rest.slice(0, 5).join(' '),
        hasVariable: (assignment: string) => rest.includes(assignment),
        getLockLimit: () => Number.NaN,
      };
      return [facts];
    });
  } catch {
    return [];
  }
}

/** Identifies a process for others, also in another container or on another machine with the same home folder. */
export type ProcessIdentity = {
  readonly pid: number;
  readonly startTime: string;
  /** System and pid namespace in which the pid is valid. Older versions do not write it. */
  readonly host?: string | undefined;
};

/** Returns the identity of a process, by default of this one. */
export function getProcessIdentity(pid: number = process.pid): ProcessIdentity {
  return { pid, startTime: getProcessStartTime(pid) ?? '', host: readHost() };
}

/** Returns the boot id and the pid namespace of this process. Containers on one machine differ in the second. */
function readHost(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** Returns whether a process still runs; `elsewhere` if its pid is of another system or namespace. */
export function getProcessState({ pid, startTime, host }: ProcessIdentity): 'alive' | 'dead' | 'elsewhere' {
  if (pid <= 0) return 'dead';
  if (host !== undefined && host !== readHost()) return 'elsewhere';
  // Without a start time only the pid can be checked.
  if (startTime !== '') return getProcessStartTime(pid) === startTime ? 'alive' : 'dead';
  try {
    process.kill(pid, 0);
    return 'alive';
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM' ? 'alive' : 'dead';
  }
}

/** Size of a memory page on the systems with /proc that ouro runs on. */
const PAGE_BYTES = 4_096;

/** Returns the memory of a process group in bytes; 0 on systems without /proc. */
export async function readProcessGroupMemory(groupId: number): Promise<number> {
  if (process.platform !== 'linux') return 0;
  const members = (await listProcesses()).filter((member) => member.groupId === groupId);
  return members.reduce((sum, { pid }) => sum + readResidentPages(pid) * PAGE_BYTES, 0);
}

function readResidentPages(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1] ?? 0);
  } catch {
    return 0;
  }
}
