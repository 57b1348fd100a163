import type { HostFiles } from '../contracts/face/host.ts';
import { ToolFailure } from '../contracts/tool.ts';
import { messageOf } from '../lib/errors.ts';
import { decodeText, encodeText } from '../lib/files/encoding.ts';
import { type FileBytes, hashOf, readFileBytes } from './file-bytes.ts';

/** So long an editor may take: after that its files are as the disk has them. */
const PATIENCE_MS = 5_000;

/** A file as the editor that asks for it shows it: what is typed there and not saved yet is part of it. */
export async function readOpenFile(
  file: string,
  editor: HostFiles | undefined,
  signal: AbortSignal,
): Promise<FileBytes> {
  const found = await readFileBytes(file, signal);
  const saved = editor?.read === undefined ? undefined : decodeText(found.bytes);
  if (editor?.read === undefined || saved === undefined) return found;
  const limits = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  const shown = await editor.read(file, limits).catch(() => undefined);
  signal.throwIfAborted();
  // Some editors show every end of a line as their own.
  if (shown === undefined || plain(shown) === plain(saved.text)) return found;
  const typed = saved.text.includes('\r\n') ? plain(shown).replaceAll('\n', '\r\n') : shown;
  const encoded = encodeText(typed, saved);
  return encoded.ok ? { ...found, bytes: encoded.bytes, hash: hashOf(encoded.bytes) } : found;
}

const plain = (text: string) => text.replaceAll('\r\n', '\n');

/** Lets the editor write, so that what it shows and what lies on disk stay one; `false` where it cannot. */
export async function writeThroughEditor(
  file: string,
  bytes: Uint8Array,
  editor: HostFiles | undefined,
): Promise<boolean> {
  const decoded = editor?.write === undefined ? undefined : decodeText(bytes);
  // It is told text, and what it makes of other encodings is its own.
  if (editor?.write === undefined || decoded === undefined || decoded.encoding !== 'utf-8' || decoded.bom) return false;
  try {
    await editor.write(file, decoded.text, AbortSignal.timeout(PATIENCE_MS));
    return true;
  } catch (thrown) {
    throw new ToolFailure(
      `The editor did not write ${file}: ${messageOf(thrown)}. Read it again to see what is there before you go on.`,
      { cause: thrown },
    );
  }
}
