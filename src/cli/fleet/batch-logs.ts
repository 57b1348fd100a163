import type { TaskView } from '../../contracts/fleet.ts';
import type { FleetStore } from '../../contracts/fleet-store.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { runningWords } from './batch-lines.ts';
import { theBatch, theTask, withStore } from './look-at-batch.ts';
import { type BatchWish, EXIT } from './run-batch.ts';

const EVERY_MS = 500;

/** `ouro batch logs ID TASK [-f]`: the conversation as it was handed in, and with `-f` what is being done meanwhile. */
export const showLogs = (wish: BatchWish): Promise<number> =>
  withStore(wish, async (store) => {
    const { words, flags, io, shutdown } = wish;
    const { id } = await theBatch(store, words[1]);
    const { key } = await theTask(store, id, words[2]);
    let isWanted = flags.follow === true;
    shutdown.guardWork({ graceMs: 2_000, abort: () => (isWanted = false) });
    let said = '';
    for (let task = await theTask(store, id, key); isWanted && isOpen(task); task = await theTask(store, id, key)) {
      const now = `${task.state}  ${task.doing ?? ''}`;
      if (now !== said)
        io.stdout.write(`${sanitize(`${task.state}  ${runningWords(task, await store.now())}`, 'line')}\n`);
      said = now;
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    return printTranscript(store, id, await theTask(store, id, key), wish);
  });

const isOpen = ({ state }: TaskView): boolean => state === 'waiting' || state === 'running' || state === 'held';

async function printTranscript(
  store: FleetStore,
  id: string,
  { key, title }: TaskView,
  { flags, io }: BatchWish,
): Promise<number> {
  const bytes = await store.file(id, key, 'transcript');
  if (bytes === undefined) {
    io.stderr.write('It has handed in no conversation yet. With -f you see what it does.\n');
    return EXIT.failed;
  }
  const text = Buffer.from(bytes).toString('utf8');
  if (flags.json === true) {
    io.stdout.write(text);
    return EXIT.done;
  }
  const { conversationText } = await import('../../app/replay/session-archive.ts');
  io.stdout.write(sanitize(conversationText(text, title), 'output'));
  return EXIT.done;
}
