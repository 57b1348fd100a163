import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { getTerminalAnswerTimeoutMs, holdFirstFrame } from '../../../src/ui/terminal/await-background-color.ts';

const WAIT_MS = 25;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the first frame is drawn with the answer of the terminal, once, or shortly after without one', () => {
  const show = vi.fn();
  const answered = holdFirstFrame(WAIT_MS, show);
  expect(answered.isHeld()).toBe(true);
  answered.release();
  answered.release();
  vi.advanceTimersByTime(WAIT_MS * 2);
  expect([answered.isHeld(), show.mock.calls.length]).toEqual([false, 1]);
  const silent = holdFirstFrame(WAIT_MS, show);
  vi.advanceTimersByTime(WAIT_MS - 1);
  expect(silent.isHeld()).toBe(true);
  vi.runAllTimers();
  expect([silent.isHeld(), show.mock.calls.length]).toEqual([false, 2]);
});

test('without a query nothing is delayed, and nothing drawn twice', () => {
  const show = vi.fn();
  const first = holdFirstFrame(undefined, show);
  first.release();
  expect([first.isHeld(), show.mock.calls.length, vi.getTimerCount()]).toEqual([false, 0, 0]);
});

test('a remote terminal has longer to answer, and one without colors is not queried', () => {
  const look = { depth: 'truecolor', theme: 'auto' } as const;
  const all = [{ ...look }, { ...look, terminal: 'remote' as const }, { ...look, depth: 'none' as const }];
  expect(all.map(getTerminalAnswerTimeoutMs)).toEqual([WAIT_MS, 150, undefined]);
});

test('an answer that has arrived is read before the frame, although the program was busy for the whole wait', async () => {
  vi.useRealTimers();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const reader = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1');
  const [[writer]] = await Promise.all([once(server, 'connection'), once(reader, 'connect')]);
  const events: string[] = [];
  reader.on('data', () => events.push('answer'));
  const shown = Promise.withResolvers<void>();
  holdFirstFrame(1, () => {
    events.push('frame');
    shown.resolve();
  });
  writer.write('answer');
  for (const end = performance.now() + 20; performance.now() < end; );
  await shown.promise;
  reader.destroy();
  server.close();
  expect(events).toEqual(['answer', 'frame']);
});
