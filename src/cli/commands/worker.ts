import { readFlags } from '../args/read-flags.ts';
import { type CommandRequest, SUBCOMMANDS } from '../args/subcommands.ts';
import { UsageError } from '../args/usage-error.ts';
import { saidByQueue } from '../fleet/open-fleet.ts';

/** `ouro worker [init | doctor]`: takes tasks from a queue, under the policy of this machine. */
export async function run({ words: [verb, ...more], flags, io, shutdown }: CommandRequest): Promise<number> {
  const given = readFlags(SUBCOMMANDS.worker.flags, flags);
  if (more.length > 0) throw new UsageError('Say: ouro worker, ouro worker init, or ouro worker doctor.');
  switch (verb) {
    case undefined:
      return saidByQueue(io, async () =>
        (await import('../fleet/run-worker.ts')).runWorkerCommand(given, io, shutdown),
      );
    case 'init':
      return (await import('../fleet/worker-setup.ts')).initWorker(io);
    case 'doctor':
      return (await import('../fleet/worker-setup.ts')).checkWorker(given, io);
    default:
      throw new UsageError(`There is no "ouro worker ${verb}". There are: init, doctor.`);
  }
}
