import { randomBytes } from 'node:crypto';
import { chmodSync, constants, copyFileSync, existsSync, linkSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { mkdir, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { getErrnoCode, getErrorMessage } from '@ouro-cli/ouro/commands';
import {
  createSerialQueue,
  type SqlDatabase,
  type SqlTransaction,
  type SqlValue,
  StoreDamaged,
  StoreUnavailable,
} from './database.ts';

/** Opens the database of one machine: a file in a folder. */
export async function openSqliteStore(folder: string): Promise<SqlDatabase> {
  await rejectNetworkDisk(folder);
  return openSqlite(join(folder, 'fleet.db'));
}

/** Time to wait for other processes that write. */
const BUSY_TIMEOUT_MS = 30_000;
const MAX_PAUSE_MS = 20;

/** Opens a SQLite database file, which several processes of one machine may use at once. @internal */
export function openSqlite(file: string, clock: () => number = Date.now): SqlDatabase {
  const isNew = createIfMissing(file);
  const database = openDatabase(file);
  try {
    database.exec('PRAGMA busy_timeout = 5000');
    database.exec('PRAGMA journal_mode = WAL');
    if (!isNew) checkDatabase(database, file);
  } catch (thrown) {
    database.close();
    throw convertSqliteError(thrown, file);
  }
  // From here on the retry loop waits: a wait inside SQLite would block the event loop.
  database.exec('PRAGMA busy_timeout = 0');
  database.exec('PRAGMA synchronous = FULL');
  const prepared = new Map<string, StatementSync>();
  const runInTurn = createSerialQueue();

  function prepareOnce(text: string): StatementSync {
    const statement = prepared.get(text) ?? database.prepare(text);
    prepared.set(text, statement);
    return statement;
  }

  const tx: SqlTransaction = {
    query: async (text, ...values) => prepareOnce(text).all(...values.map(toStorable)),
    now: async () => clock(),
  };

  return {
    title: `The queue file ${file}`,
    forUpdate: '',
    schemaLock: [],
    bytesType: 'BLOB',
    transaction: (work) =>
      runInTurn(async () => {
        try {
          await beginTransaction(database);
          const result = await work(tx);
          database.exec('COMMIT');
          return result;
        } catch (thrown) {
          if (database.isTransaction) database.exec('ROLLBACK');
          throw convertSqliteError(thrown, file);
        }
      }),
    async close() {
      await runInTurn(async () => database.close());
    },
  };
}

/**
 * Creates the file if there is none. It never appears empty, so an empty one has lost its batches: SQLite would take it
 * for a new one.
 */
function createIfMissing(file: string): boolean {
  if (existsSync(file)) {
    const { size } = statSync(file);
    if (size === 0) throw new StoreDamaged(file, 'it is empty');
    return false;
  }
  // SQLite would write what is left of the old file into the new one. Another process creates the file before its log.
  if (existsSync(`${file}-wal`) && !existsSync(file))
    throw new StoreDamaged(file, `it is missing, but ${file}-wal is not`);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const database = new DatabaseSync(draft);
    try {
      database.exec('PRAGMA journal_mode = WAL');
    } finally {
      database.close();
    }
    chmodSync(draft, 0o600);
    publish(draft, file);
  } catch (thrown) {
    throw convertSqliteError(thrown, file);
  } finally {
    rmSync(draft, { force: true });
  }
  return true;
}

/** Gives a file its name, unless another process was faster. Some file systems have no hard links. */
function publish(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (thrown) {
    if (getErrnoCode(thrown) !== 'EEXIST') copyFileSync(draft, file, constants.COPYFILE_EXCL);
  }
}

/** The check reads the whole file: of larger ones only the pages that are used are checked, by SQLite itself. */
const MAX_CHECKED_BYTES = 64_000_000;

function checkDatabase(database: DatabaseSync, file: string): void {
  if (statSync(file).size > MAX_CHECKED_BYTES) return;
  const [row] = database.prepare('PRAGMA quick_check(1)').all();
  const problem = String(row?.quick_check);
  if (problem !== 'ok') throw new StoreDamaged(file, problem);
}

function openDatabase(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file);
  } catch (thrown) {
    throw convertSqliteError(thrown, file);
  }
}

/** Primary result codes of SQLite. */
const BUSY_CODES = [5, 6];
/** A missing table or column, a damaged page, another format. */
const DAMAGE_CODES = [1, 11, 17, 26];
const FULL_CODE = 13;
/** No permission, read-only, an error of the disk, no such folder. */
const ACCESS_CODES = [3, 8, 10, 14];

function getResultCode(thrown: unknown): number | undefined {
  const code = thrown instanceof Error && 'errcode' in thrown ? thrown.errcode : undefined;
  // The upper bytes of an extended code have details.
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** Converts an error of SQLite to one that names the file and says what to do. Others are returned as they are. */
function convertSqliteError(thrown: unknown, file: string): unknown {
  const code = getResultCode(thrown);
  if (code === undefined) return thrown;
  const problem = getErrorMessage(thrown);
  if (DAMAGE_CODES.includes(code)) return new StoreDamaged(file, problem);
  if (code === FULL_CODE)
    return new StoreUnavailable(`The disk of the queue file ${file} is full. Free some space on it.`);
  if (BUSY_CODES.includes(code))
    return new StoreUnavailable(`Another process keeps the queue file ${file} locked. Find it with: fuser ${file}`);
  if (!ACCESS_CODES.includes(code)) return thrown;
  const advice = 'Check that it is a file which you may read and write, and its folder, too.';
  return new StoreUnavailable(`The queue file ${file} cannot be read or written: ${problem}. ${advice}`);
}

async function beginTransaction(database: DatabaseSync): Promise<void> {
  const end = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      database.exec('BEGIN IMMEDIATE');
      return;
    } catch (thrown) {
      if (!BUSY_CODES.includes(getResultCode(thrown) ?? 0) || performance.now() > end) throw thrown;
    }
    await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * MAX_PAUSE_MS));
  }
}

function toStorable(value: SqlValue): string | number | bigint | null | Uint8Array {
  return typeof value === 'boolean' ? Number(value) : value;
}

/** Names of network file systems by their magic number in `statfs`. */
const NETWORK_TYPES = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x5346414f, 'AFS'],
  [0x47504653, 'GPFS'],
]);

/** Throws if a folder is on a network disk: SQLite relies on file locks, which do not work there. @internal */
export async function rejectNetworkDisk(
  folder: string,
  statFolder: (folder: string) => Promise<{ readonly type: number }> = statfs,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { type } = await statFolder(folder);
  const name = NETWORK_TYPES.get(type);
  if (name === undefined) return;
  throw new Error(
    `${folder} is on a network disk (${name}), which does not support a shared database file. ` +
      'Set OURO_HOME to a folder on a local disk, or use a queue on Postgres.',
  );
}
