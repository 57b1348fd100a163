import { formatCount, getErrorMessage } from '@ouro-cli/ouro/commands';
import type { SqlDatabase, SqlTransaction } from './database.ts';

/** Version of these tables. Another version of ouro may have created a store with another version. */
const SCHEMA_VERSION = 4;
/** The version whose waiting tasks were in a queue beside the tables, on Postgres in that of pg-boss. */
const QUEUE_VERSION = 1;
/** The versions without schedules, and without pending deletions. */
const EXTENDED_VERSIONS = [2, 3];

/** Creates or migrates the tables if needed. Throws for a store that this ouro cannot use. */
export async function initializeFleetSchema(sql: SqlDatabase): Promise<void> {
  // `CREATE TABLE` locks even existing tables, so it is skipped if there are any.
  const version = await sql.transaction(readVersion).catch(ignoreMissingTable);
  if (version === SCHEMA_VERSION) return;
  const running = await sql.transaction(async (tx) => {
    for (const text of sql.schemaLock) await tx.query(text);
    // Another process may have created or migrated the tables meanwhile.
    const found = version === undefined ? undefined : await readVersion(tx);
    if (found === QUEUE_VERSION) return migrateFromQueue(tx);
    if (found !== undefined && EXTENDED_VERSIONS.includes(found)) return addTables(tx);
    if (found === undefined) for (const text of getTableStatements(sql.bytesType)) await tx.query(text);
    const insert = 'INSERT INTO fleet_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING';
    await tx.query(insert, 'schema', SCHEMA_VERSION);
    rejectOtherVersion(sql.title, await readVersion(tx));
    return 0;
  });
  if (running > 0)
    throw new Error(
      `The queue is from an older ouro, whose workers still run ${formatCount(running, 'task')}. ` +
        'They start no more tasks now. Repeat the command when these have ended, or stop the workers.',
    );
}

/** Returns `undefined` for the error of a missing table; rethrows others. */
function ignoreMissingTable(thrown: unknown): undefined {
  if (/fleet_meta/.test(getErrorMessage(thrown))) return undefined;
  throw thrown;
}

async function readVersion(tx: SqlTransaction): Promise<number | undefined> {
  const [row] = await tx.query("SELECT value FROM fleet_meta WHERE name = 'schema'");
  return row === undefined ? undefined : Number(row.value);
}

function rejectOtherVersion(title: string, found: number | undefined): void {
  if (found === SCHEMA_VERSION) return;
  const advice =
    found !== undefined && found > SCHEMA_VERSION
      ? 'Update ouro on this machine.'
      : 'No ouro has written it: it is damaged.';
  throw new Error(`${title} has schema version ${found}, but this ouro needs version ${SCHEMA_VERSION}. ${advice}`);
}

/** Adds the tables of later versions. Running workers of the versions before go on: they do not use them. */
async function addTables(tx: SqlTransaction): Promise<number> {
  for (const text of [...NEW_STATEMENTS, ADD_INSTALLATION, STORE_VERSION]) await tx.query(text);
  return 0;
}

const ADD_INSTALLATION = 'ALTER TABLE fleet_attempts ADD COLUMN installation TEXT';
const STORE_VERSION = `UPDATE fleet_meta SET value = ${SCHEMA_VERSION}`;

const DRAIN_MS = 3_600_000;

/**
 * Migrates a store whose waiting tasks were in a queue of their own. Old workers that still run tasks would lose their
 * results, so while there are any, all lanes are paused and their number is returned. After the migration the statements
 * of old workers fail, so none of them can take a task that a new one has.
 */
async function migrateFromQueue(tx: SqlTransaction): Promise<number> {
  const now = await tx.now();
  const [row] = await tx.query(
    'SELECT count(*) AS running FROM fleet_attempts WHERE ended_ms IS NULL AND beat_ms + lease_ms >= ?',
    now,
  );
  const running = Number(row?.running);
  if (running > 0) {
    const words = 'the queue is being migrated to a newer ouro';
    await tx.query('UPDATE fleet_lanes SET until_ms = ?, words = ?', now + DRAIN_MS, words);
    return running;
  }
  const statements = [
    'ALTER TABLE fleet_tasks ADD COLUMN token BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE fleet_tasks ADD COLUMN due_ms BIGINT NOT NULL DEFAULT 0',
    `UPDATE fleet_tasks SET token = coalesce((SELECT max(a.token) FROM fleet_attempts a
      WHERE a.batch = fleet_tasks.batch AND a.task_key = fleet_tasks.task_key), 0)`,
    ...BATCH_VERSION_COLUMNS.map((column) => `ALTER TABLE fleet_batches ADD COLUMN ${column}`),
    'DROP INDEX fleet_tasks_job',
    'DROP INDEX fleet_tasks_state',
    'ALTER TABLE fleet_tasks DROP COLUMN job',
    ...NEW_STATEMENTS,
    ADD_INSTALLATION,
    'DROP TABLE IF EXISTS jobs',
    'UPDATE fleet_lanes SET until_ms = 0',
    STORE_VERSION,
  ];
  for (const text of statements) await tx.query(text);
  return 0;
}

