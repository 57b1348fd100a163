import { formatCount, UsageError } from '@ouro-cli/ouro/commands';
import type { BatchControlCommand } from '../store/batch.ts';
import type { FleetStore } from '../store/fleet-store.ts';
import { BATCH_EXIT_CODES, type BatchCommandInput } from './batch-run-command.ts';
import { findBatch, findBatchTask, runWithFleetStore } from './batch-show-commands.ts';
import { formatMicroDollars } from './format-batch.ts';

/** Runs `ouro batch pause|resume|cancel|retry|budget ID …`. */
export const runBatchControlCommand = (request: BatchCommandInput): Promise<number> =>
  runWithFleetStore(request, async (store) => {
    const { args, io } = request;
    const [action = '', batchId] = args;
    if (batchId === undefined)
      throw new UsageError(`Usage: ouro batch ${action} <id>. "ouro batch" lists the batches.`);
    const { id, replacedBy } = await findBatch(store, batchId);
    if (replacedBy !== undefined && (action === 'retry' || action === 'resume'))
      throw new UsageError(`Batch ${id} was replaced by ${replacedBy}. Use: ouro batch ${action} ${replacedBy}`);
    const order = await parseOrder(action, id, store, request);
    const count = await store.applyCommand(id, order);
    const after = await findBatch(store, id);
    io.stdout.write(`${id}: ${formatOutcome(order, count, after.limits.all)}\n`);
    const startsTasks = order.command === 'resume' || order.command === 'retry' || order.command === 'budget';
    if (startsTasks && after.counts.waiting > 0 && after.counts.running === 0)
      io.stdout.write(
        'If no worker is running, repeat the command that started the batch, or run: ouro worker --until-empty\n',
      );
    return BATCH_EXIT_CODES.done;
  });

async function parseOrder(
  action: string,
  id: string,
  store: FleetStore,
  { args, flags }: BatchCommandInput,
): Promise<BatchControlCommand> {
  const operands = args.slice(2);
  const keys: string[] = [];
  if (action === 'cancel' || action === 'retry')
    for (const name of operands) keys.push((await findBatchTask(store, id, name)).key);
  const taskKeys = keys.length === 0 ? {} : { keys };
  switch (action) {
    case 'cancel':
      return { command: 'cancel', ...taskKeys };
    case 'retry':
      if (keys.length === 0 && flags.failed !== true)
        throw new UsageError('Name the tasks to retry, or use --failed for all failed tasks.');
      return { command: 'retry', ...taskKeys };
    case 'budget':
      return { command: 'budget', more: parseAmount(operands[0]) };
    default:
      return { command: action === 'pause' ? 'pause' : 'resume' };
  }
}

function parseAmount(text: string | undefined): number {
  const dollars = /^\+\d+(?:\.\d+)?$/.test(text ?? '') ? Number(text) : undefined;
  if (dollars === undefined) throw new UsageError('Name the amount to add, in dollars: ouro batch budget <id> +20');
  return Math.round(dollars * 1e6);
}

function formatOutcome(order: BatchControlCommand, count: number, budget: number): string {
  switch (order.command) {
    case 'pause':
      return 'paused; running tasks continue. "ouro batch resume" ends the pause.';
    case 'resume':
      return count === 0 ? 'resumed.' : `resumed, including ${formatCount(count, 'cancelled task')}.`;
    case 'cancel':
      return count === 0
        ? 'no task was left to cancel.'
        : `${formatCount(count, 'task')} cancelled; running tasks are being stopped.`;
    case 'retry':
      return count === 0 ? 'no task has failed.' : `retrying ${formatCount(count, 'task')}.`;
    default:
      return `budget is now ${formatMicroDollars(budget)}.`;
  }
}
