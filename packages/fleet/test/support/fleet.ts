import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SeenRequest } from '../../../../test/support/api/dialect.ts';
import { type ApiTurn, calls, says, toolUse } from '../../../../test/support/api/reply.ts';
import { initRepository } from '../../../../test/support/init-repository.ts';
import { NO_POSTGRES, startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { isWholeRun } from '../../../../test/support/runs.ts';
import { createTempProject, type TempProject } from '../../../../test/support/temp-project.ts';

export type StoreKind = 'SQLite' | 'Postgres';

/** The available stores. Behaviour common to both is tested with Postgres in complete runs only. */
const STORE_KINDS: readonly StoreKind[] = NO_POSTGRES === undefined ? ['SQLite', 'Postgres'] : ['SQLite'];
export const TESTED_STORES = isWholeRun ? STORE_KINDS : STORE_KINDS.slice(0, 1);
if (NO_POSTGRES !== undefined) process.stderr.write(`\n${NO_POSTGRES}\n`);

/** A queue for each test: the file of the machine, or a database on a server of all tests of a file. */
export type TestQueue = {
  /** The flag or variable that selects the queue. */
  begin(): Promise<Readonly<Record<string, string>>>;
  readonly server: () => TestPostgres;
  close(): Promise<void>;
};

export function testQueue(kind: StoreKind): TestQueue {
  let server: TestPostgres | undefined;
  return {
    async begin() {
      const none: Readonly<Record<string, string>> = {};
      if (kind === 'SQLite') return none;
      server ??= await startPostgres();
      return { ...none, OURO_QUEUE: await server.database() };
    },
    server() {
      if (server === undefined) throw new Error('This queue has no server.');
      return server;
    },
    close: async () => server?.close(),
  };
}

/** A project with repositories in it: `repos/one`, `repos/two`, …, each with one commit. */
export async function projectWithRepos(
  names: readonly string[],
  files: Readonly<Record<string, string>> = { 'a.txt': 'alpha\n' },
): Promise<TempProject> {
  const project = await createTempProject();
  for (const name of names) await addRepo(project, name, files);
  return project;
}

export async function addRepo(
  project: TempProject,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = join(project.dir, 'repos', name);
  for (const [path, text] of Object.entries(files)) await project.write(join('repos', name, path), text);
  await initRepository(project.git, folder);
  return folder;
}

/** Writes the worker policy; the lease is long enough for a busy machine. */
export async function writePolicy(project: TempProject, policy: object = {}): Promise<void> {
  await mkdir(project.ouroHome, { recursive: true });
  await writeFile(
    join(project.ouroHome, 'worker.json'),
    JSON.stringify({ leaseSeconds: 20, freeMegabytes: 0, ...policy }),
  );
}

/** A model that writes `done.txt` and reports it: two requests per task. */
export function fileWritingModel(request: SeenRequest): ApiTurn {
  return isAfterCall(request)
    ? says('It is written.')
    : calls(toolUse('Write', { file_path: 'done.txt', content: 'done\n' }));
}

/** Has the conversation come back with the result of a call? */
export function isAfterCall({ body }: SeenRequest): boolean {
  return JSON.stringify(body.messages?.at(-1)).includes('tool_result');
}
