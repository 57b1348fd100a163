import type { HostFiles } from '../../contracts/frontend/host-capabilities.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { getErrorPhrase } from '../../lib/errors.ts';
import { decodeText, encodeText } from '../../lib/files/text-encoding.ts';
import { type FileBytes, hashBytes, readFileBytes } from './read-bytes.ts';

/** Time the editor has to answer; after that the file on disk is used. */
const EDITOR_TIMEOUT_MS = 5_000;

/** Reads a file with the unsaved changes of the connected editor. */
export async function readFileWithEditor(
  file: string,
  editor: HostFiles | undefined,
  signal: AbortSignal,
): Promise<FileBytes> {
  const onDisk = await readFileBytes(file, signal);
  const saved = editor?.read === undefined ? undefined : decodeText(onDisk.bytes);
  if (editor?.read === undefined || saved === undefined) return onDisk;
  const limitSignal = AbortSignal.any([signal, AbortSignal.timeout(EDITOR_TIMEOUT_MS)]);
  const shown = await editor.read(file, limitSignal).catch(() => undefined);
  signal.throwIfAborted();
  // Some editors return all line endings as \n.
  if (shown === undefined || foldCrlf(shown) === foldCrlf(saved.text)) return onDisk;
  const withDiskEndings = saved.text.includes('\r\n') ? foldCrlf(shown).replaceAll('\n', '\r\n') : shown;
  const encoded = encodeText(withDiskEndings, saved);
  return encoded.ok ? { ...onDisk, bytes: encoded.bytes, hash: hashBytes(encoded.bytes) } : onDisk;
}

const foldCrlf = (text: string) => text.replaceAll('\r\n', '\n');

/** Writes a file through the editor, so that its buffer and the disk stay in sync; returns `false` if it cannot. */
export async function writeThroughEditor(
  file: string,
  bytes: Uint8Array,
  editor: HostFiles | undefined,
): Promise<boolean> {
  const decoded = editor?.write === undefined ? undefined : decodeText(bytes);
  // Editors accept text only, and may save it in another encoding.
  if (editor?.write === undefined || decoded === undefined || decoded.encoding !== 'utf-8' || decoded.bom) return false;
  try {
    await editor.write(file, decoded.text, AbortSignal.timeout(EDITOR_TIMEOUT_MS));
    return true;
  } catch (thrown) {
    throw new ToolFailure(
      `The editor did not write ${file}: ${getErrorPhrase(thrown)}. Read it again to see what is there before you go on.`,
      { cause: thrown },
    );
  }
}
