import { getErrnoCode } from '@ouro-cli/ouro/commands';
import { Pool, type PoolClient } from 'pg';
import {
  convertConnectionError,
  createSerialQueue,
  rethrowAsStoreError,
  type SqlDatabase,
  type SqlTransaction,
  type SqlValue,
  StoreUnavailable,
} from './database.ts';

/** Timeouts of the database session, so that a worker that freezes in a transaction does not block others. */
const SESSION_OPTIONS = '-c idle_in_transaction_session_timeout=5s -c lock_timeout=8s -c statement_timeout=20s';
/** Must be shorter than a lease: a heartbeat that waits longer is late. */
const CONNECTION_TIMEOUT_MS = 10_000;

/** Arbitrary number of the advisory lock for creating tables. */
const TABLE_CREATION_LOCK = 7_068_270_001;
/** Deadlock and serialization failure: the transaction is repeated. */
const CONFLICTS = ['40P01', '40001'];
const MAX_TRIES = 5;

/** Opens the tables in Postgres, for several machines. */
export async function openPostgres(url: string): Promise<SqlDatabase> {
  const pool = new Pool({
    connectionString: url,
    application_name: 'ouro',
    options: SESSION_OPTIONS,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
    // One transaction at a time.
    max: 1,
  });
  // The next transaction reports a lost connection; without a listener the event would end the process.
  pool.on('error', () => undefined);
  const runInTurn = createSerialQueue();
  const sql: SqlDatabase = {
    title: 'The queue',
    forUpdate: ' FOR UPDATE',
    schemaLock: [`SELECT pg_advisory_xact_lock(${TABLE_CREATION_LOCK})`],
    bytesType: 'BYTEA',
    transaction: (work) =>
      runInTurn(async () => {
        for (let tries = 1; ; tries += 1) {
          try {
            return await runTransaction(pool, work);
          } catch (thrown) {
            // The transaction was rolled back, and the conflicting one has completed.
            const cause = thrown instanceof StoreUnavailable ? thrown.cause : thrown;
            if (tries >= MAX_TRIES || !CONFLICTS.includes(getErrnoCode(cause) ?? '')) throw thrown;
          }
        }
      }),
    close: () => runInTurn(() => pool.end()),
  };
  try {
    await sql.transaction((tx) => tx.now());
    return sql;
  } catch (thrown) {
    // The first error is the one to report.
    await pool.end().catch(() => undefined);
    throw convertConnectionError(thrown);
  }
}

async function runTransaction<Result>(pool: Pool, work: (tx: SqlTransaction) => Promise<Result>): Promise<Result> {
  const client = await pool.connect().catch(rethrowAsStoreError);
  // A connection that is lost while it is in use emits an error, too.
  const onError = () => undefined;
  client.on('error', onError);
  try {
    await run(client, 'BEGIN');
    const result = await work(createTransaction(client));
    await run(client, 'COMMIT');
    client.release();
    return result;
  } catch (thrown) {
    // A connection that cannot even roll back is closed, not used again.
    const isUsable = await client.query('ROLLBACK').then(
      () => true,
      () => false,
    );
    client.release(!isUsable);
    throw thrown;
  } finally {
    client.off('error', onError);
  }
}

function createTransaction(client: PoolClient): SqlTransaction {
  const query: SqlTransaction['query'] = async (text, ...values) =>
    (await run(client, numberParameters(text), values.map(toStorable))).rows;
  return {
    query,
    async now() {
      const [row] = await query('SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS now');
      return Number(row?.now);
    },
  };
}

const run = (client: PoolClient, text: string, values: readonly unknown[] = []) =>
  client.query<Record<string, unknown>>(text, [...values]).catch(rethrowAsStoreError);

/** Replaces `?` by `$1`, `$2`, …. The statements of the store contain no other question marks. */
function numberParameters(text: string): string {
  let count = 0;
  return text.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
}

const toStorable = (value: SqlValue) => (value instanceof Uint8Array ? Buffer.from(value) : value);
