import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { formatBytes } from '../text/format.ts';
import { ifThere } from './errno.ts';

const NON_BLOCKING_READ = constants.O_RDONLY | constants.O_NONBLOCK;
const MOST_BYTES = 8_000_000;

/**
 * The text of a file; `undefined` when there is none. A pipe or a device in the place of a file, and a file nobody
 * could have meant, throw a sentence instead of being waited for.
 */
export async function readRegular(path: string, mostBytes = MOST_BYTES): Promise<string | undefined> {
  const file = await ifThere(open(path, NON_BLOCKING_READ));
  if (file === undefined) return undefined;
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw new Error('it is not a regular file');
    if (facts.size > mostBytes) throw new Error(`it is larger than ${formatBytes(mostBytes)}`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** The text of a file, or of what a shell hands over in place of one (`<(…)`); `undefined` when there is none. */
export function readGiven(path: string): Promise<string | undefined> {
  return path.startsWith('/dev/fd/') || path.startsWith('/proc/self/fd/') ? readFile(path, 'utf8') : readRegular(path);
}
