import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { terminalEnvironment } from '../../../../test/support/environment.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { LAUNCHER } from '../../../../test/support/run-ouro.ts';
import { isWholeRun } from '../../../../test/support/runs.ts';
import { createTempProject, type TempProject } from '../../../../test/support/temp-project.ts';
import { openTerminal } from '../../../../test/support/terminal/virtual-terminal.ts';
import type { FleetStore } from '../../src/store/fleet-store.ts';
import { openFleetStore } from '../../src/store/open-fleet-store.ts';
import { TESTED_STORES, testQueue } from '../support/fleet.ts';
import { stormBatch, stormTasks } from '../support/fleet-storm.ts';

const SIZES = [
  { cols: 120, rows: 40 },
  { cols: 80, rows: 24 },
];
const RESULT = {
  answer: 'Done.',
  verified: 'not asked',
  turns: 1,
  machine: 'here',
  session: 's',
  denials: 0,
  stat: { files: 1, added: 1, removed: 0 },
  notes: [],
} as const;

describe.skipIf(!isWholeRun).each(TESTED_STORES)('the batch screen on %s', (kind) => {
  const queue = testQueue(kind);
  let project: TempProject;
  let env: Readonly<Record<string, string>> = {};
  let store: FleetStore;

  beforeEach(async () => {
    env = await queue.begin();
    project = await createTempProject();
    const { OURO_QUEUE: url } = env;
    const folder = join(project.ouroHome, 'fleet');
    store = await openFleetStore(url === undefined ? { kind: 'here', folder } : { kind: 'postgres', url });
  });
  afterEach(async () => {
    await store.close();
    await project.remove();
  });
  afterAll(() => queue.close());

  test.each(SIZES)('a thousand tasks are shown at $cols columns without flicker', async ({ cols, rows }) => {
    await store.submit(stormBatch({ atOnce: 50 }), stormTasks(1_000, 1));
    const me = { worker: 'w', machine: 'here', leaseMs: 600_000 };
    const claims = [];
    for (let at = 0; at < 14; at += 1) claims.push(await store.claim(me));
    const [failing, ...others] = claims.flatMap((claim) => claim ?? []);
    if (failing === undefined) throw new Error('There was nothing to claim.');
    await store.completeAttempt(
      failing,
      { kind: 'failed', reason: 'it is beyond me', again: 'never' },
      { cost: 20_000 },
    );
    await store.pauseLane('anthropic', {
      kind: 'rest',
      untilMs: Date.now() + 600_000,
      words: 'the quota is used up (429)',
    });
    const terminal = openTerminal([LAUNCHER, 'batch', 'status', 'storm', '--watch'], {
      cwd: project.dir,
      env: { ...terminalEnvironment(project), ...env },
      cols,
      rows,
    });
    try {
      await terminal.waitForText(/13 running/);
      const [before, began] = [terminal.bytes().length, performance.now()];
      for (const claim of others.slice(0, 8)) {
        await store.sendHeartbeat(claim, { cost: 10_000, doing: 'Edit src/cart.mjs' });
        await store.completeAttempt(claim, { kind: 'done', result: RESULT }, { cost: 30_000 });
        await wait(100);
      }
      const shown = (await terminal.waitForText(/8 of 1000 done/)).join('\n');
      const seconds = (performance.now() - began) / 1_000;
      expect(shown).toContain('5 running, 986 waiting, 1 failed');
      expect(shown).toMatch(/\$0\.26 of \$1000\.00 spent, \$5\.00 reserved, about \$29\.\d\d to come/);
      expect(shown).toMatch(/anthropic waits until \d\d:\d\d: the quota is used up \(429\)/);
      expect(shown).toMatch(/✗ task 0 +it is beyond me/);
      const [open, shut] = ['\u001b[?2026h', '\u001b[?2026l'];
      const bytes = terminal.bytes();
      const drawn = bytes.slice(bytes.indexOf(open, before), bytes.lastIndexOf(shut) + shut.length);
      const frames = drawn.split(open).length - 1;
      expect(frames).toBeGreaterThan(0);
      expect(frames / seconds).toBeLessThanOrEqual(10);
      // Nothing is wiped to be drawn again: the whole screen is never cleared, and each frame is shown as one.
      expect(drawn).not.toMatch(/\u001b\[[23]J/);
      expect(drawn.split(shut).length - 1).toBe(frames);
      const reported = JSON.parse((await runHere(project, ['batch', 'status', '--json'], undefined, { env })).stdout);
      expect(reported).toMatchObject({
        counts: { done: 8, running: 5, failed: 1 },
        spent: 260_000,
        reserved: 5_000_000,
      });
      expect(reported.waits).toMatchObject([{ kind: 'lane', words: 'the quota is used up (429)' }]);
      expect(reported.tasks).toHaveLength(1_000);
    } finally {
      await terminal.kill();
    }
  });
});
