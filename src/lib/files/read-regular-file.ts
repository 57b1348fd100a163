import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { ignoreMissingFile } from '../errors.ts';
import { formatBytes } from '../text/format.ts';

const NON_BLOCKING_READ = constants.O_RDONLY | constants.O_NONBLOCK;
const MAX_BYTES = 8_000_000;

/** Reads a text file, `undefined` if missing; throws for pipes, devices and files that are too large. */
export async function readRegularFile(path: string, maxBytes = MAX_BYTES): Promise<string | undefined> {
  const file = await ignoreMissingFile(open(path, NON_BLOCKING_READ));
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error('it is not a regular file');
    if (stats.size > maxBytes) throw new Error(`it is larger than ${formatBytes(maxBytes)}`);
    return (await readUpTo(file, stats.size, maxBytes)).toString('utf8');
  } finally {
    await file.close();
  }
}

/** Reads a file at once; throws for pipes and devices, which would block the program. */
export function readRegularFileSync(path: string): Buffer {
  const file = openSync(path, NON_BLOCKING_READ);
  try {
    if (!fstatSync(file).isFile()) throw new Error('it is not a regular file');
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Reads to the end. Files of the kernel have no size and may have no end. */
async function readUpTo(file: FileHandle, size: number, maxBytes: number): Promise<Buffer> {
  let buffer = Buffer.allocUnsafe(size === 0 ? 4096 : size + 1);
  let length = 0;
  while (true) {
    if (length > maxBytes) throw new Error(`it is larger than ${formatBytes(maxBytes)}`);
    if (length === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
  }
}

/** Reads a text file, standard input, or a process substitution of a shell; `undefined` if it does not exist. */
export function readFileOrPipe(path: string): Promise<string | undefined> {
  return /^\/dev\/(?:fd\/|stdin$)|^\/proc\/self\/fd\//.test(path) ? readFile(path, 'utf8') : readRegularFile(path);
}
