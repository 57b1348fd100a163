import type { Beat, Claim } from '../../contracts/fleet.ts';
import type { FleetStore } from '../../contracts/fleet-store.ts';
import { StoreAway } from '../stores/store-away.ts';
import type { Throttle } from './child-lines.ts';
import { clearWork, runTask, type TaskEnd } from './run-task.ts';
import type { TaskParts } from './task-parts.ts';

export type AttemptParts = {
  readonly store: FleetStore;
  readonly leaseMs: number;
  /** Aborted when the worker is to end. */
  readonly signal: AbortSignal;
  readonly partsFor: (claim: Claim) => TaskParts;
  /** The store could not be reached. */
  readonly onAway: () => void;
  readonly say: (line: string) => void;
};

/** So often at least it is told what a task costs, and asked whether it is still wanted. */
const MOST_BETWEEN_BEATS_MS = 3_000;
const AWAY_PAUSE_MS = 500;
const LIMIT_WORDS: Readonly<Record<number, string>> = {
  429: 'the provider asks for fewer requests',
  529: 'the provider is busy',
};

/** Holds a claim from its first beat to its last: runs the task, shows that it lives, hands in what came of it. */
export async function runAttempt(claim: Claim, parts: AttemptParts): Promise<TaskEnd> {
  const { store, signal, partsFor } = parts;
  const stop = new AbortController();
  const timeLimit = setTimeout(() => stop.abort(TIME_IS_UP), claim.spec.minutes * 60_000);
  const onEnd = () => stop.abort('its worker was stopped');
  signal.addEventListener('abort', onEnd, { once: true });
  if (signal.aborted) onEnd();
  const heart = startHeart(claim, parts, (why) => stop.abort(why));
  try {
    const ears = { onBeat: heart.hear, onThrottle: (throttle: Throttle) => void coolLane(store, claim, throttle) };
    const end = inTime(await runTask(claim, partsFor(claim), ears, stop.signal), stop.signal);
    if (end.trouble?.kind === 'lane rests') {
      const { forMs, words } = end.trouble;
      const untilMs = (await persistent(() => store.now(), parts)) + forMs;
      await persistent(() => store.cool(claim.lane, { kind: 'rest', untilMs, words }), parts);
    }
    const kept = await persistent(() => store.finish(claim, end.ending, end.last, end.files), parts);
    if (kept === 'kept' && isOver(end)) await clearWork(claim, partsFor(claim));
    return end;
  } finally {
    heart.stop();
    clearTimeout(timeLimit);
    signal.removeEventListener('abort', onEnd);
  }
}

/** Nobody will go on in its folder. */
function isOver({ ending }: TaskEnd): boolean {
  return ending.kind === 'done' || (ending.kind === 'failed' && ending.again === 'never');
}

const TIME_IS_UP = 'it took longer than its minutes';

/** A task that was ended because of its time has failed; it is not given back. */
function inTime(end: TaskEnd, signal: AbortSignal): TaskEnd {
  if (!signal.aborted || signal.reason !== TIME_IS_UP) return end;
  return { ...end, ending: { kind: 'failed', reason: TIME_IS_UP, again: 'never' } };
}

/** A store that is away for a while keeps nobody from handing in what is done: it is paid for. */
async function persistent<Answer>(work: () => Promise<Answer>, { say, onAway }: AttemptParts): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof StoreAway)) throw thrown;
      onAway();
      if (tries === 1) say(`${thrown.message} What is done is kept and handed in later.`);
    }
    await new Promise((resolve) => setTimeout(resolve, AWAY_PAUSE_MS));
  }
}

async function coolLane(store: FleetStore, { lane }: Claim, { status, delayMs }: Throttle): Promise<void> {
  const words = `${LIMIT_WORDS[status] ?? 'the provider asks for patience'} (${status})`;
  try {
    await store.cool(lane, { kind: 'limit', untilMs: (await store.now()) + delayMs, words });
  } catch {
    // It is advice to others; the run itself waits in any case.
  }
}

/** `hear` is over when the store has heard it too, or could not be reached. */
type Heart = { readonly hear: (beat: Beat) => Promise<void>; readonly stop: () => void };

/**
 * Beats at once when there is something new, else now and then; one at a time. Not heard for a whole lease the attempt is
 * ended: another one may count by now, and nobody would see what this one goes on to spend.
 */
function startHeart(claim: Claim, { store, leaseMs, onAway }: AttemptParts, stop: (why: string) => void): Heart {
  let latest: Beat = { cost: 0 };
  let heardAt = performance.now();
  let beating: Promise<void> | undefined;
  let isStopped = false;
  async function tell(): Promise<void> {
    for (let told: Beat | undefined; !isStopped && (told === undefined || isNews(told, latest)); ) {
      told = latest;
      try {
        const answer = await store.beat(claim, told);
        heardAt = performance.now();
        if (answer === 'stop') stop('it was cancelled');
        if (answer === 'lost') stop('another attempt counts by now');
      } catch {
        // The next beat tries again, and the lease says for how long that may last.
        onAway();
        break;
      }
    }
    // At once: what is heard from here on begins another one.
    beating = undefined;
  }
  function beat(): Promise<void> {
    beating ??= tell();
    return beating;
  }
  const timer = setInterval(
    () => {
      if (performance.now() - heardAt > leaseMs) stop(`the queue was away for longer than ${leaseMs / 1000} s`);
      else void beat();
    },
    Math.min(leaseMs / 3, MOST_BETWEEN_BEATS_MS),
  );
  return {
    async hear(heard) {
      const before = latest;
      latest = { ...latest, ...heard };
      if (isNews(before, latest)) await beat();
    },
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

/** What is done at the moment can wait for the next beat. */
function isNews(before: Beat, after: Beat): boolean {
  return before.cost !== after.cost || before.session !== after.session;
}
