import { expect } from 'vitest';
import { query } from '../../../src/engine/query.ts';
import { longTest } from '../../support/long-test.ts';
import { calls, scripted, userSays } from '../../support/loop/scripted.ts';

longTest('timers run while thousands of calls arrive at once', async () => {
  const deps = scripted([calls(...Array.from({ length: 10_000 }, () => 'unknown'))]);
  let received = 0;
  let receivedAtTimer: number | undefined;
  const timer = setTimeout(() => {
    receivedAtTimer = received;
  });
  for await (const event of query([userSays('go')], deps, new AbortController().signal))
    if (event.type === 'block_end') received += 1;
  clearTimeout(timer);
  // All calls and the last answer.
  expect(received).toBe(10_001);
  expect(receivedAtTimer).toBeLessThan(10_000);
});
