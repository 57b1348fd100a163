import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { says } from '../../../../test/support/api/reply.ts';
import { type ApiServer, startApiServer } from '../../../../test/support/api/server.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { type Running, startOuro } from '../../../../test/support/run-ouro.ts';
import { isWholeRun } from '../../../../test/support/runs.ts';
import type { TempProject } from '../../../../test/support/temp-project.ts';
import { projectWithRepos, TESTED_STORES, testQueue, writePolicy } from '../support/fleet.ts';

const TASKS = 40;
const WORKERS = 2;
const SLOTS = 2;
/** In millionths: what a task may cost, and what the batch may. */
const EACH = 50_000;
const ALL = 1_000_000;
/** Ten dollars for a million tokens: from one to five cents a request. */
const tokensOf = (request: number) => 1_000 + ((request * 1_237) % 4_000);
const costOf = (tokens: number) => tokens * 10 + 25 * 2;

describe.skipIf(!isWholeRun).each(TESTED_STORES)('the cost of a batch on %s', { timeout: 300_000 }, (kind) => {
  const queue = testQueue(kind);
  let project: TempProject;
  let server: ApiServer;
  let env: Readonly<Record<string, string>> = {};

  beforeEach(async () => {
    env = await queue.begin();
    project = await projectWithRepos(['one']);
    await writePolicy(project, { leaseSeconds: 2 });
  });
  afterEach(async () => {
    await server.close();
    await project.remove();
  });
  afterAll(() => queue.close());

  test('workers killed every second neither lose track of the cost nor exceed the limit', async () => {
    let served = 0;
    server = await startApiServer({
      turns(_, index) {
        const tokens = tokensOf(index);
        served += costOf(tokens);
        return says('It is done.', { usage: { output_tokens: tokens } });
      },
    });
    const line = (at: number) =>
      JSON.stringify({ repo: 'repos/one', prompt: `Do ${at}`, title: `n${at}`, model: 'claude-sonnet-5-5' });
    await project.write('money.jsonl', Array.from({ length: TASKS }, (_, at) => line(at)).join('\n'));
    const args = ['batch', 'run', 'money.jsonl', '--each', '0.05', '--all', '1', '--attempts', '50'];
    expect(await runHere(project, [...args, '--detach', '--yes'], server.url, { env })).toMatchObject({ code: 0 });
    const status = async () =>
      JSON.parse((await runHere(project, ['batch', 'status', '--json'], undefined, { env })).stdout);
    const worker = () => startOuro(project, ['worker', '--until-empty', '-j', String(SLOTS)], server.url, { env });
    let workers: Running[] = Array.from({ length: WORKERS }, worker);
    let kills = 0;
    for (let now = await status(); now.waits.length === 0 || now.counts.running > 0; now = await status()) {
      expect(now.spent + now.reserved).toBeLessThanOrEqual(ALL + WORKERS * SLOTS * EACH);
      await wait(1_000);
      if (now.waits.length > 0) continue;
      const [victim, ...others] = workers;
      await victim?.kill();
      kills += 1;
      workers = [...others, worker()];
    }
    for (const one of workers) await one.kill();
    const { spent, counts, tasks } = await status();
    process.stderr.write(`\n${kind}: ${JSON.stringify({ served, spent, kills, counts })}\n`);
    // A task that was killed behind its reply pays for another one, and may have no more for it.
    const failed = tasks.filter(({ state }: { readonly state: string }) => state === 'failed');
    for (const { reason } of failed)
      expect(reason).toMatch(/^(?:its limit of \$0\.05 was reached|its budget is used up)$/);
    expect(kills).toBeGreaterThanOrEqual(2);
    expect(spent).toBeLessThanOrEqual(ALL + WORKERS * SLOTS * EACH);
    // The last ones that are killed had replies in the air; of all others the stored conversation tells.
    expect(spent).toBeGreaterThanOrEqual(served - WORKERS * SLOTS * EACH);
    expect(served).toBeLessThanOrEqual(ALL + 2 * WORKERS * SLOTS * EACH);
  });
});
