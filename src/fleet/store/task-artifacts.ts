import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { TaskArtifactKind, TaskClaim } from '../../contracts/fleet.ts';
import type { SqlTransaction } from './database.ts';
import { parseFleetFileRow } from './schema.ts';

/** Compresses a file for the store: patches and transcripts shrink to a tenth. */
export const compressTaskArtifact = promisify<Uint8Array, Uint8Array>(zstdCompress);
const decompressFile = promisify<Uint8Array, Uint8Array>(zstdDecompress);

/** Stores a compressed file of a task, replacing an earlier one of the same kind. */
export async function saveTaskArtifact(
  tx: SqlTransaction,
  { batch, key }: Pick<TaskClaim, 'batch' | 'key'>,
  kind: TaskArtifactKind,
  bytes: Uint8Array,
): Promise<void> {
  await tx.query(
    `INSERT INTO fleet_files (batch, task_key, kind, content) VALUES (?, ?, ?, ?)
     ON CONFLICT (batch, task_key, kind) DO UPDATE SET content = excluded.content`,
    ...[batch, key, kind, bytes],
  );
}

/** Reads a file of a task and decompresses it. */
export async function loadTaskArtifact(
  tx: SqlTransaction,
  batch: string,
  key: string,
  kind: TaskArtifactKind,
): Promise<Uint8Array | undefined> {
  const [row] = await tx.query(
    'SELECT content FROM fleet_files WHERE batch = ? AND task_key = ? AND kind = ?',
    ...[batch, key, kind],
  );
  return row === undefined ? undefined : decompressFile(parseFleetFileRow(row));
}
