import { lstat } from 'node:fs/promises';
import path from 'node:path';

const AT_ONCE = 256;

/** The paths by their time of change, the newest first; equal times by name. */
export async function newestFirst(
  root: string,
  files: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const dated: { readonly file: string; readonly mtimeMs: number }[] = [];
  for (let from = 0; from < files.length; from += AT_ONCE) {
    signal.throwIfAborted();
    const batch = files
      .slice(from, from + AT_ONCE)
      .map(async (file) => ({ file, mtimeMs: await changedAt(path.join(root, file)) }));
    dated.push(...(await Promise.all(batch)));
  }
  dated.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.file < b.file ? -1 : 1));
  return dated.map(({ file }) => file);
}

async function changedAt(file: string): Promise<number> {
  return lstat(file).then(
    (facts) => facts.mtimeMs,
    () => 0,
  );
}
