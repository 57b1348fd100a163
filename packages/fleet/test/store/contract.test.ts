import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NO_POSTGRES, startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { isWholeRun } from '../../../../test/support/runs.ts';
import type { BatchTaskResult, NewBatch, NewBatchTask, TaskClaim } from '../../src/store/batch.ts';
import { postgresPair, type StorePair, sqlitePair } from '../support/fleet-stores.ts';

const DOLLAR = 1_000_000;
const LEASE_MS = 30_000;
const me = { worker: 'w1', machine: 'here', leaseMs: LEASE_MS };
const other = { worker: 'w2', machine: 'there', leaseMs: LEASE_MS };

let postgres: TestPostgres | undefined;
afterAll(() => postgres?.close());
if (NO_POSTGRES !== undefined) process.stderr.write(`\n${NO_POSTGRES}\n`);

const STORES = [
  { name: 'SQLite', open: sqlitePair, isMissing: false },
  { name: 'Postgres', open: openPostgresPair, isMissing: !isWholeRun || NO_POSTGRES !== undefined },
];

async function openPostgresPair(): Promise<StorePair> {
  postgres = await startPostgres();
  return postgresPair(postgres);
}

type PartialClaim<Value> = {
  readonly [Key in keyof Value]?: Value[Key] extends object | undefined ? PartialClaim<Value[Key]> : Value[Key];
};

/** Returns some fields of a claim, with their types checked. */
const claimLike = (expected: PartialClaim<TaskClaim>): PartialClaim<TaskClaim> => expected;

