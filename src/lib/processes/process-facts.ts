import { readdirSync, readFileSync } from 'node:fs';
import { outputOf } from './run-program.ts';

/** A living process, as far as anybody may know it. */
export type ProcessFacts = {
  readonly pid: number;
  readonly parent: number;
  readonly groupId: number;
  readonly session: number;
  /** In the system's own count; with the number it names a process for ever. */
  readonly startTime: string;
  /** Was it started with this assignment in its environment? */
  readonly carries: (assignment: string) => boolean;
  /** How many file locks it may have, which Linux does not ask any more; nobody knows elsewhere. */
  readonly lockLimit: () => number;
};

/** Processes that live, or those started after one of them. What has died but was not waited for does not count. */
export async function livingProcesses(after?: number): Promise<readonly ProcessFacts[]> {
  return livingNow(after);
}

/** The same, and at once where no program has to be asked: nothing else has its turn before the answer. */
export function livingNow(after?: number): readonly ProcessFacts[] | Promise<readonly ProcessFacts[]> {
  return process.platform === 'linux' ? fromProc(startedAfter(after)) : fromPs();
}

/** When a process started; `undefined` when there is none, or no quick way to know. */
export function startTimeOf(pid: number): string | undefined {
  return statOf(pid)?.startTime;
}

function fromProc(wanted: (pid: number) => boolean): readonly ProcessFacts[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    const facts = Number.isInteger(pid) && wanted(pid) ? statOf(pid) : undefined;
    return facts === undefined ? [] : [facts];
  });
}

function statOf(pid: number): ProcessFacts | undefined {
  const text = textOf(`/proc/${pid}/stat`)?.toString('latin1');
  if (text === undefined) return undefined;
  // The name may hold anything, brackets included: what counts begins behind the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, groupId, session] = fields;
  if (state === 'Z' || state === 'X') return undefined;
  return {
    pid,
    parent: Number(parent),
    groupId: Number(groupId),
    session: Number(session),
    startTime: fields[19] ?? '',
    carries: (assignment) => textOf(`/proc/${pid}/environ`)?.includes(`${assignment}\0`) === true,
    lockLimit: () => Number(/^Max file locks +(\d+)/m.exec(textOf(`/proc/${pid}/limits`)?.toString() ?? '')?.[1]),
  };
}

function textOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** The number that was given to a process last; `undefined` where the system does not tell. */
export function newestPid(): number | undefined {
  const text = textOf('/proc/loadavg')?.toString();
  return text === undefined ? undefined : Number(text.trim().split(' ')[4]);
}

/** Numbers are handed out in order, so what came later has a higher one, unless they began anew meanwhile. */
function startedAfter(pid: number | undefined): (candidate: number) => boolean {
  if (pid === undefined) return () => true;
  const newest = newestPid() ?? -1;
  return newest >= pid ? (candidate) => candidate > pid && candidate <= newest : () => true;
}

const PS_TIMEOUT_MS = 5_000;

/** Elsewhere `ps` shows the environment of one's own processes behind their command. */
async function fromPs(): Promise<readonly ProcessFacts[]> {
  const columns = 'pid=,ppid=,pgid=,state=,lstart=,command=';
  try {
    const stdout = await outputOf('ps', ['-A', '-E', '-ww', '-o', columns], {
      timeoutMs: PS_TIMEOUT_MS,
      maxBytes: 64_000_000,
    });
    return stdout.split('\n').flatMap((line) => {
      const [pid, parent, groupId, state = 'Z', ...rest] = line.trim().split(/\s+/);
      if (state.startsWith('Z')) return [];
      return {
        pid: Number(pid),
        parent: Number(parent),
        groupId: Number(groupId),
        session: 0,
        startTime: rest.slice(0, 5).join(' '),
        carries: (assignment: string) => rest.includes(assignment),
        lockLimit: () => Number.NaN,
      };
    });
  } catch {
    return [];
  }
}
