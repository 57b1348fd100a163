import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  type ApiTurn,
  calls,
  htmlError,
  plainError,
  reset,
  says,
  status,
  toolUse,
} from '../../../../test/support/api/reply.ts';
import { startApiServer } from '../../../../test/support/api/server.ts';
import { longTest } from '../../../../test/support/long-test.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { LAUNCHER, startOuro, startProgram } from '../../../../test/support/run-ouro.ts';
import { isWholeRun, someOf } from '../../../../test/support/runs.ts';
import { isGiven } from '../../../../test/support/surroundings/surrounding.ts';
import { fileWritingModel, isAfterCall, projectWithRepos, TESTED_STORES, writePolicy } from '../support/fleet.ts';
import { fleetBench } from '../support/fleet-bench.ts';

const MODEL = ['--model', 'claude-sonnet-5-5', '--yes'];
const NO_RETRIES = { OURO_MAX_RETRIES: '0' };

const OUTAGES: readonly (readonly [string, ApiTurn, string])[] = [
  ['a web page of a gateway', htmlError(502), 'the provider has an outage (502)'],
  ['a timeout of a gateway', status(408), 'the provider has an outage (408)'],
  ['an empty balance', status(400, 'Your credit balance is too low.'), 'the credit is used up (400)'],
  ['a key that is refused', status(400, 'API key not valid.'), 'the API key was rejected (400)'],
  ['a rate limit', status(429, undefined, { 'retry-after': '7200' }), 'the quota is used up (429)'],
  ['a web page instead of an address', htmlError(404), 'is no model API (404)'],
  ['a plain refusal', plainError(400), 'is no model API (400)'],
  ['an empty refusal', plainError(400, ''), 'is no model API (400)'],
  ['a misdirected request', status(421), 'the provider has an outage (421)'],
  ['a login page of the network', htmlError(200), 'answered with a web page'],
  ['a connection that breaks off', reset(), 'closed the connection'],
  ['a server without TLS', says('It is done.'), 'TLS handshake'],
];

