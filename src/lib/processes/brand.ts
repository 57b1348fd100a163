import { createHash } from 'node:crypto';

/** The environment variable that marks everything a call starts, so that what detaches itself is found too. */
export const MARKER = 'OURO_CALL';

/** Marks everything a whole run of ouro starts: commands, hooks and tool servers alike. */
export const RUN_MARKER = 'OURO_RUN';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Both marks once more as a number in a limit that Linux has not used for twenty years, that of file locks: unlike an
 * environment it stays through `env -i`, new names, new sessions and double forks.
 */
const BASE = 2 ** 52;
const PART = 2 ** 26;

const partOf = (mark: string) => createHash('sha256').update(mark).digest().readUInt32BE(0) % PART;

/** What a shell does first, in a line of its own kind: bash and dash name the limit differently. */
export function branding({ [RUN_MARKER]: run = '', [MARKER]: call = '' }: Variables): string {
  if (process.platform !== 'linux') return '';
  const brand = BASE + partOf(run) * PART + partOf(call);
  return `ulimit -S -x ${brand} 2>/dev/null || ulimit -S -w ${brand} 2>/dev/null; `;
}

/** Does a limit say that a process belongs to this call, or to this run? */
export function isBranded(limit: number, of: { readonly call: string } | { readonly run: string }): boolean {
  if (!(limit >= BASE && limit < 2 * BASE)) return false;
  return 'call' in of ? limit % PART === partOf(of.call) : Math.floor((limit - BASE) / PART) === partOf(of.run);
}
