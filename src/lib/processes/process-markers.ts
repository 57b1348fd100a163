import { createHash } from 'node:crypto';

/** Environment variable that marks all processes of one call, so that detached ones are found too. */
export const CALL_PROCESS_MARKER = 'OURO_CALL';

/** Environment variable that marks all processes of one run of ouro: commands, hooks and tool servers. */
export const RUN_PROCESS_MARKER = 'OURO_RUN';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Both markers are also encoded in the soft limit of file locks, which Linux has ignored since 2.4.25. Unlike an
 * environment variable it survives `env -i`, `setsid`, double forks and a changed process title.
 */
const LIMIT_BASE = 2 ** 52;
const HASH_RANGE = 2 ** 26;

const hashMarker = (marker: string) => createHash('sha256').update(marker).digest().readUInt32BE(0) % HASH_RANGE;

/** Returns shell code that sets the limit for the shell and its children. bash and dash name the limit differently. */
export function createProcessMarkerCommand({
  [RUN_PROCESS_MARKER]: run = '',
  [CALL_PROCESS_MARKER]: call = '',
}: Variables): string {
  if (process.platform !== 'linux') return '';
  const limit = LIMIT_BASE + hashMarker(run) * HASH_RANGE + hashMarker(call);
  return `ulimit -S -x ${limit} 2>/dev/null || ulimit -S -w ${limit} 2>/dev/null; `;
}

/** Returns whether the file lock limit of a process marks it as part of a call or of a run. */
export function isMarkedByFileLockLimit(
  limit: number,
  marker: { readonly call: string } | { readonly run: string },
): boolean {
  if (!(limit >= LIMIT_BASE && limit < 2 * LIMIT_BASE)) return false;
  return 'call' in marker
    ? limit % HASH_RANGE === hashMarker(marker.call)
    : Math.floor((limit - LIMIT_BASE) / HASH_RANGE) === hashMarker(marker.run);
}