describe.each(TESTED_STORES)('an outage on %s', (kind) => {
  const on = fleetBench(kind);
  const state = async (id: string) => JSON.parse((await on.run('status', id, '--json')).stdout);

  longTest('of the provider pauses the lane with its reason and costs no attempt', async () => {
    on.project = await projectWithRepos(['one', 'two', 'three']);
    await writePolicy(on.project);
    let isDown = true;
    on.server = await startApiServer({ turns: (request) => (isDown ? status(503) : fileWritingModel(request)) });
    const args = [
      'write it',
      '--name',
      'down',
      '--over',
      'repos/*',
      '--attempts',
      '1',
      '-j',
      '1',
      '--no-wait',
      ...MODEL,
    ];
    const batch = (...more: readonly string[]) =>
      runHere(on.project, ['batch', ...more], on.server?.url, { env: { ...on.env, ...NO_RETRIES } });
    const stopped = await batch(...args);
    expect(stopped.code).toBe(4);
    expect(stopped.stdout).toContain('the provider has an outage (503)');
    expect(on.server.requests()).toHaveLength(1);
    expect(await state('down')).toMatchObject({
      counts: { waiting: 3, failed: 0 },
      tasks: [0, 0, 0].map((tries) => ({ tries })),
    });
    isDown = false;
    await batch('resume', 'down');
    expect(await batch(...args)).toMatchObject({ code: 0 });
  });

  test.each(someOf(OUTAGES))('%s ends no task and costs no attempt', async (name, turn, reason) => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: () => turn });
    const url = name === 'a server without TLS' ? on.server.url.replace('http:', 'https:') : on.server.url;
    const args = [
      'write it',
      '--name',
      'out',
      '--over',
      'repos/*',
      '--attempts',
      '1',
      '-j',
      '1',
      '--no-wait',
      ...MODEL,
    ];
    const run = await runHere(on.project, ['batch', ...args], url, { env: { ...on.env, ...NO_RETRIES } });
    expect(run.code, run.stdout).toBe(4);
    expect(await state('out')).toMatchObject({
      tasks: [{ state: 'waiting', tries: 0, reason: expect.stringContaining(reason) }],
    });
  });

  longTest('of a model that does not exist pauses the batch with its reason and costs no attempt', async () => {
    on.project = await projectWithRepos(['one', 'two', 'three']);
    await writePolicy(on.project);
    let isUnknown = true;
    const unknown = status(404, 'model: claude-sonnet-5-5');
    on.server = await startApiServer({ turns: (request) => (isUnknown ? unknown : fileWritingModel(request)) });
    const args = ['write it', '--name', 'odd', '--over', 'repos/*', '--attempts', '1', '-j', '1', ...MODEL];
    const stopped = await on.run(...args);
    const reason = 'The API has no such model or address (404): model: claude-sonnet-5-5.';
    expect(stopped.code).toBe(4);
    expect(stopped.stderr).toContain(`: ${reason} Check the model name and the base URL. Then continue`);
    expect(on.server.requests()).toHaveLength(1);
    expect(await state('odd')).toMatchObject({
      state: 'paused',
      waits: [{ kind: 'returned', tasks: 1, words: expect.stringContaining(reason) }],
      tasks: [0, 0, 0].map((tries) => ({ state: 'waiting', tries })),
    });
    isUnknown = false;
    await on.run('resume', 'odd');
    expect(await on.run(...args)).toMatchObject({ code: 0 });
  });

  longTest('of the connection makes one machine wait, is reported, and costs no attempt', async () => {
    on.project = await projectWithRepos(['one', 'two']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    const { url } = on.server;
    await on.server.close();
    on.server = undefined;
    const args = [
      'write it',
      '--name',
      'cut',
      '--over',
      'repos/*',
      '--attempts',
      '1',
      '-j',
      '1',
      '--no-wait',
      ...MODEL,
    ];
    const stopped = await runHere(on.project, ['batch', ...args], url, { env: { ...on.env, ...NO_RETRIES } });
    expect(stopped.code).toBe(4);
    expect(stopped.stderr).toContain('anthropic is not available here, next try in 30 s');
    expect(await state('cut')).toMatchObject({
      counts: { waiting: 2, failed: 0 },
      waits: [{ kind: 'returned', tasks: 1 }],
      tasks: [{ tries: 0 }, { tries: 0 }],
    });
    on.server = await startApiServer({ turns: fileWritingModel });
    expect(await on.run(...args)).toMatchObject({ code: 0 });
  });

  longTest('a worker without the key of a task does other work, and leaves the task to one with the key', async () => {
    on.project = await projectWithRepos(['one', 'two']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    const submit = (name: string, repo: string, model: string) =>
      on.run('write it', '--name', name, '--over', repo, '--attempts', '1', '--detach', '--yes', '--model', model);
    await submit('keyed', 'repos/one', 'claude-sonnet-5-5');
    await using keyless = startOuro(on.project, ['worker', '-j', '1'], undefined, { env: on.env });
    await keyless.waitForErrors(/anthropic is not available here, next try in 30 s: No API key/);
    const { stdout: free } = await submit('free', 'repos/two', 'demo');
    await on.run('status', free.trim(), '--watch');
    expect(await state('free')).toMatchObject({ counts: { done: 1 } });
    expect(await state('keyed')).toMatchObject({ tasks: [{ state: 'waiting', tries: 0 }] });
    const keyed = await runHere(on.project, ['worker', '--until-empty'], on.server.url, { env: on.env });
    expect(keyed).toMatchObject({ code: 0 });
    expect(await state('keyed')).toMatchObject({ counts: { done: 1 } });
    expect(keyless.child.exitCode).toBe(null);
  });

  longTest('a task whose model repeats itself fails with that reason', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: () => calls(toolUse('Read', { file_path: 'missing.txt' })) });
    const args = ['write it', '--name', 'loop', '--over', 'repos/one', '--attempts', '1', ...MODEL];
    expect(await on.run(...args)).toMatchObject({ code: 1 });
    expect((await state('loop')).tasks).toMatchObject([
      { state: 'failed', tries: 1, reason: expect.stringContaining('the model repeated itself') },
    ]);
    expect(on.server.requests()).toHaveLength(8);
  });

  longTest('interrupted work that ends "done" without a change is marked', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    let count = 0;
    on.server = await startApiServer({
      turns: () => {
        count += 1;
        return count === 1 ? { kind: 'hang' } : says('It is done.');
      },
    });
    const args = ['write it', '--name', 'mark', '--over', 'repos/one', ...MODEL];
    const running = startOuro(on.project, ['batch', ...args], on.server.url, { env: on.env });
    await on.server.waitForRequest(1);
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(await on.run(...args)).toMatchObject({ code: 0 });
    expect((await state('mark')).tasks).toMatchObject([
      { state: 'done', reason: 'it was interrupted, and nothing was changed' },
    ]);
  });
});

