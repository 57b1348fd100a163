import { existsSync } from 'node:fs';
import { policyFile, readPolicy } from '../../fleet/worker/policy.ts';
import { messageOf } from '../../lib/errors.ts';
import { writePrivately } from '../../lib/files/private-file.ts';
import { outputOf } from '../../lib/processes/run-program.ts';
import type { Io } from '../io.ts';
import { batchCount } from './batch-lines.ts';
import { openFleet } from './open-fleet.ts';
import type { WorkerFlags } from './run-worker.ts';

/** A careful beginning: what is not named here, a task may not have. */
const CAREFUL = {
  mode: 'acceptEdits',
  repositories: ['https://github.com/your-organisation/*'],
  tools: ['Bash(npm test:*)'],
  verify: ['npm test'],
  env: [],
  sandbox: true,
  network: false,
  freeMegabytes: 500,
};

/** `ouro worker init`: writes a policy to begin with. */
export async function initWorker({ environment, stdout, stderr }: Io): Promise<number> {
  const file = policyFile(environment.ouroHome);
  if (existsSync(file)) {
    stderr.write(`${file} is there already, and stays as it is.\n`);
    return 1;
  }
  await writePrivately(file, `${JSON.stringify(CAREFUL, null, 2)}\n`);
  stdout.write(`${file}\nIt says what tasks may do on this machine. Name your repositories in it.\n`);
  return 0;
}

type Finding = { readonly what: string; readonly ok: boolean; readonly words: string };

/** `ouro worker doctor`: can this machine work? */
export async function checkWorker(flags: WorkerFlags, io: Io): Promise<number> {
  const found = [
    await finding('policy', async () => {
      await readPolicy(io.environment.ouroHome);
      const file = policyFile(io.environment.ouroHome);
      return existsSync(file) ? file : `none: every task may do what it asks for ("ouro worker init" writes one)`;
    }),
    await finding('git', async () => (await outputOf('git', ['--version'], { timeoutMs: 5_000 })).trim()),
    await finding('queue', async () => {
      const { store, reach } = await openFleet(io, flags.queue);
      const batches = await store.batches();
      await store.close();
      return `${reach === 'many' ? 'Postgres' : 'of this machine'}, ${batchCount(batches.length)}`;
    }),
    await finding('key', async () => {
      const names = Object.keys(io.environment.keys).filter((name) => name !== 'OURO_QUEUE');
      return names.length === 0
        ? 'none set: tasks can use a local model, a key that is kept, or demo'
        : names.join(', ');
    }),
  ];
  if (flags.json === true) io.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  else for (const { what, ok, words } of found) io.stdout.write(`${ok ? 'ok ' : 'BAD'}  ${what.padEnd(8)} ${words}\n`);
  return found.every(({ ok }) => ok) ? 0 : 1;
}

async function finding(what: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return { what, ok: true, words: await look() };
  } catch (thrown) {
    return { what, ok: false, words: messageOf(thrown).split('\n')[0] ?? '' };
  }
}
