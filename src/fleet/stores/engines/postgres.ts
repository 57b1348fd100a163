import { type Db, PgBoss } from 'pg-boss';
import { errnoOf } from '../../../lib/files/errno.ts';
import type { JobQueue } from '../job-queue.ts';
import { inTurn, type Row, type Sql, type SqlValue, type Transaction } from '../sql.ts';
import { awayOrSame, goneAway, StoreAway } from '../store-away.ts';
import { openPgBossQueue } from './pg-boss-queue.ts';

/** No machine that freezes inside a transaction holds up the others for longer than this. */
const SESSION = '-c idle_in_transaction_session_timeout=5s -c lock_timeout=8s -c statement_timeout=20s';

/** Any number that nobody else uses for a lock of this kind. */
const MAKING_TABLES = 7_068_270_001;
/** A deadlock, or two that could not both be right: one of them is asked to begin again. */
const IN_EACH_OTHERS_WAY = ['40P01', '40001'];
const MOST_TRIES = 5;

/** The tables and the queue of many machines, in one Postgres. */
export async function openPostgres(url: string): Promise<{ readonly sql: Sql; readonly queue: JobQueue }> {
  const boss = new PgBoss({
    connectionString: url,
    application_name: 'ouro',
    options: SESSION,
    // One transaction at a time, and what the engine asks besides.
    max: 3,
    // Our own sweep takes back what is lost, with the money it cost.
    supervise: false,
    schedule: false,
  });
  // Each call that fails says so itself; without a listener the event would end the process.
  boss.on('error', () => undefined);
  try {
    await boss.start();
  } catch (thrown) {
    await boss.stop({ graceful: false }).catch(() => undefined); // The first failure is the one worth telling.
    throw awayOrSame(thrown);
  }
  const handles = new WeakMap<Transaction, Db>();
  return { sql: openSql(boss, handles), queue: openPgBossQueue(boss, handles) };
}

function openSql(boss: PgBoss, handles: WeakMap<Transaction, Db>): Sql {
  const turn = inTurn();
  const db = boss.getDb();
  return {
    forUpdate: ' FOR UPDATE',
    alone: [`SELECT pg_advisory_xact_lock(${MAKING_TABLES})`],
    bytes: 'BYTEA',
    transaction: (work) =>
      turn(async () => {
        for (let tries = 1; ; tries += 1) {
          try {
            return await inTransaction(db, handles, work);
          } catch (thrown) {
            // Nothing of it has happened, and the others have gone on by now.
            const cause = thrown instanceof StoreAway ? thrown.cause : thrown;
            if (tries >= MOST_TRIES || !IN_EACH_OTHERS_WAY.includes(errnoOf(cause) ?? '')) throw thrown;
          }
        }
      }),
    close: () => boss.stop({ graceful: false }),
  };
}

async function inTransaction<Answer>(
  db: Db,
  handles: WeakMap<Transaction, Db>,
  work: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> {
  if (db.beginTransaction === undefined) throw new Error('This version of pg-boss has no transactions.');
  const { db: inside, commit, rollback } = await db.beginTransaction().catch(goneAway);
  const asked: Db = { ...inside, executeSql: (text, values) => inside.executeSql(text, values).catch(goneAway) };
  const all = async (text: string, ...values: readonly SqlValue[]): Promise<readonly Row[]> =>
    (await asked.executeSql(numbered(text), values.map(storable))).rows;
  const tx: Transaction = {
    all,
    async now() {
      const [row] = await all('SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS now');
      return Number(row?.now);
    },
  };
  handles.set(tx, asked);
  try {
    const answer = await work(tx);
    await commit().catch(goneAway);
    return answer;
  } catch (thrown) {
    await rollback();
    throw thrown;
  }
}

/** Our statements hold no question mark but those that stand for parameters. */
function numbered(text: string): string {
  let count = 0;
  return text.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
}

const storable = (value: SqlValue) => (value instanceof Uint8Array ? Buffer.from(value) : value);