describe.each(STORES.filter(({ isMissing }) => !isMissing))('a store on $name', ({ open }) => {
  let pair: StorePair;
  beforeAll(async () => {
    pair = await open();
  });
  beforeEach(() => pair.empty());
  afterAll(() => pair.close());

  test('adds only what is missing, and a second submit adds nothing', async () => {
    expect(await pair.one.submit(batch(), [task('a'), task('b')])).toEqual({ added: 2, known: 0 });
    expect(await pair.two.submit(batch(), [task('a'), task('b'), task('c')])).toEqual({ added: 1, known: 2 });
    expect((await pair.one.getStatus('b1'))?.counts).toMatchObject({ waiting: 3 });
  });

  test('a submit of completed tasks starts nothing', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await pair.one.completeAttempt(await claimed(pair), done(), spent(0));
    await pair.one.submit(batch(), [task('a')]);
    expect(await pair.one.claim(me)).toBeUndefined();
  });

  test('returns urgent tasks first, then by age', async () => {
    await pair.one.submit(batch(), [task('a'), task('b'), task('c', { priority: 3 })]);
    const keys = [await claimed(pair), await claimed(pair), await claimed(pair)].map(({ key }) => key);
    expect(keys).toEqual(['c', 'a', 'b']);
  });

  test('the urgent batch goes first', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await pair.one.submit(batch({ id: 'b2', priority: 9 }), [task('a')]);
    expect((await claimed(pair)).batch).toBe('b2');
  });

  test('a claimed task is given to no other worker', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await claimed(pair);
    expect(await pair.two.claim(other)).toBeUndefined();
  });

  test('of many simultaneous claims each task goes to one, and never more than the limit run at once', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    await pair.one.submit(
      batch({ atOnce: 3 }),
      keys.map((key) => task(key)),
    );
    const asked = await Promise.all(keys.flatMap(() => [pair.one.claim(me), pair.two.claim(other)]));
    const got = asked.filter((claim) => claim !== undefined);
    expect(got).toHaveLength(3);
    expect(new Set(got.map(({ key }) => key)).size).toBe(3);
  });

  test('a claim has the prompt, the attempt and the cost limit', async () => {
    await pair.one.submit(batch(), [task('a', { signature: 'signed' })]);
    expect(await claimed(pair)).toMatchObject(
      claimLike({
        batch: 'b1',
        key: 'a',
        spec: task('a').spec,
        signature: 'signed',
        attempt: 1,
        budget: DOLLAR,
        previousAttempt: undefined,
      }),
    );
  });

  test('a finished task is done, with its result and cost', async () => {
    await pair.one.submit(batch(), [task('a')]);
    expect(await pair.one.completeAttempt(await claimed(pair), done(), spent(0.25))).toBe('kept');
    expect(await pair.two.listTasks('b1')).toMatchObject([
      { key: 'a', state: 'done', tries: 1, cost: 0.25 * DOLLAR, session: 's1', machine: 'here', result: RESULT },
    ]);
    expect(await pair.two.isSettled('b1')).toBe(true);
  });

  test('a result handed in twice counts once', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const claim = await claimed(pair);
    await pair.one.completeAttempt(claim, done(), spent(0.25));
    expect(await pair.one.completeAttempt(claim, done(), spent(0.25))).toBe('kept');
    expect((await pair.one.getStatus('b1'))?.spent).toBe(0.25 * DOLLAR);
  });

  test('heartbeats report cost, session and activity', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const claim = await claimed(pair);
    expect(await pair.one.sendHeartbeat(claim, { cost: 5, session: 's9', doing: 'Edit a.ts' })).toBe('continue');
    expect(await pair.two.listTasks('b1')).toMatchObject([{ cost: 5, doing: 'Edit a.ts', state: 'running' }]);
  });

  test('heartbeats extend the lease', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const claim = await claimed(pair);
    await pair.later(LEASE_MS - 5_000);
    await pair.one.sendHeartbeat(claim, spent(0));
    await pair.later(LEASE_MS - 5_000);
    expect(await pair.two.reclaimExpired()).toHaveLength(0);
  });

  test('a worker never takes its own tasks for lost', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const claim = await claimed(pair);
    await pair.later(LEASE_MS + 1_000);
    expect(await pair.one.reclaimExpired(me.worker)).toEqual([]);
    expect(await pair.one.sendHeartbeat(claim, spent(0))).toBe('continue');
    expect(await pair.two.reclaimExpired(other.worker)).toEqual([]);
  });

  test('a claim skips lanes that its machine cannot serve', async () => {
    await pair.one.submit(batch(), [task('a'), task('b', { lane: 'other' })]);
    expect(await pair.one.claim({ ...me, exceptLanes: ['anthropic'] })).toMatchObject({ key: 'b' });
    expect(await pair.one.claim({ ...me, exceptLanes: ['anthropic', 'other'] })).toBeUndefined();
    expect(await pair.two.claim(other)).toMatchObject({ key: 'a' });
  });

  test('after an outage of a lane one task is tried first', async () => {
    await pair.one.submit(batch(), [task('a'), task('b')]);
    const untilMs = (await pair.one.getTime()) + 30_000;
    await pair.one.pauseLane('anthropic', { kind: 'outage', untilMs, words: 'the provider has an outage (503)' });
    expect(await pair.one.claim(me)).toBeUndefined();
    expect((await pair.one.getStatus('b1'))?.waits).toMatchObject([
      { kind: 'lane', words: 'the provider has an outage (503)' },
    ]);
    await pair.later(31_000);
    expect(await pair.one.claim(me)).toMatchObject({ key: 'a' });
    expect(await pair.two.claim(other)).toBeUndefined();
  });

  test('of two batches with the same priority, the one with fewer running tasks goes first', async () => {
    await pair.one.submit(batch(), [task('a'), task('b'), task('c')]);
    await pair.one.submit(batch({ id: 'b2' }), [task('a'), task('b')]);
    const order = [await claimed(pair), await claimed(pair), await claimed(pair), await claimed(pair)];
    expect(order.map((claim) => claim.batch)).toEqual(['b1', 'b2', 'b1', 'b2']);
  });

  test('a lost task returns, and its next attempt knows the previous session', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await pair.one.sendHeartbeat(await claimed(pair), spent(0.1));
    await pair.later(LEASE_MS + 1_000);
    expect(await pair.two.reclaimExpired()).toHaveLength(1);
    expect(await pair.two.claim(other)).toMatchObject(
      claimLike({
        key: 'a',
        attempt: 2,
        budget: 0.9 * DOLLAR,
        previousAttempt: { session: 's1', machine: 'here' },
      }),
    );
  });

  test('lost, failed and returned tasks go before new ones', async () => {
    await pair.one.submit(batch(), [task('a'), task('b'), task('c'), task('d'), task('e')]);
    await claimed(pair);
    await pair.later(LEASE_MS + 1_000);
    await pair.one.reclaimExpired();
    const [first, second, third] = [await claimed(pair), await claimed(pair), await claimed(pair)];
    expect([first.key, second.key, third.key]).toEqual(['a', 'b', 'c']);
    await pair.one.completeAttempt(third, { kind: 'back', reason: 'stopped', afterMs: 0 }, spent(0));
    await pair.one.completeAttempt(second, failed(), spent(0));
    await pair.later(5_000);
    expect([(await claimed(pair)).key, (await claimed(pair)).key]).toEqual(['b', 'c']);
  });

  test('two simultaneous sweeps return a lost task once', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await claimed(pair);
    await pair.later(LEASE_MS + 1_000);
    const swept = await Promise.all([pair.one.reclaimExpired(), pair.two.reclaimExpired()]);
    expect(swept.flat()).toEqual([{ batch: 'b1', key: 'a', machine: 'here', session: undefined }]);
    expect(await pair.one.listTasks('b1')).toMatchObject([{ tries: 1 }]);
  });

  test('a late result is refused and reported, and only its cost is added, once', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const late = await claimed(pair);
    await pair.one.sendHeartbeat(late, spent(0.1));
    await pair.later(LEASE_MS + 1_000);
    await pair.two.reclaimExpired();
    const next = await claimed(pair);
    expect(await pair.one.sendHeartbeat(late, spent(0.2))).toBe('lost');
    expect(await pair.one.completeAttempt(late, done(), spent(0.3))).toBe('late');
    expect(await pair.one.completeAttempt(late, done(), spent(0.3))).toBe('late');
    expect(await pair.two.completeAttempt(next, done(), spent(0.2))).toBe('kept');
    expect((await pair.one.getStatus('b1'))?.spent).toBe(0.5 * DOLLAR);
    expect((await pair.one.listAttempts('b1', 'a')).map(({ outcome }) => outcome)).toEqual(['lost', 'done']);
  });

  test('unreported cost of a lost attempt is booked once, and not while another attempt runs', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await pair.one.sendHeartbeat(await claimed(pair), spent(0.1));
    await pair.later(LEASE_MS + 1_000);
    const [lost] = await pair.one.reclaimExpired();
    if (lost === undefined) throw new Error('Nothing was lost.');
    expect(lost.session).toBe('s1');
    for (const store of [pair.one, pair.two]) await store.setTotalCost(lost, 0.4 * DOLLAR);
    expect((await pair.one.getStatus('b1'))?.spent).toBe(0.4 * DOLLAR);
    expect(await claimed(pair)).toMatchObject(claimLike({ budget: 0.6 * DOLLAR, earlierCost: 0.4 * DOLLAR }));
    await pair.one.setTotalCost(lost, 0.5 * DOLLAR);
    expect((await pair.one.getStatus('b1'))?.spent).toBe(0.4 * DOLLAR);
  });

  test('a task lost in each attempt fails, and does not continue for ever', async () => {
    await pair.one.submit(batch({ attempts: 2 }), [task('a')]);
    for (const _ of [1, 2]) {
      await claimed(pair);
      await pair.later(LEASE_MS + 1_000);
      await pair.one.reclaimExpired();
    }
    expect(await pair.one.claim(me)).toBeUndefined();
    expect(await pair.one.listTasks('b1')).toMatchObject([{ state: 'failed', tries: 2 }]);
  });

  test('a task that would cost more than is left does not start, and the reason is shown', async () => {
    await pair.one.submit(batch({ all: 2.5 }), [task('a'), task('b'), task('c')]);
    const first = await claimed(pair);
    await claimed(pair);
    expect(await pair.two.claim(other)).toBeUndefined();
    expect(await pair.one.getStatus('b1')).toMatchObject({ reserved: 2 * DOLLAR, waits: [{ kind: 'money' }] });
    await pair.one.completeAttempt(first, done(), spent(0.2));
    expect(await pair.two.claim(other)).toMatchObject({ key: 'c' });
  });

  test('a cheaper task starts although a more expensive one comes first', async () => {
    await pair.one.submit(batch({ all: 3 }), [task('x'), task('dear'), task('cheap')]);
    const [first, dear, cheap] = [await claimed(pair), await claimed(pair), await claimed(pair)];
    await pair.one.completeAttempt(first, done(), spent(1.5));
    await pair.one.completeAttempt(cheap, failed(), spent(0.7));
    await pair.one.completeAttempt(dear, { kind: 'back', reason: 'stopped', afterMs: 0 }, spent(0));
    await pair.later(5_000);
    expect(await claimed(pair)).toMatchObject({ key: 'cheap', budget: 0.3 * DOLLAR });
    expect((await pair.one.getStatus('b1'))?.waits).toMatchObject([
      { kind: 'money' },
      { kind: 'returned', tasks: 1, words: 'stopped' },
    ]);
    await pair.one.applyCommand('b1', { command: 'budget', more: DOLLAR });
    expect((await claimed(pair)).key).toBe('dear');
  });

  test('a larger budget lets it continue', async () => {
    await pair.one.submit(batch({ all: 0.5 }), [task('a')]);
    expect(await pair.one.claim(me)).toBeUndefined();
    await pair.two.applyCommand('b1', { command: 'budget', more: DOLLAR });
    expect(await pair.one.claim(me)).toMatchObject({ key: 'a' });
  });

  test('a task has one budget for all its attempts', async () => {
    await pair.one.submit(batch({ all: 1 }), [task('a')]);
    await pair.one.completeAttempt(await claimed(pair), failed(), spent(0.7));
    await pair.later(5_000);
    expect((await claimed(pair)).budget).toBe(0.3 * DOLLAR);
  });

  test('a failure is retried after a pause, while attempts are left', async () => {
    await pair.one.submit(batch({ attempts: 2 }), [task('a')]);
    await pair.one.completeAttempt(await claimed(pair), failed(), spent(0));
    expect(await pair.one.claim(me)).toBeUndefined();
    await pair.later(5_000);
    await pair.one.completeAttempt(await claimed(pair), failed(), spent(0));
    await pair.later(60_000);
    expect(await pair.one.claim(me)).toBeUndefined();
    expect(await pair.one.listTasks('b1')).toMatchObject([{ state: 'failed', tries: 2, reason: 'no luck' }]);
  });

  test('a final failure is not retried', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await pair.one.completeAttempt(await claimed(pair), { ...failed(), again: 'never' }, spent(0));
    await pair.later(60_000);
    expect(await pair.one.claim(me)).toBeUndefined();
    expect(await pair.one.isSettled()).toBe(true);
  });

  test('a returned task uses up no attempt, and its cost counts', async () => {
    await pair.one.submit(batch({ attempts: 1 }), [task('a')]);
    await pair.one.completeAttempt(await claimed(pair), { kind: 'back', reason: 'no room', afterMs: 0 }, spent(0.1));
    expect(await pair.one.listTasks('b1')).toMatchObject([
      { state: 'waiting', tries: 0, reason: 'no room', cost: 0.1 * DOLLAR },
    ]);
    expect(await claimed(pair)).toMatchObject(claimLike({ attempt: 1, previousAttempt: { session: 's1' } }));
  });

  test('failed tasks start again on request', async () => {
    await pair.one.submit(batch(), [task('a'), task('b')]);
    await pair.one.completeAttempt(await claimed(pair), { ...failed(), again: 'never' }, spent(0));
    await pair.one.completeAttempt(await claimed(pair), { ...failed(), again: 'never' }, spent(0));
    expect(await pair.two.applyCommand('b1', { command: 'retry', keys: ['b'] })).toBe(1);
    expect(await claimed(pair)).toMatchObject(claimLike({ key: 'b', attempt: 1, previousAttempt: { session: 's1' } }));
    expect(await pair.one.claim(me)).toBeUndefined();
  });

  test('the summary waits until everything else has ended, failures included, and starts once', async () => {
    await pair.one.submit(batch(), [task('a'), task('b'), task('z', { kind: 'summary' })]);
    const first = await claimed(pair);
    await pair.one.completeAttempt(await claimed(pair), { ...failed(), again: 'never' }, spent(0));
    expect(await pair.one.claim(me)).toBeUndefined();
    await pair.one.completeAttempt(first, done(), spent(0));
    const summaries = await Promise.all([pair.one.claim(me), pair.two.claim(other)]);
    expect(summaries.filter((one) => one !== undefined)).toMatchObject([{ key: 'z', kind: 'summary' }]);
  });

  test('the summary waits again when work starts again', async () => {
    await pair.one.submit(batch(), [task('a'), task('z', { kind: 'summary' })]);
    await pair.one.completeAttempt(await claimed(pair), { ...failed(), again: 'never' }, spent(0));
    await pair.one.completeAttempt(await claimed(pair), done(), spent(0));
    await pair.one.applyCommand('b1', { command: 'retry' });
    expect((await claimed(pair)).key).toBe('a');
    expect((await pair.one.getStatus('b1'))?.counts).toMatchObject({ held: 1, running: 1 });
  });

  test('a cancel reaches running tasks, and none of them counts as failed', async () => {
    await pair.one.submit(batch(), [task('a'), task('b')]);
    const running = await claimed(pair);
    expect(await pair.two.applyCommand('b1', { command: 'cancel' })).toBe(2);
    expect(await pair.one.sendHeartbeat(running, spent(0.1))).toBe('stop');
    await pair.one.completeAttempt(running, { kind: 'back', reason: 'stopped', afterMs: 0 }, spent(0.1));
    expect((await pair.one.getStatus('b1'))?.counts).toMatchObject({ cancelled: 2, failed: 0 });
    expect(await pair.one.isSettled()).toBe(true);
  });

  test('a cancelled task continues with its session', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const running = await claimed(pair);
    await pair.one.applyCommand('b1', { command: 'cancel' });
    await pair.one.completeAttempt(running, { kind: 'back', reason: 'stopped', afterMs: 0 }, spent(0.1));
    await pair.one.applyCommand('b1', { command: 'resume' });
    expect(await claimed(pair)).toMatchObject(claimLike({ key: 'a', previousAttempt: { session: 's1' } }));
  });

  test('continuing before the cancel was noticed takes the task from its holder', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const old = await claimed(pair);
    await pair.one.sendHeartbeat(old, spent(0.1));
    await pair.two.applyCommand('b1', { command: 'cancel' });
    await pair.two.applyCommand('b1', { command: 'resume' });
    const next = await claimed(pair);
    expect(next).toMatchObject(claimLike({ key: 'a', previousAttempt: { session: 's1' }, earlierCost: 0.1 * DOLLAR }));
    expect(await pair.one.sendHeartbeat(old, spent(0.2))).toBe('lost');
    const stopped = { kind: 'back', reason: 'it was cancelled', afterMs: 0 } as const;
    expect(await pair.one.completeAttempt(old, stopped, spent(0.2))).toBe('late');
    expect(await pair.one.sendHeartbeat(next, spent(0))).toBe('continue');
    expect(await pair.one.completeAttempt(next, done(), spent(0.3))).toBe('kept');
    expect(await pair.two.getStatus('b1')).toMatchObject({ counts: { done: 1 }, spent: 0.5 * DOLLAR });
  });

  test('one task is cancelled, the others continue', async () => {
    await pair.one.submit(batch(), [task('a'), task('b')]);
    await pair.one.applyCommand('b1', { command: 'cancel', keys: ['a'] });
    expect((await claimed(pair)).key).toBe('b');
    expect(await pair.one.claim(me)).toBeUndefined();
  });

  test('nothing starts while a batch is paused; running tasks continue', async () => {
    await pair.one.submit(batch(), [task('a'), task('b')]);
    const running = await claimed(pair);
    await pair.two.applyCommand('b1', { command: 'pause' });
    expect(await pair.one.claim(me)).toBeUndefined();
    expect(await pair.one.sendHeartbeat(running, spent(0))).toBe('continue');
    await pair.two.applyCommand('b1', { command: 'resume' });
    expect((await claimed(pair)).key).toBe('b');
  });

  test('a paused lane starts nothing, and shows the reason and end', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const untilMs = (await pair.one.getTime()) + 60_000;
    await pair.one.pauseLane('anthropic', { kind: 'rest', untilMs, words: 'the quota is used up' });
    expect(await pair.two.claim(other)).toBeUndefined();
    expect((await pair.two.getStatus('b1'))?.waits).toMatchObject([
      { kind: 'lane', lane: 'anthropic', words: 'the quota is used up' },
    ]);
    await pair.later(61_000);
    expect(await pair.two.claim(other)).toMatchObject({ key: 'a' });
  });

  test('another lane continues meanwhile', async () => {
    await pair.one.submit(batch(), [task('a'), task('b', { lane: 'ollama' })]);
    await pair.one.pauseLane('anthropic', { kind: 'rest', untilMs: (await pair.one.getTime()) + 60_000, words: 'no' });
    expect((await claimed(pair)).key).toBe('b');
  });

  test('a rate limit halves the concurrency, and each quiet minute adds one', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    await pair.one.submit(
      batch(),
      keys.map((key) => task(key)),
    );
    const running = [await claimed(pair), await claimed(pair), await claimed(pair), await claimed(pair)];
    const now = await pair.one.getTime();
    await pair.one.pauseLane('anthropic', { kind: 'limit', untilMs: now + 1_000, words: 'too many requests' });
    await pair.later(2_000);
    for (const claim of running.slice(0, 2)) await pair.one.completeAttempt(claim, done(), spent(0));
    expect(await pair.one.claim(me)).toBeUndefined();
    await pair.later(61_000);
    expect(await pair.one.claim(me)).toMatchObject({ key: 'e' });
    expect(await pair.one.claim(me)).toBeUndefined();
  });

  test('files are returned byte for byte', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const patch = new Uint8Array(300_000).map((_, at) => (at * 7) % 256);
    const claim = await claimed(pair);
    await pair.one.storeFile(claim, 'unfinished', new Uint8Array([0, 255, 10]));
    await pair.one.completeAttempt(claim, done(), spent(0), { patch, transcript: new Uint8Array() });
    expect(Buffer.from((await pair.two.readFile('b1', 'a', 'patch')) ?? []).equals(Buffer.from(patch))).toBe(true);
    expect([...((await pair.two.readFile('b1', 'a', 'unfinished')) ?? [])]).toEqual([0, 255, 10]);
    expect(await pair.two.readFile('b1', 'b', 'patch')).toBeUndefined();
  });

  test('an obsolete attempt changes no file', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const late = await claimed(pair);
    await pair.later(LEASE_MS + 1_000);
    await pair.two.reclaimExpired();
    await pair.one.completeAttempt(await claimed(pair), done(), spent(0), { transcript: new Uint8Array([1]) });
    await pair.one.storeFile(late, 'transcript', new Uint8Array([2]));
    expect([...((await pair.two.readFile('b1', 'a', 'transcript')) ?? [])]).toEqual([1]);
  });

  test('a clock that is set back does not hide lost workers', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await claimed(pair);
    await pair.later(-3_600_000);
    expect(await pair.two.reclaimExpired()).toHaveLength(0);
    await pair.later(LEASE_MS + 1_000);
    expect(await pair.two.reclaimExpired()).toHaveLength(1);
  });

  test('lists its batches, the newest first, with the expected cost', async () => {
    await pair.one.submit(batch(), [task('a'), task('b'), task('c'), task('d')]);
    for (const cost of [0.1, 0.4, 0.2]) await pair.one.completeAttempt(await claimed(pair), done(), spent(cost));
    await pair.later(1);
    await pair.one.submit(batch({ id: 'b2' }), [task('a')]);
    expect(await pair.two.listBatches()).toMatchObject([
      { id: 'b2', expected: undefined },
      { id: 'b1', expected: 0.2 * DOLLAR, spent: 700_000 },
    ]);
  });

  test('the result of an equal task in another batch is reused', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await pair.one.completeAttempt(await claimed(pair), done(), spent(0.5), { patch: new Uint8Array([7]) });
    await pair.one.submit(batch({ id: 'b2' }), [task('a'), task('b'), task('z', { kind: 'summary' })]);
    expect(await pair.two.reuseResults('b2')).toBe(1);
    expect(await pair.two.reuseResults('b2')).toBe(0);
    expect(await pair.two.listTasks('b2', ['done'])).toMatchObject([
      { key: 'a', cost: 0, result: RESULT, session: 's1' },
    ]);
    expect([...((await pair.two.readFile('b2', 'a', 'patch')) ?? [])]).toEqual([7]);
    const next = await claimed(pair);
    expect([next.batch, next.key]).toEqual(['b2', 'b']);
    await pair.one.completeAttempt(next, done(), spent(0));
    expect((await claimed(pair)).key).toBe('z');
  });

  test('a deleted batch leaves no data, and can be started again', async () => {
    await pair.one.submit(batch(), [task('a'), task('b')]);
    await pair.one.submit(batch({ id: 'b2' }), [task('a')]);
    const held = await claimed(pair);
    expect(await pair.two.deleteBatch('b1', me)).toBe('in-use');
    await pair.one.completeAttempt(held, done(), spent(0.1), { patch: new Uint8Array([1]) });
    expect(await pair.two.deleteBatch('b1', me)).toBe('removed');
    expect(await pair.one.completeAttempt(held, done(), spent(0.1))).toBe('late');
    expect((await pair.one.listBatches()).map(({ id }) => id)).toEqual(['b2']);
    expect([await pair.one.readFile('b1', 'a', 'patch'), await pair.one.listAttempts('b1', 'a')]).toEqual([
      undefined,
      [],
    ]);
    await pair.one.acknowledgeDeletion({ batch: 'b1', installation: me.machine });
    expect(await pair.one.submit(batch({ priority: 9 }), [task('a')])).toEqual({ added: 1, known: 0 });
    expect(await claimed(pair)).toMatchObject(
      claimLike({ batch: 'b1', key: 'a', attempt: 1, previousAttempt: undefined }),
    );
  });

  test('each installation that worked on a deleted batch has its files to delete, and claims nothing of it before', async () => {
    const mine = { ...me, installation: 'i1' };
    const theirs = { ...other, installation: 'i2' };
    const place = { url: '/repos/one', commit: 'c'.repeat(40), folder: 'sub' };
    const tasks = [task('a'), { ...task('b'), spec: { ...task('b').spec, place } }];
    await pair.one.submit(batch(), tasks);
    for (const claimer of [mine, theirs]) {
      const claim = await pair.one.claim(claimer);
      if (claim === undefined) throw new Error('There was nothing to claim.');
      await pair.one.completeAttempt(claim, done(), spent(0));
    }
    expect(await pair.one.deleteBatch('b1', { machine: 'desk', installation: 'i3' })).toBe('removed');
    const [a, b] = [
      { key: 'a', folder: '' },
      { key: 'b', folder: 'sub', url: '/repos/one' },
    ];
    expect(await pair.two.listDeletions()).toMatchObject([
      { batch: 'b1', installation: 'i3', machine: 'desk', tasks: [a, b] },
      { batch: 'b1', installation: 'i1', machine: 'here', tasks: [a] },
      { batch: 'b1', installation: 'i2', machine: 'there', tasks: [b] },
    ]);
    // The same batch again begins elsewhere at once, and here as soon as the old folders are gone.
    await pair.one.submit(batch(), tasks);
    expect(await pair.one.claim(theirs)).toBeUndefined();
    expect(await pair.two.claim({ ...other, installation: 'i4' })).toMatchObject({ key: 'a' });
    const [deletion] = await pair.two.listDeletions(theirs);
    if (deletion === undefined) throw new Error('There was no deletion.');
    await pair.one.acknowledgeDeletion(deletion);
    expect(await pair.two.listDeletions(theirs)).toEqual([]);
    expect(await pair.two.listDeletions(mine)).toHaveLength(1);
    expect(await pair.one.claim(theirs)).toMatchObject({ key: 'b' });
  });

  test('a machine that has not come back after ninety days is forgotten at the next deletion', async () => {
    const desk = { machine: 'desk', installation: 'i3' };
    await pair.one.submit(batch(), [task('a')]);
    await pair.one.deleteBatch('b1', desk);
    for (const [days, left] of [
      [89, ['b1', 'b2']],
      [2, ['b2', 'b3']],
    ] as const) {
      await pair.later(days * 86_400_000);
      const id = left[1];
      await pair.one.submit(batch({ id }), [task('a')]);
      await pair.one.deleteBatch(id, desk);
      expect((await pair.two.listDeletions()).map((deletion) => deletion.batch)).toEqual(left);
    }
  });

  test('attempts of workers that knew no installations are deleted by the name of their machine', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await pair.one.completeAttempt(await claimed(pair), done(), spent(0));
    await pair.one.deleteBatch('b1', { machine: 'desk', installation: 'i3' });
    expect(await pair.two.listDeletions({ machine: 'here', installation: 'i1' })).toMatchObject([{ machine: 'here' }]);
  });

  test('a command for an unknown batch is refused', async () => {
    await expect(pair.one.applyCommand('nope', { command: 'pause' })).rejects.toThrow('There is no batch nope.');
  });

  async function claimed({ one }: StorePair): Promise<TaskClaim> {
    const claim = await one.claim(me);
    if (claim === undefined) throw new Error('There was nothing to claim.');
    return claim;
  }
});

