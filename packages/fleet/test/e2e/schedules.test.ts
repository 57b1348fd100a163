import { once } from 'node:events';
import { join } from 'node:path';
import { fetch } from '@ouro-cli/ouro/commands';
import { describe, expect, test } from 'vitest';
import { startApiServer } from '../../../../test/support/api/server.ts';
import { bareEnvironment, withSettings } from '../../../../test/support/environment.ts';
import { runHere, startHere } from '../../../../test/support/run-here.ts';
import { someOf } from '../../../../test/support/runs.ts';
import { fileWritingModel, projectWithRepos, TESTED_STORES, writePolicy } from '../support/fleet.ts';
import { fleetBench } from '../support/fleet-bench.ts';

const MODEL = ['--model', 'claude-sonnet-5-5'];

describe.each(TESTED_STORES)('a schedule on %s', (kind) => {
  const on = fleetBench(kind);
  const work = (...more: readonly string[]) =>
    runHere(on.project, ['worker', '--until-empty', ...more], on.server?.url, { env: on.env });
  const list = async () => JSON.parse((await on.run('list', '--json')).stdout);

  test('is stored, listed, submitted by a worker at the current commits, and deleted', async () => {
    on.project = await projectWithRepos(['one', 'two']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    const args = ['write it at {{repo.commit}}', '--name', 'nightly', '--over', 'repos/*', '--all', '3', ...MODEL];
    const stored = await on.run(...args, '--every', '1d');
    expect(stored).toMatchObject({ code: 0 });
    expect(stored.stdout).toContain('Schedule nightly: every 1d, due now; 2 tasks, at most $3.00 each run');
    expect(await on.run('list')).toMatchObject({ stdout: expect.stringMatching(/^Schedule nightly: every 1d/) });
    expect(await list()).toEqual([]);
    const one = join(on.project.dir, 'repos', 'one');
    await on.project.write('repos/one/later.txt', 'later\n');
    await on.project.git('-C', one, 'add', '-A');
    await on.project.git('-C', one, 'commit', '-q', '-m', 'Later');
    const head = (await on.project.git('-C', one, 'rev-parse', 'HEAD')).trim();

    const ended = await work('--log', 'json');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const events = ended.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ event }) => event).sort()).toEqual([
      'claimed',
      'claimed',
      'finished',
      'finished',
      'started',
      'submitted',
    ]);
    const [batch] = await list();
    expect(batch).toMatchObject({ id: expect.stringMatching(/^nightly-\d{8}-\d{6}$/), counts: { done: 2 } });
    expect(events.find(({ event, title }) => event === 'finished' && title === 'one')).toMatchObject({
      level: 'info',
      batch: batch.id,
      task: expect.stringMatching(/^one-/),
      outcome: 'done',
      attempt: 1,
      costUsd: expect.any(Number),
      durationMs: expect.any(Number),
    });
    const task = JSON.parse((await on.run('show', batch.id, 'one', '--json')).stdout);
    expect(task.spec).toMatchObject({ prompt: `write it at ${head}`, place: { commit: head } });

    expect(await work()).toMatchObject({ code: 0 });
    expect(await list()).toHaveLength(1);
    expect(await on.run(...args, '--every', '2h')).toMatchObject({ code: 2 });
    expect(await on.run(...args, '--every', '2h', '--yes')).toMatchObject({ code: 0 });
    expect(JSON.parse((await on.run('status', 'nightly', '--json')).stdout)).toMatchObject({
      everyMs: 7_200_000,
      lastBatch: batch.id,
    });
    expect(await on.run('delete', 'nightly')).toMatchObject({ code: 0 });
    expect((await on.run('list')).stdout).not.toContain('Schedule');
    expect(await list()).toHaveLength(1);
  });

  test('whose repository is gone reports it, and pays for nothing', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project, { repositories: ['https://elsewhere.example/*'] });
    on.server = await startApiServer({ turns: fileWritingModel });
    await on.run('write it', '--name', 'gone', '--over', 'repos/*', '--every', '30m', ...MODEL);
    const ended = await work();
    expect(ended.stderr).toContain('Schedule gone is due, but this machine does not work on');
    expect((await on.run('list')).stdout).toContain('not submitted: this machine does not work on');
    expect(on.server.requests()).toHaveLength(0);
  });
});

test.each(
  someOf(
    [
      ['--every', '5'],
      ['--every', '0m'],
      ['--every', '10s'],
      ['--every', '-1d'],
      ['--every', '1.5h'],
      ['--every', '53w'],
      ['--every', 'daily'],
      ['--every', '1d', '--try', '1'],
      ['--every', '1d', '--reuse'],
      ['--every', '1d', '--sign', 'key'],
    ],
    2,
  ),
)('%s %s %s is refused', async (...flags) => {
  await using project = await projectWithRepos(['one']);
  expect(await runHere(project, ['batch', 'do it', '--over', 'repos/*', ...flags])).toMatchObject({ code: 2 });
});

test('a worker answers health requests while it waits for tasks', async () => {
  await using project = await projectWithRepos([]);
  const env = withSettings(bareEnvironment(project), {});
  const worker = startHere(['worker', '--health', '0', '--log', 'json'], { cwd: project.dir, env });
  const [line] = await once(worker.stdout, 'data');
  const { event, slots, healthUrl } = JSON.parse(String(line));
  expect(event).toBe('started');
  expect(await (await fetch(`${healthUrl}/health`)).json()).toEqual({ status: 'ok', running: 0, slots });
  expect(await (await fetch(`${healthUrl}/metrics`)).text()).toContain(`ouro_worker_slots ${slots}\n`);
  worker.kill();
  worker.stdout.resume();
  expect(await worker.ended).toMatchObject({ code: 143 });
});

test.each(someOf(['70000', '-1', 'x']))('--health %s is refused', async (port) => {
  await using project = await projectWithRepos([]);
  expect(await runHere(project, ['worker', '--until-empty', '--health', port])).toMatchObject({ code: 2 });
});
