import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { fileWritingModel, projectWithRepos, writePolicy } from '../../packages/fleet/test/support/fleet.ts';
import { type ApiTurn, status } from '../../test/support/api/reply.ts';
import { startApiServer } from '../../test/support/api/server.ts';
import { expectNoProcessesLeft } from '../../test/support/processes.ts';
import { runOuro, startOuro } from '../../test/support/run-ouro.ts';
import { createDice } from './dice.ts';
import type { Round } from './round.ts';

const REPOSITORIES = ['one', 'two', 'three'];
const MAX_RUNS = 20;
const ENDS_WITHIN_MS = 60_000;
const OUTAGES: readonly [ApiTurn, ...ApiTurn[]] = [
  status(500),
  status(502),
  status(503),
  status(529),
  { kind: 'hang' },
];
const SHORT_TIMEOUTS = { OURO_MAX_RETRIES: '0', OURO_STREAM_IDLE_TIMEOUT_MS: '3000', OURO_HEADER_TIMEOUT_MS: '3000' };

const batchStatus = z.object({
  counts: z.object({ done: z.number(), failed: z.number() }),
  tasks: z.array(z.object({ key: z.string(), tries: z.number() })),
});

/** Plays a batch during outages of its provider, which is killed at times. An outage must cost no task and no attempt. */
export async function playBatchRound(seed: number): Promise<Round> {
  const dice = createDice(seed);
  await using project = await projectWithRepos(REPOSITORIES);
  await writePolicy(project, { leaseSeconds: 1 });
  let left = 1 + dice.below(8);
  await using api = await startApiServer({
    turns(request) {
      left -= 1;
      return left >= 0 && dice.percent(70) ? dice.pick(OUTAGES) : fileWritingModel(request);
    },
  });
  const args = [
    'batch',
    'write it',
    '--name',
    'chaos',
    '--over',
    'repos/*',
    '-j',
    '2',
    '--no-wait',
    '--yes',
    '--attempts',
    '30',
  ];
  const story = ['batch', `${left} requests in the outage`];
  const faults: string[] = [];
  let kills = 0;
  let code: number | null = null;
  for (let run = 0; run < MAX_RUNS && code !== 0; run += 1) {
    // Ends the pause of the lane, which lasts half a minute.
    if (run > 0) await runOuro(project, ['batch', 'resume', 'chaos'], api.url);
    const running = startOuro(project, [...args, '--model', 'claude-sonnet-5-5'], api.url, { env: SHORT_TIMEOUTS });
    const killAfterMs = dice.percent(30) ? dice.below(2_500) : ENDS_WITHIN_MS;
    const ended = await Promise.race([running.ended, wait(killAfterMs).then(() => undefined)]);
    if (ended === undefined) {
      if (killAfterMs === ENDS_WITHIN_MS) faults.push(`The batch had not ended after ${ENDS_WITHIN_MS} ms.`);
      kills += 1;
      await running.kill();
    }
    code = ended?.code ?? null;
    story.push(ended === undefined ? 'SIGKILL' : `exit ${code}`);
  }
  const { stdout } = await runOuro(project, ['batch', 'status', 'chaos', '--json'], api.url);
  const { counts, tasks } = batchStatus.parse(JSON.parse(stdout));
  if (counts.done !== REPOSITORIES.length)
    faults.push(`Only ${counts.done} tasks are done, ${counts.failed} have failed.`);
  for (const { key, tries } of tasks)
    if (tries > 1 + kills) faults.push(`${key} used ${tries} attempts, with ${kills} kills.`);
  faults.push(
    ...(await expectNoProcessesLeft(project.marker).then(
      () => [],
      (found) => [String(found)],
    )),
  );
  return { faults, story, requests: api.requests().length, peakMb: 0 };
}
