import { getErrnoCode, getErrorMessage } from '@ouro-cli/ouro/commands';

/** A value of a column or parameter. */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array;
/** A result row by column name. */
export type SqlRow = Readonly<Record<string, unknown>>;

export type SqlTransaction = {
  /** Runs a statement with `?` parameters. Returns its rows. */
  query(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Returns the time of the database in milliseconds, the same clock for all machines. */
  now(): Promise<number>;
};

/** The database of a store. A process runs one transaction at a time. */
export type SqlDatabase = {
  transaction<Result>(work: (tx: SqlTransaction) => Promise<Result>): Promise<Result>;
  /** Names it in messages, as the start of a sentence. */
  readonly title: string;
  /** Suffix of a SELECT that locks its rows until the transaction ends. */
  readonly forUpdate: string;
  /** Statements that serialise the creation of tables by concurrent processes. */
  readonly schemaLock: readonly string[];
  /** Column type for bytes. */
  readonly bytesType: string;
  close(): Promise<void>;
};

/** Creates a function that runs asynchronous work one after another, also after failures. */
export function createSerialQueue(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}

/** Returns the placeholders for a number of values: `?, ?, ?`. */
export const createSqlPlaceholders = (count: number): string => Array.from({ length: count }, () => '?').join(', ');

/** Maximum delay before a task may be claimed again. */
export const MAX_CLAIM_DELAY_MS = 60_000;

/** Inserts rows in batches, skipping existing ones. Returns the `returning` column of the inserted rows. */
export async function insertRowsIfAbsent(
  tx: SqlTransaction,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
  returning: string,
): Promise<readonly string[]> {
  const added: string[] = [];
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) {
    const chunk = rows.slice(at, at + ROWS_PER_STATEMENT);
    const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${chunk.map((row) => `(${createSqlPlaceholders(row.length)})`).join(', ')}
      ON CONFLICT DO NOTHING RETURNING ${returning}`;
    for (const row of await tx.query(text, ...chunk.flat())) added.push(String(row[returning]));
  }
  return added;
}

/** Keeps the number of parameters below the limits of both databases. */
const ROWS_PER_STATEMENT = 400;

/** The store is temporarily unavailable. Running attempts continue and report later. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The file of a store is damaged, or not one of ouro. Nothing in it is used any more. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
  constructor(file: string, problem: string) {
    super(
      `The queue file ${file} is damaged: ${problem}. Move it and the files ${file}-* away; the next command creates a ` +
        `new one. Save what is left with: sqlite3 ${file} .recover`,
    );
  }
}

/** Temporary Postgres errors: connection lost, shutdown, startup, no disk, memory or connections, timeouts, deadlocks. */
const TEMPORARY = /^(?:08...|57P0[123]|53...|58030|55P03|57014|25P0[34]|40P01|40001)$/;
/** The form of an SQLSTATE, with a digit: the error is from the server itself. */
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;

/**
 * Converts a temporary error of the database connection to `StoreUnavailable`. Sockets, pools and drivers report a lost
 * connection in many ways, so everything counts as lost except errors with an SQLSTATE that is not temporary.
 */
export function convertConnectionError(thrown: unknown): unknown {
  const code = getErrnoCode(thrown) ?? '';
  if (thrown instanceof StoreUnavailable || (SQLSTATE.test(code) && !TEMPORARY.test(code))) return thrown;
  return new StoreUnavailable(`The queue cannot be reached: ${getErrorMessage(thrown) || code}.`, { cause: thrown });
}

/** Rethrows an error of the database connection, converted. Not for errors of the code in a transaction. */
export function rethrowAsStoreError(thrown: unknown): never {
  throw convertConnectionError(thrown);
}
