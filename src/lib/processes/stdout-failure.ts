import { readFileSync, writeSync } from 'node:fs';
import { getErrnoCode, getErrorMessage } from '../errors.ts';

/** The flag of a descriptor that no program inherits, in Linux. */
const O_CLOEXEC = 0o2000000;

/**
 * Returns whether this process was started without a stdout. The runtime then opens the null device in its place, so
 * that writing fails nowhere; in contrast to an inherited descriptor, that one is closed when a program is executed. The
 * launcher puts a descriptor there that cannot be written.
 */
export function isStdoutClosed(): boolean {
  try {
    writeSync(1, '');
  } catch (thrown) {
    if (getErrnoCode(thrown) === 'EBADF') return true;
  }
  try {
    const [, flags = '0'] = /^flags:\s*(\d+)/m.exec(readFileSync('/proc/self/fdinfo/1', 'utf8')) ?? [];
    return (Number.parseInt(flags, 8) & O_CLOEXEC) !== 0;
  } catch {
    return false; // Another system.
  }
}

/** Describes why stdout could not be written. */
export function describeStdoutFailure(thrown: Error | 'closed'): string {
  if (thrown === 'closed') return 'Stdout is closed: redirect it to a file, a pipe or /dev/null.';
  return READER_GONE.includes(getErrnoCode(thrown) ?? '')
    ? 'Stdout has no reader any more: the output is incomplete.'
    : `Writing to stdout failed: ${getErrorMessage(thrown)}.`;
}

/** Errors of a reader that closed its end early. */
const READER_GONE = ['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'];
