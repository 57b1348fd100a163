import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Claim, NewBatch, NewTask, TaskResult } from '../../../src/contracts/fleet.ts';
import { postgresPair, type StorePair, sqlitePair } from '../../support/fleet-stores.ts';
import { NO_POSTGRES, startPostgres, type TestPostgres } from '../../support/postgres.ts';
import { isWholeRun } from '../../support/runs.ts';

const DOLLAR = 1_000_000;
const LEASE_MS = 30_000;
const me = { worker: 'w1', machine: 'here', leaseMs: LEASE_MS };
const other = { worker: 'w2', machine: 'there', leaseMs: LEASE_MS };

let postgres: TestPostgres | undefined;
afterAll(() => postgres?.close());
if (NO_POSTGRES !== undefined) process.stderr.write(`\n${NO_POSTGRES}\n`);

const STORES = [
  { name: 'SQLite', open: sqlitePair, isMissing: false },
  { name: 'pg-boss on Postgres', open: openPostgresPair, isMissing: !isWholeRun || NO_POSTGRES !== undefined },
];

async function openPostgresPair(): Promise<StorePair> {
  postgres = await startPostgres();
  return postgresPair(postgres);
}

describe.each(STORES.filter(({ isMissing }) => !isMissing))('a store on $name', ({ open }) => {
  let pair: StorePair;
  beforeAll(async () => {
    pair = await open();
  }, 60_000);
  beforeEach(() => pair.empty());
  afterAll(() => pair.close());

  test('adds what is not there yet, and the same again adds nothing', async () => {
    expect(await pair.one.submit(batch(), [task('a'), task('b')])).toEqual({ added: 2, known: 0 });
    expect(await pair.two.submit(batch(), [task('a'), task('b'), task('c')])).toEqual({ added: 1, known: 2 });
    expect((await pair.one.status('b1'))?.counts).toMatchObject({ waiting: 3 });
  });

  test('a submit of what is done already begins nothing', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await pair.one.finish(await claimed(pair), done(), spent(0));
    await pair.one.submit(batch(), [task('a')]);
    expect(await pair.one.claim(me)).toBeUndefined();
  });

  test('gives the urgent first, then in the order they came', async () => {
    await pair.one.submit(batch(), [task('a'), task('b'), task('c', { priority: 3 })]);
    const keys = [await claimed(pair), await claimed(pair), await claimed(pair)].map(({ key }) => key);
    expect(keys).toEqual(['c', 'a', 'b']);
  });

  test('the urgent batch goes first', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await pair.one.submit(batch({ id: 'b2', priority: 9 }), [task('a')]);
    expect((await claimed(pair)).batch).toBe('b2');
  });

  test('nobody gets a task that somebody has', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await claimed(pair);
    expect(await pair.two.claim(other)).toBeUndefined();
  });

  test('of many who ask at once each task goes to one, and never more than may run at once', async () => {
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

  test('a claim says what is asked, which attempt it is and what it may cost', async () => {
    await pair.one.submit(batch(), [task('a', { signature: 'signed' })]);
    expect(await claimed(pair)).toMatchObject({
      batch: 'b1',
      key: 'a',
      spec: task('a').spec,
      signature: 'signed',
      attempt: 1,
      budget: DOLLAR,
      before: undefined,
    });
  });

  test('what is finished is done, with its result and its money', async () => {
    await pair.one.submit(batch(), [task('a')]);
    expect(await pair.one.finish(await claimed(pair), done(), spent(0.25))).toBe('kept');
    expect(await pair.two.tasks('b1')).toMatchObject([
      { key: 'a', state: 'done', tries: 1, cost: 0.25 * DOLLAR, session: 's1', machine: 'here', result: RESULT },
    ]);
    expect(await pair.two.isSettled('b1')).toBe(true);
  });

  test('a result that is handed in twice counts once', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const claim = await claimed(pair);
    await pair.one.finish(claim, done(), spent(0.25));
    expect(await pair.one.finish(claim, done(), spent(0.25))).toBe('kept');
    expect((await pair.one.status('b1'))?.spent).toBe(0.25 * DOLLAR);
  });

  test('beats tell the money, the session and what is being done', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const claim = await claimed(pair);
    expect(await pair.one.beat(claim, { cost: 5, session: 's9', doing: 'Edit a.ts' })).toBe('go on');
    expect(await pair.two.tasks('b1')).toMatchObject([{ cost: 5, doing: 'Edit a.ts', state: 'running' }]);
  });

  test('who beats keeps the task beyond the lease', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const claim = await claimed(pair);
    await pair.later(LEASE_MS - 5_000);
    await pair.one.beat(claim, spent(0));
    await pair.later(LEASE_MS - 5_000);
    expect(await pair.two.sweep()).toHaveLength(0);
  });

  test('a lost task comes back, and its next attempt knows the session before', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await pair.one.beat(await claimed(pair), spent(0.1));
    await pair.later(LEASE_MS + 1_000);
    expect(await pair.two.sweep()).toHaveLength(1);
    expect(await pair.two.claim(other)).toMatchObject({
      key: 'a',
      attempt: 2,
      budget: 0.9 * DOLLAR,
      before: { session: 's1', machine: 'here' },
    });
  });

  test('what was lost, failed or given back goes before what has not begun', async () => {
    await pair.one.submit(batch(), [task('a'), task('b'), task('c'), task('d'), task('e')]);
    await claimed(pair);
    await pair.later(LEASE_MS + 1_000);
    await pair.one.sweep();
    const [first, second, third] = [await claimed(pair), await claimed(pair), await claimed(pair)];
    expect([first.key, second.key, third.key]).toEqual(['a', 'b', 'c']);
    await pair.one.finish(third, { kind: 'back', reason: 'stopped', afterMs: 0 }, spent(0));
    await pair.one.finish(second, failed(), spent(0));
    await pair.later(5_000);
    expect([(await claimed(pair)).key, (await claimed(pair)).key]).toEqual(['b', 'c']);
  });

  test('two who sweep at once take a lost task back once', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await claimed(pair);
    await pair.later(LEASE_MS + 1_000);
    const swept = await Promise.all([pair.one.sweep(), pair.two.sweep()]);
    expect(swept.flat()).toEqual([{ batch: 'b1', key: 'a', machine: 'here', session: undefined }]);
    expect(await pair.one.tasks('b1')).toMatchObject([{ tries: 1 }]);
  });

  test('a late result is refused, hears so, and only its money is added, once', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const late = await claimed(pair);
    await pair.one.beat(late, spent(0.1));
    await pair.later(LEASE_MS + 1_000);
    await pair.two.sweep();
    const next = await claimed(pair);
    expect(await pair.one.beat(late, spent(0.2))).toBe('lost');
    expect(await pair.one.finish(late, done(), spent(0.3))).toBe('late');
    expect(await pair.one.finish(late, done(), spent(0.3))).toBe('late');
    expect(await pair.two.finish(next, done(), spent(0.2))).toBe('kept');
    expect((await pair.one.status('b1'))?.spent).toBe(0.5 * DOLLAR);
    expect((await pair.one.attempts('b1', 'a')).map(({ outcome }) => outcome)).toEqual(['lost', 'done']);
  });

  test('what a lost attempt has cost beyond what it told is booked once, and not while another one runs', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await pair.one.beat(await claimed(pair), spent(0.1));
    await pair.later(LEASE_MS + 1_000);
    const [lost] = await pair.one.sweep();
    if (lost === undefined) throw new Error('Nothing was lost.');
    expect(lost.session).toBe('s1');
    for (const store of [pair.one, pair.two]) await store.charge(lost, 0.4 * DOLLAR);
    expect((await pair.one.status('b1'))?.spent).toBe(0.4 * DOLLAR);
    expect(await claimed(pair)).toMatchObject({ budget: 0.6 * DOLLAR, booked: 0.4 * DOLLAR });
    await pair.one.charge(lost, 0.5 * DOLLAR);
    expect((await pair.one.status('b1'))?.spent).toBe(0.4 * DOLLAR);
  });

  test('a task that is lost with each attempt fails, and does not go on for ever', async () => {
    await pair.one.submit(batch({ attempts: 2 }), [task('a')]);
    for (const _ of [1, 2]) {
      await claimed(pair);
      await pair.later(LEASE_MS + 1_000);
      await pair.one.sweep();
    }
    expect(await pair.one.claim(me)).toBeUndefined();
    expect(await pair.one.tasks('b1')).toMatchObject([{ state: 'failed', tries: 2 }]);
  });

  test('what would cost more than is left does not begin, and says so', async () => {
    await pair.one.submit(batch({ all: 2.5 }), [task('a'), task('b'), task('c')]);
    const first = await claimed(pair);
    await claimed(pair);
    expect(await pair.two.claim(other)).toBeUndefined();
    expect(await pair.one.status('b1')).toMatchObject({ reserved: 2 * DOLLAR, waits: [{ kind: 'money' }] });
    await pair.one.finish(first, done(), spent(0.2));
    expect(await pair.two.claim(other)).toMatchObject({ key: 'c' });
  });

  test('what needs less than is left begins, though something dearer stands before it', async () => {
    await pair.one.submit(batch({ all: 3 }), [task('x'), task('dear'), task('cheap')]);
    const [first, dear, cheap] = [await claimed(pair), await claimed(pair), await claimed(pair)];
    await pair.one.finish(first, done(), spent(1.5));
    await pair.one.finish(cheap, failed(), spent(0.7));
    await pair.one.finish(dear, { kind: 'back', reason: 'stopped', afterMs: 0 }, spent(0));
    await pair.later(5_000);
    expect(await claimed(pair)).toMatchObject({ key: 'cheap', budget: 0.3 * DOLLAR });
    expect((await pair.one.status('b1'))?.waits).toMatchObject([{ kind: 'money' }]);
    await pair.one.order('b1', { order: 'budget', more: DOLLAR });
    expect((await claimed(pair)).key).toBe('dear');
  });

  test('a larger budget lets it go on', async () => {
    await pair.one.submit(batch({ all: 0.5 }), [task('a')]);
    expect(await pair.one.claim(me)).toBeUndefined();
    await pair.two.order('b1', { order: 'budget', more: DOLLAR });
    expect(await pair.one.claim(me)).toMatchObject({ key: 'a' });
  });

  test('a task has one budget for all its attempts', async () => {
    await pair.one.submit(batch({ all: 1 }), [task('a')]);
    await pair.one.finish(await claimed(pair), failed(), spent(0.7));
    await pair.later(5_000);
    expect((await claimed(pair)).budget).toBe(0.3 * DOLLAR);
  });

  test('a failure is tried again after a pause, as often as attempts are left', async () => {
    await pair.one.submit(batch({ attempts: 2 }), [task('a')]);
    await pair.one.finish(await claimed(pair), failed(), spent(0));
    expect(await pair.one.claim(me)).toBeUndefined();
    await pair.later(5_000);
    await pair.one.finish(await claimed(pair), failed(), spent(0));
    await pair.later(60_000);
    expect(await pair.one.claim(me)).toBeUndefined();
    expect(await pair.one.tasks('b1')).toMatchObject([{ state: 'failed', tries: 2, reason: 'no luck' }]);
  });

  test('a final failure is not tried again', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await pair.one.finish(await claimed(pair), { ...failed(), again: 'never' }, spent(0));
    await pair.later(60_000);
    expect(await pair.one.claim(me)).toBeUndefined();
    expect(await pair.one.isSettled()).toBe(true);
  });

  test('what is given back uses up no attempt, and counts its money', async () => {
    await pair.one.submit(batch({ attempts: 1 }), [task('a')]);
    await pair.one.finish(await claimed(pair), { kind: 'back', reason: 'no room', afterMs: 0 }, spent(0.1));
    expect(await pair.one.tasks('b1')).toMatchObject([
      { state: 'waiting', tries: 0, reason: 'no room', cost: 0.1 * DOLLAR },
    ]);
    expect(await claimed(pair)).toMatchObject({ attempt: 1, before: { session: 's1' } });
  });

  test('failed tasks begin again when somebody says so', async () => {
    await pair.one.submit(batch(), [task('a'), task('b')]);
    await pair.one.finish(await claimed(pair), { ...failed(), again: 'never' }, spent(0));
    await pair.one.finish(await claimed(pair), { ...failed(), again: 'never' }, spent(0));
    expect(await pair.two.order('b1', { order: 'retry', keys: ['b'] })).toBe(1);
    expect(await claimed(pair)).toMatchObject({ key: 'b', attempt: 1, before: { session: 's1' } });
    expect(await pair.one.claim(me)).toBeUndefined();
  });

  test('the summary waits until all else is settled, failures included, and begins once', async () => {
    await pair.one.submit(batch(), [task('a'), task('b'), task('z', { kind: 'summary' })]);
    const first = await claimed(pair);
    await pair.one.finish(await claimed(pair), { ...failed(), again: 'never' }, spent(0));
    expect(await pair.one.claim(me)).toBeUndefined();
    await pair.one.finish(first, done(), spent(0));
    const summaries = await Promise.all([pair.one.claim(me), pair.two.claim(other)]);
    expect(summaries.filter((one) => one !== undefined)).toMatchObject([{ key: 'z', kind: 'summary' }]);
  });

  test('the summary waits anew when work begins again', async () => {
    await pair.one.submit(batch(), [task('a'), task('z', { kind: 'summary' })]);
    await pair.one.finish(await claimed(pair), { ...failed(), again: 'never' }, spent(0));
    await pair.one.finish(await claimed(pair), done(), spent(0));
    await pair.one.order('b1', { order: 'retry' });
    expect((await claimed(pair)).key).toBe('a');
    expect((await pair.one.status('b1'))?.counts).toMatchObject({ held: 1, running: 1 });
  });

  test('a cancel reaches what runs, and nothing of it counts as failed', async () => {
    await pair.one.submit(batch(), [task('a'), task('b')]);
    const running = await claimed(pair);
    expect(await pair.two.order('b1', { order: 'cancel' })).toBe(2);
    expect(await pair.one.beat(running, spent(0.1))).toBe('stop');
    await pair.one.finish(running, { kind: 'back', reason: 'stopped', afterMs: 0 }, spent(0.1));
    expect((await pair.one.status('b1'))?.counts).toMatchObject({ cancelled: 2, failed: 0 });
    expect(await pair.one.isSettled()).toBe(true);
  });

  test('what was cancelled goes on with its session', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const running = await claimed(pair);
    await pair.one.order('b1', { order: 'cancel' });
    await pair.one.finish(running, { kind: 'back', reason: 'stopped', afterMs: 0 }, spent(0.1));
    await pair.one.order('b1', { order: 'resume' });
    expect(await claimed(pair)).toMatchObject({ key: 'a', before: { session: 's1' } });
  });

  test('who goes on before the cancel was heard takes the task from whoever still holds it', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const old = await claimed(pair);
    await pair.one.beat(old, spent(0.1));
    await pair.two.order('b1', { order: 'cancel' });
    await pair.two.order('b1', { order: 'resume' });
    const next = await claimed(pair);
    expect(next).toMatchObject({ key: 'a', before: { session: 's1' }, booked: 0.1 * DOLLAR });
    expect(await pair.one.beat(old, spent(0.2))).toBe('lost');
    const stopped = { kind: 'back', reason: 'it was cancelled', afterMs: 0 } as const;
    expect(await pair.one.finish(old, stopped, spent(0.2))).toBe('late');
    expect(await pair.one.beat(next, spent(0))).toBe('go on');
    expect(await pair.one.finish(next, done(), spent(0.3))).toBe('kept');
    expect(await pair.two.status('b1')).toMatchObject({ counts: { done: 1 }, spent: 0.5 * DOLLAR });
  });

  test('one task is cancelled, the others go on', async () => {
    await pair.one.submit(batch(), [task('a'), task('b')]);
    await pair.one.order('b1', { order: 'cancel', keys: ['a'] });
    expect((await claimed(pair)).key).toBe('b');
    expect(await pair.one.claim(me)).toBeUndefined();
  });

  test('nothing begins while a batch is paused; what runs goes on', async () => {
    await pair.one.submit(batch(), [task('a'), task('b')]);
    const running = await claimed(pair);
    await pair.two.order('b1', { order: 'pause' });
    expect(await pair.one.claim(me)).toBeUndefined();
    expect(await pair.one.beat(running, spent(0))).toBe('go on');
    await pair.two.order('b1', { order: 'resume' });
    expect((await claimed(pair)).key).toBe('b');
  });

  test('a lane at rest begins nothing, and says why and until when', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const untilMs = (await pair.one.now()) + 60_000;
    await pair.one.cool('anthropic', { kind: 'rest', untilMs, words: 'the quota is used up' });
    expect(await pair.two.claim(other)).toBeUndefined();
    expect((await pair.two.status('b1'))?.waits).toMatchObject([
      { kind: 'lane', lane: 'anthropic', words: 'the quota is used up' },
    ]);
    await pair.later(61_000);
    expect(await pair.two.claim(other)).toMatchObject({ key: 'a' });
  });

  test('another lane goes on meanwhile', async () => {
    await pair.one.submit(batch(), [task('a'), task('b', { lane: 'ollama' })]);
    await pair.one.cool('anthropic', { kind: 'rest', untilMs: (await pair.one.now()) + 60_000, words: 'no' });
    expect((await claimed(pair)).key).toBe('b');
  });

  test('a limit halves what runs at once, and each quiet minute adds one', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    await pair.one.submit(
      batch(),
      keys.map((key) => task(key)),
    );
    const running = [await claimed(pair), await claimed(pair), await claimed(pair), await claimed(pair)];
    const now = await pair.one.now();
    await pair.one.cool('anthropic', { kind: 'limit', untilMs: now + 1_000, words: 'too many requests' });
    await pair.later(2_000);
    for (const claim of running.slice(0, 2)) await pair.one.finish(claim, done(), spent(0));
    expect(await pair.one.claim(me)).toBeUndefined();
    await pair.later(61_000);
    expect(await pair.one.claim(me)).toMatchObject({ key: 'e' });
    expect(await pair.one.claim(me)).toBeUndefined();
  });

  test('files come back byte for byte', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const patch = new Uint8Array(300_000).map((_, at) => (at * 7) % 256);
    const claim = await claimed(pair);
    await pair.one.keep(claim, 'unfinished', new Uint8Array([0, 255, 10]));
    await pair.one.finish(claim, done(), spent(0), { patch, transcript: new Uint8Array() });
    expect(Buffer.from((await pair.two.file('b1', 'a', 'patch')) ?? []).equals(Buffer.from(patch))).toBe(true);
    expect([...((await pair.two.file('b1', 'a', 'unfinished')) ?? [])]).toEqual([0, 255, 10]);
    expect(await pair.two.file('b1', 'b', 'patch')).toBeUndefined();
  });

  test('an attempt that does not count any more changes no file', async () => {
    await pair.one.submit(batch(), [task('a')]);
    const late = await claimed(pair);
    await pair.later(LEASE_MS + 1_000);
    await pair.two.sweep();
    await pair.one.finish(await claimed(pair), done(), spent(0), { transcript: new Uint8Array([1]) });
    await pair.one.keep(late, 'transcript', new Uint8Array([2]));
    expect([...((await pair.two.file('b1', 'a', 'transcript')) ?? [])]).toEqual([1]);
  });

  test('a clock that is set back keeps nobody from missing who is gone', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await claimed(pair);
    await pair.later(-3_600_000);
    expect(await pair.two.sweep()).toHaveLength(0);
    await pair.later(LEASE_MS + 1_000);
    expect(await pair.two.sweep()).toHaveLength(1);
  });

  test('lists its batches, the newest first, with what is expected to be spent', async () => {
    await pair.one.submit(batch(), [task('a'), task('b'), task('c'), task('d')]);
    for (const cost of [0.1, 0.4, 0.2]) await pair.one.finish(await claimed(pair), done(), spent(cost));
    await pair.later(1);
    await pair.one.submit(batch({ id: 'b2' }), [task('a')]);
    expect(await pair.two.batches()).toMatchObject([
      { id: 'b2', expected: undefined },
      { id: 'b1', expected: 0.2 * DOLLAR, spent: 700_000 },
    ]);
  });

  test('what the same task came to in another batch is taken over, and not begun', async () => {
    await pair.one.submit(batch(), [task('a')]);
    await pair.one.finish(await claimed(pair), done(), spent(0.5), { patch: new Uint8Array([7]) });
    await pair.one.submit(batch({ id: 'b2' }), [task('a'), task('b'), task('z', { kind: 'summary' })]);
    expect(await pair.two.reuse('b2')).toBe(1);
    expect(await pair.two.reuse('b2')).toBe(0);
    expect(await pair.two.tasks('b2', ['done'])).toMatchObject([{ key: 'a', cost: 0, result: RESULT, session: 's1' }]);
    expect([...((await pair.two.file('b2', 'a', 'patch')) ?? [])]).toEqual([7]);
    const next = await claimed(pair);
    expect([next.batch, next.key]).toEqual(['b2', 'b']);
    await pair.one.finish(next, done(), spent(0));
    expect((await claimed(pair)).key).toBe('z');
  });

  test('a batch that is forgotten leaves nothing behind, and can be begun anew', async () => {
    await pair.one.submit(batch(), [task('a'), task('b')]);
    await pair.one.submit(batch({ id: 'b2' }), [task('a')]);
    const held = await claimed(pair);
    expect(await pair.two.remove('b1')).toBe('somebody works on it');
    await pair.one.finish(held, done(), spent(0.1), { patch: new Uint8Array([1]) });
    expect(await pair.two.remove('b1')).toBe('removed');
    expect(await pair.one.finish(held, done(), spent(0.1))).toBe('late');
    expect((await pair.one.batches()).map(({ id }) => id)).toEqual(['b2']);
    expect([await pair.one.file('b1', 'a', 'patch'), await pair.one.attempts('b1', 'a')]).toEqual([undefined, []]);
    expect(await pair.one.submit(batch({ priority: 9 }), [task('a')])).toEqual({ added: 1, known: 0 });
    expect(await claimed(pair)).toMatchObject({ batch: 'b1', key: 'a', attempt: 1, before: undefined });
  });

  test('an order to a batch that is not there says so', async () => {
    await expect(pair.one.order('nope', { order: 'pause' })).rejects.toThrow('There is no batch nope.');
  });

  async function claimed({ one }: StorePair): Promise<Claim> {
    const claim = await one.claim(me);
    if (claim === undefined) throw new Error('There was nothing to claim.');
    return claim;
  }
});

const RESULT: TaskResult = {
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
const failed = () => ({ kind: 'failed', reason: 'no luck', again: 'if attempts are left' }) as const;
const spent = (dollars: number) => ({ cost: dollars * DOLLAR, session: 's1' });

type BatchWish = {
  readonly id?: string;
  readonly priority?: number;
  readonly all?: number;
  readonly atOnce?: number;
  readonly attempts?: number;
};

function batch({ id = 'b1', priority = 0, all = 100, atOnce = 8, attempts = 3 }: BatchWish = {}): NewBatch {
  const limits = { each: DOLLAR, all: all * DOLLAR, attempts, atOnce };
  return { id, name: 'work', limits, priority, collect: { as: 'patches', name: 'work' } };
}

function task(key: string, more: Partial<NewTask> = {}): NewTask {
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
