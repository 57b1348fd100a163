import { crc32, deflateSync } from 'node:zlib';

/** Creates a striped image as PNG. */
export function createStripedPng(width: number, height: number): Buffer {
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width, 200)]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  const part = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const whole = Buffer.alloc(body.length + 8);
    whole.writeUInt32BE(data.length, 0);
    whole.set(body, 4);
    whole.writeUInt32BE(crc32(body), body.length + 4);
    return whole;
  };
  const mark = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([mark, part('IHDR', header), part('IDAT', pixels), part('IEND', Buffer.alloc(0))]);
}
