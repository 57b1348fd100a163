import { gzipSync } from 'node:zlib';

const BLOCK = 512;

/**
 * Packs files, given as name, mode and content, into a .tar.gz whose bytes depend on nothing else. `level` is the one of
 * zlib.
 */
export function packTarGz(files, { level } = {}) {
  const blocks = files.flatMap(({ name, mode, content }) => [header(name, mode, content.length), pad(content)]);
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level });
}

function header(name, mode, size) {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0, 100);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  // The checksum is calculated with blanks in its own field.
  block.write('        ', 148);
  block.write('0', 156);
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

const octal = (value, width) => `${value.toString(8).padStart(width - 1, '0')}\0`;

function pad(content) {
  const rest = content.length % BLOCK;
  return rest === 0 ? content : Buffer.concat([content, Buffer.alloc(BLOCK - rest)]);
}