const RESULT: BatchTaskResult = {
  answer: 'It is done.',
  verified: 'yes',
  turns: 2,
  machine: 'here',
  session: 's1',
  denials: 0,
  stat: { files: 1, added: 1, removed: 0 },
  notes: [],
};

const done = () => ({ kind: 'done', result: RESULT }) as const;
const failed = () => ({ kind: 'failed', reason: 'no luck', again: 'if-attempts-left' }) as const;
const spent = (dollars: number) => ({ cost: dollars * DOLLAR, session: 's1' });

type BatchInput = {
  readonly id?: string;
  readonly priority?: number;
  readonly all?: number;
  readonly atOnce?: number;
  readonly attempts?: number;
};

function batch({ id = 'b1', priority = 0, all = 100, atOnce = 8, attempts = 3 }: BatchInput = {}): NewBatch {
  const limits = { each: DOLLAR, all: all * DOLLAR, attempts, atOnce };
  return { id, name: 'work', limits, priority, collect: { as: 'patches', name: 'work' } };
}

function task(key: string, more: Partial<NewBatchTask> = {}): NewBatchTask {
  const spec = {
    prompt: `Do ${key}`,
    mode: 'acceptEdits',
    allowedTools: ['Edit'],
    disallowedTools: [],
    env: [],
    minutes: 45,
  };
  return { key, title: key, spec, lane: 'anthropic', kind: 'work', priority: 0, ...more };
}
