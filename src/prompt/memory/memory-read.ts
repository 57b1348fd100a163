import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { errnoOf } from '../../lib/files/errno.ts';
import { formatBytes } from '../../lib/text/format.ts';

/** A memory file's text, or why it is not used. `undefined` when there is no such file. */
export type MemoryRead =
  | {
      readonly ok: true;
      readonly realPath: string;
      readonly text: string;
      readonly mtimeMs: number;
      readonly problem?: string;
    }
  | { readonly ok: false; readonly problem: string }
  /** The file may not be given to the model. */
  | { readonly ok: false; readonly leftOut: string };

/** May this file be given to the model without a question? `realPath` is where every link leads. */
export type MayRead = (realPath: string) => { readonly ok: true } | { readonly ok: false; readonly why: string };

const MAX_BYTES = 40_000;
/** What may be read was decided about a real path: a link that is put there meanwhile is not followed. */
const NON_BLOCKING_READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** Reads at most 40 KB of a regular text file, if it may be read. */
export async function readMemoryFile(path: string, mayRead: MayRead): Promise<MemoryRead | undefined> {
  try {
    const realPath = await realpath(path);
    const answer = mayRead(realPath);
    return answer.ok ? await readText(realPath) : { ok: false, leftOut: answer.why };
  } catch (thrown) {
    const code = errnoOf(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return { ok: false, problem: code === 'ELOOP' ? 'is a link in a circle' : `cannot be read (${code ?? 'unknown'})` };
  }
}

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !way.startsWith(sep));
}

async function readText(realPath: string): Promise<MemoryRead | undefined> {
  // Opened without waiting, so that a FIFO in the place of a file cannot hold the start up.
  const file = await open(realPath, NON_BLOCKING_READ);
  try {
    const facts = await file.stat();
    if (!facts.isFile()) return facts.isDirectory() ? undefined : { ok: false, problem: 'is not a regular file' };
    const bytes = Buffer.alloc(Math.min(facts.size, MAX_BYTES));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    const text = decode(bytes.subarray(0, bytesRead), facts.size > MAX_BYTES);
    if (text === undefined) return { ok: false, problem: 'is not text' };
    const read = { ok: true as const, realPath, text, mtimeMs: facts.mtimeMs };
    if (facts.size <= MAX_BYTES) return read;
    return {
      ...read,
      text: `${text}\n(cut here: the file has ${formatBytes(facts.size)})`,
      problem: `has ${formatBytes(facts.size)}; only the first ${formatBytes(MAX_BYTES)} are used`,
    };
  } finally {
    await file.close();
  }
}

/** UTF-8 text without its BOM; `undefined` for anything else. A cut file may end within a character. */
function decode(bytes: Buffer, isCut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
    return text.replaceAll('\r\n', '\n');
  } catch {
    return undefined;
  }
}
