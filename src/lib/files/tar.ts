import { gunzipSync } from 'node:zlib';

const BLOCK = 512;
const REGULAR_FILE = ['0', '\0'];

/** Reads the regular files of a .tar.gz by name. Throws for anything that is not a complete archive. */
export function readTarGz(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const tar = gunzipSync(bytes);
  const files = new Map<string, Uint8Array>();
  let at = 0;
  while (at + BLOCK <= tar.length && tar[at] !== 0) {
    const name = readText(tar, at, 100);
    const size = Number.parseInt(readText(tar, at + 124, 12), 8);
    const content = at + BLOCK;
    if (Number.isNaN(size) || content + size > tar.length) throw new Error('The archive is not complete.');
    if (REGULAR_FILE.includes(tar.toString('latin1', at + 156, at + 157)))
      files.set(name, tar.subarray(content, content + size));
    at = content + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

function readText(tar: Buffer, start: number, length: number): string {
  const end = tar.indexOf(0, start);
  return tar.toString('utf8', start, end < 0 ? start + length : Math.min(end, start + length));
}
