import { messageOf } from '../../lib/errors.ts';
import { places, type Sql, type Transaction } from './sql.ts';

/** Of these tables. A store with another number was made by another version of the program. */
const VERSION = 1;

/** Makes the tables, or refuses a store that another version made. */
export async function openSchema(sql: Sql): Promise<void> {
  // Making tables locks them, even where they are there already: whoever works on them would have to wait.
  if (await sql.transaction(checkVersion).catch(noTables)) return;
  await sql.transaction(async (tx) => {
    for (const text of [...sql.alone, ...tables(sql.bytes)]) await tx.all(text);
    await tx.all('INSERT INTO fleet_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING', 'schema', VERSION);
    await checkVersion(tx);
  });
}

function noTables(thrown: unknown): boolean {
  if (/fleet_meta/.test(messageOf(thrown))) return false;
  throw thrown;
}

/** Throws for another version; false when there is none. */
async function checkVersion(tx: Transaction): Promise<boolean> {
  const [row] = await tx.all("SELECT value FROM fleet_meta WHERE name = 'schema'");
  if (row === undefined) return false;
  const found = Number(row.value);
  if (found === VERSION) return true;
  const advice =
    found > VERSION ? 'Update ouro on this machine.' : 'Finish its batches with the older ouro, or name another store.';
  throw new Error(`This store has tables of version ${found}, and this ouro works with version ${VERSION}. ${advice}`);
}

function tables(bytes: string): readonly string[] {
  return [
    'CREATE TABLE IF NOT EXISTS fleet_meta (name TEXT PRIMARY KEY, value BIGINT NOT NULL)',
    `CREATE TABLE IF NOT EXISTS fleet_batches (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL, priority INTEGER NOT NULL,
      limit_each BIGINT NOT NULL, limit_all BIGINT NOT NULL, attempts INTEGER NOT NULL, at_once INTEGER NOT NULL,
      collect TEXT NOT NULL, created_ms BIGINT NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS fleet_tasks (
      batch TEXT NOT NULL, task_key TEXT NOT NULL, job TEXT NOT NULL, seq INTEGER NOT NULL, title TEXT NOT NULL,
      kind TEXT NOT NULL, lane TEXT NOT NULL, priority INTEGER NOT NULL, spec TEXT NOT NULL, signature TEXT,
      state TEXT NOT NULL, tries INTEGER NOT NULL, reason TEXT, session TEXT, machine TEXT, doing TEXT,
      started_ms BIGINT, ended_ms BIGINT, result TEXT, PRIMARY KEY (batch, task_key))`,
    'CREATE INDEX IF NOT EXISTS fleet_tasks_state ON fleet_tasks (batch, state, lane)',
    'CREATE INDEX IF NOT EXISTS fleet_tasks_job ON fleet_tasks (batch, job)',
    `CREATE TABLE IF NOT EXISTS fleet_attempts (
      id TEXT PRIMARY KEY, batch TEXT NOT NULL, task_key TEXT NOT NULL, token BIGINT NOT NULL, lane TEXT NOT NULL,
      worker TEXT NOT NULL, machine TEXT NOT NULL, started_ms BIGINT NOT NULL, beat_ms BIGINT NOT NULL,
      lease_ms BIGINT NOT NULL, ended_ms BIGINT, cost BIGINT NOT NULL, reserved BIGINT NOT NULL,
      session TEXT, outcome TEXT NOT NULL)`,
    'CREATE INDEX IF NOT EXISTS fleet_attempts_task ON fleet_attempts (batch, task_key)',
    'CREATE INDEX IF NOT EXISTS fleet_attempts_open ON fleet_attempts (lane) WHERE ended_ms IS NULL',
    `CREATE TABLE IF NOT EXISTS fleet_lanes (
      name TEXT PRIMARY KEY, until_ms BIGINT NOT NULL, words TEXT NOT NULL, at_most INTEGER, since_ms BIGINT NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS fleet_files (
      batch TEXT NOT NULL, task_key TEXT NOT NULL, kind TEXT NOT NULL, content ${bytes} NOT NULL,
      PRIMARY KEY (batch, task_key, kind))`,
  ];
}

/** Inserts rows in as few statements as a database takes. Rows that are there already stay as they are. */
export async function insertNew(
  tx: Transaction,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
  returning: string,
): Promise<readonly string[]> {
  const added: string[] = [];
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const some = rows.slice(at, at + ROWS_AT_ONCE);
    const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${some.map((row) => `(${places(row.length)})`).join(', ')}
      ON CONFLICT DO NOTHING RETURNING ${returning}`;
    for (const row of await tx.all(text, ...some.flat())) added.push(String(row[returning]));
  }
  return added;
}

/** Times the columns of a task, this stays below what either database takes as parameters. */
const ROWS_AT_ONCE = 400;
