import { mkdir, statfs } from 'node:fs/promises';
import type { Claim, LostTask, Micros } from '../../contracts/fleet.ts';
import type { FleetStore } from '../../contracts/fleet-store.ts';
import { formatBytes } from '../../lib/text/format.ts';
import { StoreAway } from '../stores/store-away.ts';
import { runAttempt } from './attempt.ts';
import type { TaskParts } from './task-parts.ts';

export type WorkerOptions = {
  readonly store: FleetStore;
  readonly name: string;
  readonly machine: string;
  readonly slots: number;
  readonly leaseMs: number;
  /** `once` runs one task; `empty` ends when nothing is left that could begin. */
  readonly until: 'stopped' | 'empty' | 'once';
  /** What is to happen when all that is left waits for quota or a key. */
  readonly atRest: 'waits' | 'ends';
  /** Only this batch. */
  readonly batch?: string;
  /** Where it works, and what has to stay free there. */
  readonly fleetFolder: string;
  readonly freeMegabytes: number;
  readonly signal: AbortSignal;
  readonly partsFor: (claim: Claim) => TaskParts;
  /** What the stored conversation of a lost task has cost, when it is on this machine. */
  readonly costOfLost: (task: LostTask) => Promise<Micros | undefined>;
  readonly say: (line: string) => void;
};

/** Why a worker has ended. */
export type WorkerEnd =
  | { readonly kind: 'stopped' | 'empty' | 'once' }
  /** What is left waits for money, or for quota and keys. */
  | { readonly kind: 'waits'; readonly for: 'money' | 'lane'; readonly words: string }
  /** This machine cannot work. */
  | { readonly kind: 'left'; readonly words: string };

const IDLE_MS = 1_000;
const BUSY_MS = 200;
const MOST_STRIKES = 3;
const MOST_BETWEEN_SWEEPS_MS = 5_000;

/** Takes tasks and runs them, so many at once, until there is a reason to end. What it runs when it ends goes back. */
export async function runWorker(options: WorkerOptions): Promise<WorkerEnd> {
  const { store, slots, leaseMs, signal, say } = options;
  const running = new Set<Promise<void>>();
  const claimer = {
    worker: options.name,
    machine: options.machine,
    leaseMs,
    ...(options.batch === undefined ? {} : { batch: options.batch }),
  };
  let strikes = 0;
  let began = 0;
  let troubled = '';
  const broom = broomOf(options);

  function begin(claim: Claim): void {
    began += 1;
    const work = runAttempt(claim, { ...options, onAway: broom.rest })
      .then(({ trouble, ending }) => {
        if (trouble?.kind === 'machine') {
          strikes += 1;
          troubled = trouble.words;
        } else if (ending.kind === 'done') strikes = 0;
      })
      // A fault of ours is the trouble of this worker, not of all the tasks it would still take.
      .catch((thrown: unknown) => {
        strikes = MOST_STRIKES;
        troubled = String(thrown);
      })
      .finally(() => running.delete(work));
    running.add(work);
  }

  async function look(): Promise<WorkerEnd | 'took one' | 'nothing'> {
    const full = await fullDisk(options);
    if (full !== undefined) return { kind: 'left', words: full };
    await broom.sweepWhenDue();
    const claim = await store.claim(claimer);
    if (claim !== undefined) {
      begin(claim);
      return 'took one';
    }
    return options.until === 'empty' && running.size === 0 ? nothingLeft(options) : 'nothing';
  }

  const ended = await (async (): Promise<WorkerEnd> => {
    for (;;) {
      if (signal.aborted) return { kind: 'stopped' };
      if (strikes >= MOST_STRIKES) return { kind: 'left', words: troubled };
      if (options.until === 'once' && began > 0) return { kind: 'once' };
      const seen = running.size >= slots ? 'nothing' : await look().catch(broom.onAway);
      if (seen === 'took one') continue;
      if (seen !== 'nothing') return seen;
      await pause(running, running.size >= slots ? 'full' : running.size > 0 ? 'some' : 'idle', signal);
    }
  })();
  await Promise.all(running);
  if (ended.kind === 'left') say(`This worker leaves: ${ended.words}`);
  return ended;
}

/** Takes back now and then what others have lost. */
function broomOf({ store, leaseMs, say, costOfLost }: WorkerOptions) {
  let dueAt = 0;
  let isAway = false;
  /** The others could not be heard of either: they have a lease to say that they live before anything is taken back. */
  const rest = () => {
    dueAt = performance.now() + leaseMs;
  };
  return {
    rest,
    async sweepWhenDue(): Promise<void> {
      if (performance.now() < dueAt) return;
      for (const task of await store.sweep()) {
        const cost = await costOfLost(task);
        if (cost !== undefined) await store.charge(task, cost);
      }
      isAway = false;
      dueAt = performance.now() + Math.min(leaseMs / 3, MOST_BETWEEN_SWEEPS_MS);
    },
    onAway(thrown: unknown): 'nothing' {
      if (!(thrown instanceof StoreAway)) throw thrown;
      if (!isAway) say(thrown.message);
      isAway = true;
      rest();
      return 'nothing';
    },
  };
}

/** Nothing runs here: has all come to an end, or does what is left wait for something? */
async function nothingLeft({ store, batch, atRest }: WorkerOptions): Promise<WorkerEnd | 'nothing'> {
  if (await store.isSettled(batch)) return { kind: 'empty' };
  const open = (await store.batches()).filter(
    ({ id, state, counts }) => state === 'open' && (batch ?? id) === id && counts.waiting + counts.running > 0,
  );
  const stuck = open.map(({ counts, waits }) => (counts.running > 0 ? undefined : waits[0]));
  const [first] = stuck;
  if (first === undefined || stuck.includes(undefined)) return 'nothing';
  if (first.kind === 'lane' && atRest === 'waits') return 'nothing';
  return { kind: 'waits', for: first.kind, words: first.words };
}

/** Until a task ends, until it is time to look again, or until the worker is to end. */
async function pause(
  running: ReadonlySet<Promise<void>>,
  how: 'full' | 'some' | 'idle',
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = how === 'full' ? undefined : setTimeout(resolve, how === 'idle' ? IDLE_MS : BUSY_MS);
  const onAbort = () => resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) resolve();
  await Promise.race([promise, ...running]);
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
}

async function fullDisk({ fleetFolder, freeMegabytes }: WorkerOptions): Promise<string | undefined> {
  await mkdir(fleetFolder, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(fleetFolder);
  const free = bavail * bsize;
  if (free >= freeMegabytes * 1e6) return undefined;
  return `only ${formatBytes(free)} are free where ${fleetFolder} is, and work needs ${freeMegabytes} MB. Make room, or change "freeMegabytes" in worker.json.`;
}
