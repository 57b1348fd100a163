import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { rateLimited, stallAt } from '../support/api/faults.ts';
import { type ApiTurn, delayed, says } from '../support/api/reply.ts';
import { gate, startApiServer } from '../support/api/server.ts';
import { startHostProcess } from '../support/json-host.ts';
import { longTest } from '../support/long-test.ts';
import { expectNoProcessesLeft } from '../support/processes.ts';
import { startOuro } from '../support/run-ouro.ts';
import { partOf } from '../support/runs.ts';
import { replayAll, storedFile } from '../support/stored-sessions.ts';
import { createTempProject } from '../support/temp-project.ts';

/** Longer than every limit below. */
const ASLEEP_S = 5;
const LIMITS = { OURO_STREAM_IDLE_TIMEOUT_MS: '3000', OURO_HEADER_TIMEOUT_MS: '3000' };
const ANSWER = 'The whole answer is forty-two.';

/** Stops a program with everything it has started, as a closed lid does; resolves when it runs again. */
async function sleep(pid: number | undefined, meanwhile: () => void): Promise<void> {
  if (pid === undefined) throw new Error('The program has not started.');
  process.kill(-pid, 'SIGSTOP');
  meanwhile();
  await promisify(execFile)('sleep', [String(ASLEEP_S)]);
  process.kill(-pid, 'SIGCONT');
}

type Moment = {
  readonly when: string;
  readonly turns: (wakes: Promise<void>) => readonly ApiTurn[];
  /** Printed before the program falls asleep. */
  readonly printed: RegExp;
  /** When the server goes on. */
  readonly goesOn: 'asleep' | 'awake';
  readonly requests: number;
};

const inStream = (wakes: Promise<void>) => [says(ANSWER, { chunk: 6, faults: [stallAt(5, wakes)] })];
const MOMENTS: readonly Moment[] = [
  { when: 'a reply, which goes on', turns: inStream, printed: /block_delta/, goesOn: 'awake', requests: 1 },
  { when: 'a reply, which ends meanwhile', turns: inStream, printed: /block_delta/, goesOn: 'asleep', requests: 1 },
  {
    when: 'a reply, whose connection is lost meanwhile',
    turns: (wakes) => [says(ANSWER, { chunk: 6, faults: [stallAt(5, wakes), { at: 5, do: 'cut' }] }), says(ANSWER)],
    printed: /block_delta/,
    goesOn: 'asleep',
    requests: 2,
  },
  {
    when: 'a request, whose reply begins later',
    turns: (wakes) => [delayed(wakes, says(ANSWER))],
    printed: /"subtype":"init"/,
    goesOn: 'awake',
    requests: 1,
  },
  {
    when: 'the wait for a retry',
    turns: () => [rateLimited(3), says(ANSWER)],
    printed: /api_retry/,
    goesOn: 'awake',
    requests: 2,
  },
];

longTest.each(partOf(MOMENTS, 2))('asleep in $when: nothing is lost', async (moment) => {
  await using project = await createTempProject();
  const { closed, open } = gate();
  await using server = await startApiServer({ turns: moment.turns(closed) });
  const flags = ['-p', 'go', '--output-format=stream-json', '--verbose', '--include-partial-messages'];
  await using running = startOuro(project, flags, server.url, { env: LIMITS });
  await running.waitForOutput(moment.printed);
  await server.waitForRequest(1);
  await sleep(running.child.pid, () => {
    if (moment.goesOn === 'asleep') open();
  });
  open();
  const { code, stdout } = await running.ended;
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ subtype: 'success', result: ANSWER });
  expect(code).toBe(0);
  expect(server.requests()).toHaveLength(moment.requests);
  const { records } = await storedFile(project);
  expect(JSON.stringify(records).split(`"${ANSWER}"`)).toHaveLength(2);
  expect(await replayAll(project)).toMatchObject({ different: [] });
});

longTest('asleep between two prompts, a program takes what was written meanwhile and goes on', async () => {
  await using project = await createTempProject();
  await using server = await startApiServer({ turns: ({ raw }) => says(raw.includes('third') ? 'Three.' : 'Fine.') });
  const host = startHostProcess(project, [], server.url);
  const results = () => host.received().filter(({ type }) => type === 'result');
  host.say('first');
  await host.waitFor(() => results().length === 1);
  await sleep(host.running.child.pid, () => host.say('second'));
  await host.waitFor(() => results().length === 2);
  host.say('third');
  await host.waitFor(() => results().length === 3);
  expect(await host.end()).toBe(0);
  expect(results()).toMatchObject(['Fine.', 'Fine.', 'Three.'].map((result) => ({ subtype: 'success', result })));
  expect(server.requests()).toHaveLength(3);
  await expectNoProcessesLeft(project.marker);
});
