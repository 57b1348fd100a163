const FIXED = 62;
const MODE_MODULE = 0o160000;
const MODE_FOLDER = 0o040000;

/** The files a repository keeps track of. Reads the index as git writes it by default; nothing where it is written in another way, or not all of it is there. */
export function readGitIndex(bytes: Uint8Array | undefined): readonly string[] | undefined {
  if (bytes === undefined) return [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12 || text(bytes, 0, 4) !== 'DIRC' || ![2, 3].includes(view.getUint32(4))) return undefined;
  const files: string[] = [];
  let at = 12;
  for (let left = view.getUint32(8); left > 0; left -= 1) {
    if (at + FIXED > bytes.length) return undefined;
    const mode = view.getUint32(at + 24);
    const start = at + FIXED + (view.getUint16(at + 60) & 0x4000 ? 2 : 0);
    const end = bytes.indexOf(0, start);
    if (end === -1 || mode === MODE_FOLDER) return undefined;
    if (mode !== MODE_MODULE) files.push(text(bytes, start, end));
    at += Math.ceil((end - at + 1) / 8) * 8;
  }
  return hasAllNames(bytes, view, at) ? files : undefined;
}

/** A `link` behind the entries means that others stand in another file. */
function hasAllNames(bytes: Uint8Array, view: DataView, from: number): boolean {
  const end = bytes.length - 20;
  let at = from;
  while (at + 8 <= end) {
    if (text(bytes, at, at + 4) === 'link' || text(bytes, at, at + 4) === 'sdir') return false;
    at += 8 + view.getUint32(at + 4);
  }
  return at === end;
}

function text(bytes: Uint8Array, from: number, to: number): string {
  return new TextDecoder().decode(bytes.subarray(from, to));
}
