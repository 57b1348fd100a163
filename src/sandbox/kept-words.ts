import type { Refusal } from './network/box-network.ts';

/** How programs say that a place of the disk may not be written: by the system's words, or by its name for them. */
const NOT_WRITTEN = /read-only file system|\bEROFS\b/i;
const NOT_WRITTEN_ON_MAC = /operation not permitted|\bEPERM\b/i;

/** What the sandbox kept from a command, in sentences for the model: hosts it asked for, places it says it could not write. */
export function keptWords(refusals: readonly Refusal[], callId: string, printed: readonly string[]): readonly string[] {
  const hosts = refusals.flatMap((one) => (one.callId === callId ? [`${one.host} (${one.why})`] : []));
  const sounds = process.platform === 'darwin' ? NOT_WRITTEN_ON_MAC : NOT_WRITTEN;
  return [
    ...(hosts.length === 0 ? [] : [`[kept in by the sandbox, not reached: ${hosts.join(', ')}]`]),
    ...(printed.some((line) => sounds.test(line)) ? [`[${WRITING}]`] : []),
  ];
}

const WRITING =
  'the sandbox leaves only the workspace to be written; what has to write elsewhere can ask for that place by sandbox_write';