const [UNSHARE, ...IN_NAMESPACE] = ['unshare', '-rm', 'sh', '-c'] as const;
/** Runs a command whose folder of tasks is on a disk of two megabytes, in a mount namespace of its own. */
const withSmallDisk = (...command: readonly string[]): readonly string[] => [
  ...[UNSHARE, ...IN_NAMESPACE],
  'mkdir -p "$HOME/.ouro-work" && mount -t tmpfs -o size=2m small "$HOME/.ouro-work" && exec "$@"',
  ...['sh', ...command],
];
const canMount = spawnSync(UNSHARE, [...IN_NAMESPACE, 'mount -t tmpfs small /mnt']).status === 0;

test.runIf(isWholeRun && canMount)(
  'a disk that fills up during a task costs no attempt, whatever the model says',
  async () => {
    await using project = await projectWithRepos(['one']);
    await writePolicy(project);
    let isFull = true;
    await using server = await startApiServer({
      turns(request) {
        if (!isFull) return fileWritingModel(request);
        if (isAfterCall(request)) return says('It is done.');
        return calls(toolUse('Bash', { command: 'head -c 9000000 /dev/zero > big.bin; echo done > done.txt' }));
      },
    });
    await project.write(
      'fleet.yaml',
      'name: full\nprompt: write it\nover: { repos: [repos/one] }\nmodel: claude-sonnet-5-5\nallowedTools: [Bash]\nlimits: { attempts: 1 }\n',
    );
    const args = ['batch', 'run', 'fleet.yaml', '--yes', '-j', '1', '--no-wait'];
    const stopped = await startProgram(project, withSmallDisk(LAUNCHER, ...args), server.url).ended;
    expect(stopped.stderr).toContain('.ouro-work is full');
    expect(stopped.code).toBe(4);
    const status = async () => JSON.parse((await runHere(project, ['batch', 'status', 'full', '--json'])).stdout);
    expect((await status()).tasks).toMatchObject([
      { state: 'waiting', tries: 0, reason: expect.stringContaining('full') },
    ]);
    isFull = false;
    expect(await runHere(project, args, server.url)).toMatchObject({ code: 0 });
    expect((await status()).tasks).toMatchObject([{ state: 'done', result: { stat: { files: 1 } } }]);
  },
);

test.runIf(isGiven('strangers'))(
  'a user whom the system does not know, without HOME, is told what to set',
  async () => {
    const options = { uid: 54_321, gid: 54_321, cwd: '/', env: { PATH: process.env.PATH } };
    const failed = await promisify(execFile)(LAUNCHER, ['worker', 'doctor'], options).catch((thrown) => thrown);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('has no home folder. Set HOME') });
  },
);
