import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Claim, FileKind } from '../../contracts/fleet.ts';
import { readContent } from './rows.ts';
import type { Transaction } from './sql.ts';

/** Files are stored compressed: patches and transcripts shrink to a tenth. */
export const compressed = promisify<Uint8Array, Uint8Array>(zstdCompress);
const restored = promisify<Uint8Array, Uint8Array>(zstdDecompress);

/** Keeps a file of a task; it takes the place of an earlier one. */
export async function keepFile(
  tx: Transaction,
  { batch, key }: Pick<Claim, 'batch' | 'key'>,
  kind: FileKind,
  bytes: Uint8Array,
): Promise<void> {
  await tx.all(
    `INSERT INTO fleet_files (batch, task_key, kind, content) VALUES (?, ?, ?, ?)
     ON CONFLICT (batch, task_key, kind) DO UPDATE SET content = excluded.content`,
    ...[batch, key, kind, bytes],
  );
}

/** The file as it was handed in. */
export async function fileOf(
  tx: Transaction,
  batch: string,
  key: string,
  kind: FileKind,
): Promise<Uint8Array | undefined> {
  const [row] = await tx.all(
    'SELECT content FROM fleet_files WHERE batch = ? AND task_key = ? AND kind = ?',
    ...[batch, key, kind],
  );
  return row === undefined ? undefined : restored(readContent(row));
}
