import { readPolicy } from '../../fleet/worker/policy.ts';
import type { ValuesOf } from '../args/flag.ts';
import type { SUBCOMMANDS } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';
import { signalCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import type { Shutdown } from '../shutdown.ts';
import { openFleet } from './open-fleet.ts';
import { defaultSlots, EXIT } from './run-batch.ts';
import { startWorker } from './start-worker.ts';

export type WorkerFlags = ValuesOf<typeof SUBCOMMANDS.worker.flags>;

/** `ouro worker`: works until it is stopped, or until there is nothing left. */
export async function runWorkerCommand(flags: WorkerFlags, io: Io, shutdown: Shutdown): Promise<number> {
  if (flags.once === true && flags.untilEmpty === true)
    throw new UsageError('--once ends after one task, --until-empty after the last. Choose one.');
  const ending = new AbortController();
  shutdown.guardWork({ graceMs: 15_000, abort: () => ending.abort() });
  const policy = await readPolicy(io.environment.ouroHome);
  const fleet = await openFleet(io, flags.queue);
  try {
    const ended = await startWorker(fleet, policy, io, {
      slots: flags.jobs ?? defaultSlots(),
      until: flags.once === true ? 'once' : flags.untilEmpty === true ? 'empty' : 'stopped',
      atRest: 'waits',
      signal: ending.signal,
      say: (line) => io.stderr.write(`${line}\n`),
    });
    if (ended.kind === 'stopped') return signalCode(shutdown.reason());
    if (ended.kind === 'waits') return ended.for === 'money' ? EXIT.money : EXIT.waits;
    return ended.kind === 'left' ? EXIT.waits : EXIT.done;
  } finally {
    await fleet.store.close();
  }
}
