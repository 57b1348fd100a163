import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { startTimeOf } from './process-facts.ts';

/** A process as others have to know it: also those in another container or on another machine with the same home. */
export type ProcessMark = {
  readonly pid: number;
  readonly startTime: string;
  /** Where its number counts; marks of older versions leave it out. */
  readonly host?: string | undefined;
};

export function markOf(pid: number = process.pid): ProcessMark {
  return { pid, startTime: startTimeOf(pid) ?? '', host: ownHost() };
}

/** The running system and the namespace of its process numbers: containers of one machine differ in the second. */
function ownHost(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** Does the process still run? Of one that counts `elsewhere` nobody can tell from here. */
export function processState({ pid, startTime, host }: ProcessMark): 'alive' | 'dead' | 'elsewhere' {
  if (pid <= 0) return 'dead';
  if (host !== undefined && host !== ownHost()) return 'elsewhere';
  // Where its start is not known, the number has to do.
  if (startTime !== '') return startTimeOf(pid) === startTime ? 'alive' : 'dead';
  try {
    process.kill(pid, 0);
    return 'alive';
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM' ? 'alive' : 'dead';
  }
}
