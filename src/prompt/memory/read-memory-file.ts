import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { getErrnoCode } from '../../lib/errors.ts';
import { formatBytes } from '../../lib/text/format.ts';

/** The text of a memory file, or the reason it is not used. */
export type MemoryReadResult =
  | {
      readonly ok: true;
      readonly realPath: string;
      readonly text: string;
      readonly mtimeMs: number;
      readonly problem?: string;
      readonly excludedReason?: undefined;
    }
  | { readonly ok: false; readonly problem: string; readonly excludedReason?: undefined }
  /** The file may not be given to the model, for this reason. */
  | { readonly ok: false; readonly problem?: undefined; readonly excludedReason: string };

/** Decides whether a file may be given to the model without asking; `realPath` has all symbolic links resolved. */
export type MemoryReadCheck = (
  realPath: string,
) => { readonly ok: true } | { readonly ok: false; readonly why: string };

const MAX_BYTES = 40_000;
/** Does not follow symbolic links: the decision was made about the real path, and a link may have replaced it since. */
const NON_BLOCKING_READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** Reads at most 40 KB of a regular text file, if allowed; `undefined` when the file does not exist. */
export async function readMemoryFile(path: string, mayRead: MemoryReadCheck): Promise<MemoryReadResult | undefined> {
  try {
    const realPath = await realpath(path);
    const permission = mayRead(realPath);
    return permission.ok ? await readText(realPath) : { ok: false, excludedReason: permission.why };
  } catch (thrown) {
    const code = getErrnoCode(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return {
      ok: false,
      problem: code === 'ELOOP' ? 'is a circular symbolic link' : `cannot be read (${code ?? 'unknown'})`,
    };
  }
}

async function readText(realPath: string): Promise<MemoryReadResult | undefined> {
  // Opened without blocking, so that a named pipe instead of a file cannot block the start.
  const file = await open(realPath, NON_BLOCKING_READ);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return stats.isDirectory() ? undefined : { ok: false, problem: 'is not a regular file' };
    const bytes = Buffer.alloc(Math.min(stats.size, MAX_BYTES));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    const text = decode(bytes.subarray(0, bytesRead), stats.size > MAX_BYTES);
    if (text === undefined) return { ok: false, problem: 'is not text' };
    const result = { ok: true as const, realPath, text, mtimeMs: stats.mtimeMs };
    if (stats.size <= MAX_BYTES) return result;
    return {
      ...result,
      text: `${text}\n(cut here: the file has ${formatBytes(stats.size)})`,
      problem: `has ${formatBytes(stats.size)}; only the first ${formatBytes(MAX_BYTES)} are used`,
    };
  } finally {
    await file.close();
  }
}

/** Decodes UTF-8 without its BOM; `undefined` for anything else. A truncated file may end within a character. */
function decode(bytes: Buffer, isTruncated: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isTruncated });
    return text.replaceAll('\r\n', '\n');
  } catch {
    return undefined;
  }
}
