import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../lib/errors.ts';
import { formatBytes } from '../lib/text/format.ts';
import type { KeepBytes } from './content.ts';

/** What servers may leave on the disk of one session. */
const MOST_BYTES = 100 * 1024 * 1024;

/** Keeps bytes of servers beside the session, named by what they hold. */
export function createKeepBytes(folder: () => string, mostBytes = MOST_BYTES): KeepBytes {
  let kept = 0;
  const known = new Set<string>();
  return async (bytes, mediaType) => {
    const mark = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
    const path = join(folder(), `${mark}.${endingOf(mediaType)}`);
    if (known.has(path)) return `kept in ${path}`;
    if (kept + bytes.length > mostBytes) return `left out: servers may leave ${formatBytes(mostBytes)} in one session`;
    kept += bytes.length;
    known.add(path);
    try {
      await mkdir(folder(), { recursive: true, mode: 0o700 });
      await writeFile(path, bytes, { mode: 0o600 });
      return `kept in ${path}`;
    } catch (problem) {
      known.delete(path);
      return `left out: it could not be kept (${messageOf(problem)})`;
    }
  };
}

/** How such a file is usually called: what stands behind the slash, where that is a plain word. */
function endingOf(mediaType: string): string {
  const [, word = 'bin'] = /^[a-z]+\/(?:x-|vnd\.)?([a-z0-9]{1,8})$/.exec(mediaType) ?? [];
  return ENDINGS[word] ?? word;
}

const ENDINGS: Readonly<Record<string, string>> = { mpeg: 'mp3', gzip: 'gz', svg: 'svg', plain: 'txt' };