/** The columns of batches that version 2 added. */
const BATCH_VERSION_COLUMNS = ['version INTEGER NOT NULL DEFAULT 1', 'submitted TEXT', 'replaced_by TEXT'];

/** The statements that both new and migrated stores need. */
const NEW_STATEMENTS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS fleet_branches (
    url TEXT NOT NULL, branch TEXT NOT NULL, commit_id TEXT NOT NULL, batch TEXT NOT NULL, task_key TEXT NOT NULL,
    request TEXT, PRIMARY KEY (url, branch))`,
  `CREATE TABLE IF NOT EXISTS fleet_schedules (
    id TEXT PRIMARY KEY, version INTEGER NOT NULL, every_ms BIGINT NOT NULL, next_ms BIGINT NOT NULL,
    batch TEXT NOT NULL, tasks TEXT NOT NULL, task_count INTEGER NOT NULL, last_batch TEXT, problem TEXT)`,
  `CREATE TABLE IF NOT EXISTS fleet_deletions (
    batch TEXT NOT NULL, installation TEXT NOT NULL, machine TEXT NOT NULL, created_ms BIGINT NOT NULL,
    tasks TEXT NOT NULL, PRIMARY KEY (batch, installation))`,
  'CREATE INDEX IF NOT EXISTS fleet_tasks_next ON fleet_tasks (batch, state, lane, priority DESC, seq)',
];

function getTableStatements(bytes: string): readonly string[] {
  return [
    'CREATE TABLE IF NOT EXISTS fleet_meta (name TEXT PRIMARY KEY, value BIGINT NOT NULL)',
    `CREATE TABLE IF NOT EXISTS fleet_batches (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL, priority INTEGER NOT NULL,
      limit_each BIGINT NOT NULL, limit_all BIGINT NOT NULL, attempts INTEGER NOT NULL, at_once INTEGER NOT NULL,
      collect TEXT NOT NULL, created_ms BIGINT NOT NULL, ${BATCH_VERSION_COLUMNS.join(', ')})`,
    `CREATE TABLE IF NOT EXISTS fleet_tasks (
      batch TEXT NOT NULL, task_key TEXT NOT NULL, seq INTEGER NOT NULL, title TEXT NOT NULL,
      kind TEXT NOT NULL, lane TEXT NOT NULL, priority INTEGER NOT NULL, spec TEXT NOT NULL, signature TEXT,
      state TEXT NOT NULL, tries INTEGER NOT NULL, token BIGINT NOT NULL DEFAULT 0,
      due_ms BIGINT NOT NULL DEFAULT 0, reason TEXT, session TEXT, machine TEXT, doing TEXT,
      started_ms BIGINT, ended_ms BIGINT, result TEXT, PRIMARY KEY (batch, task_key))`,
    `CREATE TABLE IF NOT EXISTS fleet_attempts (
      id TEXT PRIMARY KEY, batch TEXT NOT NULL, task_key TEXT NOT NULL, token BIGINT NOT NULL, lane TEXT NOT NULL,
      worker TEXT NOT NULL, machine TEXT NOT NULL, started_ms BIGINT NOT NULL, beat_ms BIGINT NOT NULL,
      lease_ms BIGINT NOT NULL, ended_ms BIGINT, cost BIGINT NOT NULL, reserved BIGINT NOT NULL,
      session TEXT, outcome TEXT NOT NULL, installation TEXT)`,
    'CREATE INDEX IF NOT EXISTS fleet_attempts_task ON fleet_attempts (batch, task_key)',
    'CREATE INDEX IF NOT EXISTS fleet_attempts_open ON fleet_attempts (lane) WHERE ended_ms IS NULL',
    `CREATE TABLE IF NOT EXISTS fleet_lanes (
      name TEXT PRIMARY KEY, until_ms BIGINT NOT NULL, words TEXT NOT NULL, at_most INTEGER, since_ms BIGINT NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS fleet_files (
      batch TEXT NOT NULL, task_key TEXT NOT NULL, kind TEXT NOT NULL, content ${bytes} NOT NULL,
      PRIMARY KEY (batch, task_key, kind))`,
    ...NEW_STATEMENTS,
  ];
}
