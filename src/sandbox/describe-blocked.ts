import type { BlockedConnection } from './network/sandbox-network.ts';

/** Error messages of programs that could not write a path, by text or error code. */
const WRITE_ERROR = /read-only file system|\bEROFS\b/i;
const WRITE_ERROR_ON_MAC = /operation not permitted|\bEPERM\b/i;

/** Formats notes for the model about what the sandbox blocked: hosts, and writes that failed as seen in the output. */
export function describeBlockedAccess(
  refusals: readonly BlockedConnection[],
  callId: string,
  printed: readonly string[],
): readonly string[] {
  const hosts = refusals.flatMap((blocked) => (blocked.callId === callId ? [`${blocked.host} (${blocked.why})`] : []));
  const writeError = process.platform === 'darwin' ? WRITE_ERROR_ON_MAC : WRITE_ERROR;
  return [
    ...(hosts.length === 0 ? [] : [`[blocked by the sandbox: ${hosts.join(', ')}]`]),
    ...(printed.some((line) => writeError.test(line)) ? [`[${WRITE_HINT}]`] : []),
  ];
}

const WRITE_HINT =
  'in the sandbox only the workspace is writable; a command that has to write elsewhere can request the path with sandbox_write';
