import { crc32, deflateRawSync } from 'node:zlib';

const DEFLATE = 8;
const UTF8_NAMES = 0x0800;
/** The first of January 1980, so that the bytes depend on the files alone. */
const DATE = 0x0021;

/** Packs files, given as name and content, into a zip archive. */
export function packZip(files) {
  const locals = [];
  const central = [];
  let offset = 0;
  for (const { name, content } of files) {
    const path = Buffer.from(name);
    const data = deflateRawSync(content, { level: 9 });
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(UTF8_NAMES, 2);
    fields.writeUInt16LE(DEFLATE, 4);
    fields.writeUInt16LE(DATE, 8);
    fields.writeUInt32LE(crc32(content), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(content.length, 18);
    fields.writeUInt16LE(path.length, 22);
    locals.push(Buffer.from('PK\x03\x04', 'latin1'), fields, path, data);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    central.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, rest, path);
    offset += 4 + fields.length + path.length + data.length;
  }
  const list = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, list, Buffer.from('PK\x05\x06', 'latin1'), end]);
}
