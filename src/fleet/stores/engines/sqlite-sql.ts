import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { messageOf } from '../../../lib/errors.ts';
import { inTurn, type Sql, type SqlValue, type Transaction } from '../sql.ts';

/** How long one process waits for others that write. */
const PATIENCE_MS = 30_000;
const LONGEST_PAUSE_MS = 20;
/** What the database says when somebody else writes. */
const BUSY = /database is locked|database is busy/i;

/** A database file of this machine. Several processes may use it at once; on a network disk it is refused. */
export function openSqlite(file: string, clock: () => number = Date.now): Sql {
  const isNew = !existsSync(file);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(file);
  if (isNew) chmodSync(file, 0o600);
  database.exec('PRAGMA busy_timeout = 5000');
  database.exec('PRAGMA journal_mode = WAL');
  // From here on we wait ourselves: a wait inside of the database would hold up all else in this process.
  database.exec('PRAGMA busy_timeout = 0');
  database.exec('PRAGMA synchronous = FULL');
  const prepared = new Map<string, StatementSync>();
  const turn = inTurn();

  function statementOf(text: string): StatementSync {
    const known = prepared.get(text) ?? database.prepare(text);
    prepared.set(text, known);
    return known;
  }

  const tx: Transaction = {
    all: async (text, ...values) => statementOf(text).all(...values.map(storable)),
    now: async () => clock(),
  };

  return {
    forUpdate: '',
    alone: [],
    bytes: 'BLOB',
    transaction: (work) =>
      turn(async () => {
        await begin(database);
        try {
          const answer = await work(tx);
          database.exec('COMMIT');
          return answer;
        } catch (thrown) {
          if (database.isTransaction) database.exec('ROLLBACK');
          throw thrown;
        }
      }),
    async close() {
      await turn(async () => database.close());
    },
  };
}

async function begin(database: DatabaseSync): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      database.exec('BEGIN IMMEDIATE');
      return;
    } catch (thrown) {
      if (!BUSY.test(messageOf(thrown)) || performance.now() > end) throw thrown;
    }
    await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * LONGEST_PAUSE_MS));
  }
}

function storable(value: SqlValue): string | number | bigint | null | Uint8Array {
  return typeof value === 'boolean' ? Number(value) : value;
}
