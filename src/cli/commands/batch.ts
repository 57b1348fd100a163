import { readFlags } from '../args/read-flags.ts';
import { type CommandRequest, SUBCOMMANDS } from '../args/subcommands.ts';
import { saidByQueue } from '../fleet/open-fleet.ts';
import type { BatchWish } from '../fleet/run-batch.ts';

type Action = (wish: BatchWish) => Promise<number>;

/** Where each verb lives; nothing is loaded before it is asked for. */
const ACTIONS: Readonly<Record<string, () => Promise<Action>>> = {
  run: async () => (await import('../fleet/run-batch.ts')).runBatch,
  collect: async () => (await import('../fleet/collect-batch.ts')).collectBatch,
  init: async () => (await import('../fleet/init-samples.ts')).initSamples,
  list: async () => (await import('../fleet/look-at-batch.ts')).listBatches,
  status: async () => (await import('../fleet/look-at-batch.ts')).showStatus,
  show: async () => (await import('../fleet/look-at-batch.ts')).showTask,
  logs: async () => (await import('../fleet/batch-logs.ts')).showLogs,
  pause: async () => (await import('../fleet/order-batch.ts')).orderBatch,
  resume: async () => (await import('../fleet/order-batch.ts')).orderBatch,
  cancel: async () => (await import('../fleet/order-batch.ts')).orderBatch,
  retry: async () => (await import('../fleet/order-batch.ts')).orderBatch,
  delete: async () => (await import('../fleet/delete-batches.ts')).deleteBatches,
  budget: async () => (await import('../fleet/order-batch.ts')).orderBatch,
};

/** `ouro batch …`: one prompt over many places; without words the list of batches, with others a prompt. */
export async function run({ words, flags, io, shutdown }: CommandRequest): Promise<number> {
  const given = readFlags(SUBCOMMANDS.batch.flags, flags);
  const [verb = given.over.length === 0 ? 'list' : 'run'] = words;
  const act = await (Object.hasOwn(ACTIONS, verb) ? ACTIONS[verb] : ACTIONS.run)?.();
  return saidByQueue(io, async () => act?.({ words, flags: given, io, shutdown }) ?? 2);
}
