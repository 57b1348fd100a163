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
export const createPlaceholders = (count: number): string => Array.from({ length: count }, () => '?').join(', ');

/** Maximum delay before a task may be claimed again. */
export const MAX_CLAIM_DELAY_MS = 60_000;

/** Inserts rows in batches, skipping existing ones. Returns the `returning` column of the inserted rows. */
export async function insertMissingRows(
  tx: SqlTransaction,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
  returning: string,
): Promise<readonly string[]> {
  const added: string[] = [];
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) {
    const chunk = rows.slice(at, at + ROWS_PER_STATEMENT);
    const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${chunk.map((row) => `(${createPlaceholders(row.length)})`).join(', ')}
      ON CONFLICT DO NOTHING RETURNING ${returning}`;
    for (const row of await tx.query(text, ...chunk.flat())) added.push(String(row[returning]));
  }
  return added;
}

/** Keeps the number of parameters below the limits of both databases. */
const ROWS_PER_STATEMENT = 400;
