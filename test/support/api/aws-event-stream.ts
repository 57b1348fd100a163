/** One message of the binary event stream of AWS: its lengths, its headers, what it holds, each part with its checksum. */
export function awsMessage(headers: Readonly<Record<string, string>>, payload: string): Uint8Array {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(payload);
  const total = 4 + 4 + 4 + head.length + body.length + 4;
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(total, 0);
  lengths.writeUInt32BE(head.length, 4);
  const begin = Buffer.concat([lengths, checksum(lengths), head, body]);
  return Buffer.concat([begin, checksum(begin)]);
}

/** Strings are values of the kind 7. */
function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)]);
}

function checksum(bytes: Uint8Array): Buffer {
  const written = Buffer.alloc(4);
  written.writeUInt32BE(crc32(bytes));
  return written;
}

function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
