import type { Order } from '../../contracts/fleet.ts';
import type { FleetStore } from '../../contracts/fleet-store.ts';
import { formatCount } from '../../lib/text/format.ts';
import { UsageError } from '../args/usage-error.ts';
import { money } from './batch-lines.ts';
import { theBatch, theTask, withStore } from './look-at-batch.ts';
import { type BatchWish, EXIT } from './run-batch.ts';

/** `ouro batch pause|resume|cancel|retry|budget ID …`. */
export const orderBatch = (wish: BatchWish): Promise<number> =>
  withStore(wish, async (store) => {
    const { words, io } = wish;
    const [verb = '', wanted] = words;
    if (wanted === undefined)
      throw new UsageError(`Say which batch: ouro batch ${verb} <id>. "ouro batch" lists them.`);
    const { id } = await theBatch(store, wanted);
    const order = await orderOf(verb, id, store, wish);
    const count = await store.order(id, order);
    const after = await theBatch(store, id);
    io.stdout.write(`${id}: ${told(order, count, after.limits.all)}\n`);
    const begins = order.order === 'resume' || order.order === 'retry' || order.order === 'budget';
    if (begins && after.counts.waiting > 0 && after.counts.running === 0)
      io.stdout.write('Where no worker waits for it: the command that began it, or ouro worker --until-empty.\n');
    return EXIT.done;
  });

async function orderOf(verb: string, id: string, store: FleetStore, { words, flags }: BatchWish): Promise<Order> {
  const named = words.slice(2);
  const keys: string[] = [];
  if (verb === 'cancel' || verb === 'retry') for (const name of named) keys.push((await theTask(store, id, name)).key);
  const some = keys.length === 0 ? {} : { keys };
  switch (verb) {
    case 'cancel':
      return { order: 'cancel', ...some };
    case 'retry':
      if (keys.length === 0 && flags.failed !== true)
        throw new UsageError('Say what to try again: the names of tasks, or --failed for all that failed.');
      return { order: 'retry', ...some };
    case 'budget':
      return { order: 'budget', more: moreOf(named[0]) };
    default:
      return { order: verb === 'pause' ? 'pause' : 'resume' };
  }
}

function moreOf(text: string | undefined): number {
  const dollars = /^\+\d+(?:\.\d+)?$/.test(text ?? '') ? Number(text) : undefined;
  if (dollars === undefined) throw new UsageError('Say how much more it may cost: ouro batch budget <id> +20');
  return Math.round(dollars * 1e6);
}

function told(order: Order, count: number, all: number): string {
  switch (order.order) {
    case 'pause':
      return 'nothing new begins; what runs goes on. "ouro batch resume" ends the pause.';
    case 'resume':
      return count === 0
        ? 'goes on.'
        : `goes on, with ${formatCount(count, 'task')} that ${count === 1 ? 'was' : 'were'} cancelled.`;
    case 'cancel':
      return count === 0
        ? 'nothing was left to cancel.'
        : `${formatCount(count, 'task')} cancelled; what runs is being ended.`;
    case 'retry':
      return count === 0
        ? 'nothing of it has failed.'
        : `${formatCount(count, 'task')} ${count === 1 ? 'begins' : 'begin'} again.`;
    default:
      return `may cost ${money(all)} in all.`;
  }
}
