import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A Postgres server for one test, in a temporary folder, reachable only through its socket. */
export type TestPostgres = {
  /** A new empty database. */
  database(): Promise<string>;
  query(url: string, text: string): Promise<string>;
  /** All that is in a database, as text. */
  dump(url: string): Promise<string>;
  /** Simulates a power cut: connections break, and the server is down for the given time. */
  crashAndRestart(awayMs?: number): Promise<void>;
  close(): Promise<void>;
};

/** The folder of the programs in Debian's package. */
function programsFolder(): string | undefined {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return undefined;
  const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(root, version, 'bin')).find((folder) => existsSync(join(folder, 'postgres')));
}

const programs = programsFolder();

/** The reason why Postgres cannot be started here; `undefined` if it can. */
export const NO_POSTGRES =
  programs === undefined
    ? 'Postgres is not installed (Debian: apt-get install postgresql), so tests that need it are skipped.'
    : undefined;

/** Postgres refuses to run as root; it runs as the user nobody then. */
const UNPRIVILEGED_ID = 65_534;

export async function startPostgres(): Promise<TestPostgres> {
  if (programs === undefined) throw new Error(NO_POSTGRES);
  const isRoot = process.getuid?.() === 0;
  // Short: the path of a socket has at most 107 characters.
  const folder = await mkdtemp('/tmp/ouro-pg-');
  if (isRoot) await chown(folder, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
  const options = {
    cwd: folder,
    env: { PATH: `${programs}:/usr/bin:/bin`, LANG: 'C.UTF-8', TMPDIR: tmpdir() },
    ...(isRoot ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {}),
  };
  const data = join(folder, 'data');
  await run(join(programs, 'initdb'), ['-D', data, '-U', 'ouro', '-A', 'trust', '-E', 'UTF8', '--no-sync'], options);
  let server = await startServer(join(programs, 'postgres'), data, folder, options);
  const urlOf = (name: string) => `postgres://ouro@localhost/${name}?host=${encodeURIComponent(folder)}`;
  const query = async (url: string, text: string) => {
    const psql = join(programs, 'psql');
    const { stdout } = await run(psql, [url, '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-c', text], options);
    return stdout.trim();
  };
  let count = 0;
  return {
    query,
    async dump(url) {
      const { stdout } = await run(join(programs, 'pg_dump'), ['--data-only', '--inserts', url], {
        ...options,
        maxBuffer: 64_000_000,
      });
      return stdout;
    },
    async database() {
      count += 1;
      await query(urlOf('postgres'), `CREATE DATABASE test_${count}`);
      return urlOf(`test_${count}`);
    },
    async crashAndRestart(awayMs = 0) {
      await stopServer(server, 'SIGQUIT');
      if (awayMs > 0) await wait(awayMs);
      server = await startServer(join(programs, 'postgres'), data, folder, options);
    },
    async close() {
      await stopServer(server, 'SIGQUIT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Options = {
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly uid?: number;
  readonly gid?: number;
};

async function startServer(program: string, data: string, folder: string, options: Options): Promise<ChildProcess> {
  const quick = ['fsync=off', 'full_page_writes=off', 'shared_buffers=32MB', 'max_connections=60', 'autovacuum=off'];
  const args = ['-D', data, '-k', folder, '-c', 'listen_addresses=', ...quick.flatMap((one) => ['-c', one])];
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  for await (const chunk of child.stderr) {
    said += String(chunk);
    if (said.includes('ready to accept connections')) break;
  }
  child.stderr.resume();
  if (child.exitCode !== null) throw new Error(`Postgres did not start: ${said}`);
  return child;
}

async function stopServer(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}
