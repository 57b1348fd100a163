import { existsSync, readdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { says, status } from '../../../../test/support/api/reply.ts';
import { gate, startApiServer } from '../../../../test/support/api/server.ts';
import { longTest } from '../../../../test/support/long-test.ts';
import { processesMarked } from '../../../../test/support/processes.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startOuro } from '../../../../test/support/run-ouro.ts';
import { isWholeRun } from '../../../../test/support/runs.ts';
import { createTempProject } from '../../../../test/support/temp-project.ts';
import {
  addRepo,
  fileWritingModel,
  isAfterCall,
  projectWithRepos,
  TESTED_STORES,
  writePolicy,
} from '../support/fleet.ts';
import { fleetBench } from '../support/fleet-bench.ts';

/** What is slow besides, and the same in another order, is tried in whole runs only. */
const whole = test.skipIf(!isWholeRun);

describe.each(TESTED_STORES)('a batch on %s', (kind) => {
  const on = fleetBench(kind);
  const model = ['--model', 'claude-sonnet-5-5', '--yes'];

  test('one prompt runs over every repository a pattern finds; a second run sends nothing', async () => {
    on.project = await projectWithRepos(['one', 'two']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    const first = await on.run('write it', '--over', 'repos/*', ...model);
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toContain('2 of 2 done');
    expect(on.server.requests()).toHaveLength(4);
    const id = idOf(first.stdout);
    await on.run('collect', id, '--patches', 'out');
    const patches = await readdir(join(on.project.dir, 'out'));
    expect(patches).toHaveLength(2);
    for (const name of ['one', 'two']) {
      const patch = patches.find((file) => file.startsWith(name)) ?? '';
      await on.project.git(
        '-C',
        join(on.project.dir, 'repos', name),
        'apply',
        '--check',
        join(on.project.dir, 'out', patch),
      );
    }
    expect(readdirSync(`${on.project.ouroHome}-work/${id}`)).toEqual([]);
    expect(await on.run('write it', '--over', 'repos/*', ...model)).toMatchObject({ code: 0 });
    expect(on.server.requests()).toHaveLength(4);
    const logs = await on.run('logs', id, 'one');
    expect(logs.stdout).toMatch(/write it[\s\S]*It is written\./);
    const stored = JSON.parse((await on.run('show', id, 'one', '--json')).stdout).session;
    const projects = join(on.project.ouroHome, 'projects');
    const kept = (await readdir(projects)).map((folder) => join(projects, folder, `${stored}.jsonl`));
    expect(await readFile(kept.find(existsSync) ?? '', 'utf8')).toContain('It is written.');
  });

  test('a dry run lists every task and the maximum cost, and sends and stores nothing', async () => {
    on.project = await projectWithRepos(['one', 'two', 'three']);
    on.server = await startApiServer({ turns: fileWritingModel });
    const { code, stdout } = await on.run('write it', '--over', 'repos/*', '--each', '0.5', '--dry-run');
    expect(code).toBe(0);
    expect(stdout.match(/^ {2}(one|three|two) {2}/gm)).toHaveLength(3);
    expect(stdout).toContain('at most $0.50 each and $1.50 in total');
    expect(on.server.all()).toEqual([]);
    expect(existsSync(join(on.project.ouroHome, 'fleet'))).toBe(false);
  });

  longTest('--try at a terminal runs the first task and asks; without it the rest is run', async () => {
    on.project = await projectWithRepos(['one', 'two', 'three', 'four']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    const asked = (answers: readonly string[]) =>
      runHere(
        on.project,
        ['batch', 'write it', '--over', 'repos/*', '--try', '3', '--model', 'claude-sonnet-5-5'],
        on.server?.url,
        { env: on.env, answers },
      );
    const refused = await asked(['n']);
    expect(refused).toMatchObject({ code: 0 });
    expect(refused.stderr).toContain('Start 3 tasks? [y/N]');
    expect(on.server.all()).toEqual([]);
    const tried = await asked(['y', '']);
    expect(tried).toMatchObject({ code: 0 });
    expect(tried.stderr).toContain('Start the other 1 task? [y/N]');
    expect(tried.stdout).toContain('3 of 3 done');
    expect(on.server.requests()).toHaveLength(6);
    const all = await asked(['y', 'yes']);
    expect(all.stdout).toContain('4 of 4 done');
    expect(on.server.requests()).toHaveLength(8);
  });

  longTest('work that its check rejects continues in the same session until it passes', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    let asked = 0;
    on.server = await startApiServer({
      turns(request) {
        if (isAfterCall(request)) return says('Done.');
        asked += 1;
        return asked === 1 ? says('I think it is fine.') : fileWritingModel(request);
      },
    });
    const end = await on.run(
      'write it',
      '--over',
      'repos/one',
      '--verify',
      'test -f done.txt || { echo no file; false; }',
      ...model,
    );
    expect(end).toMatchObject({ code: 0 });
    const second = JSON.stringify(on.server.requests()[1]?.body.messages);
    expect(second).toContain('I think it is fine.');
    expect(second).toContain('no file');
    expect((await on.run('show', idOf(end.stdout), 'one')).stdout).toContain('verified: yes');
  });

  longTest(
    'an exhausted quota pauses the lane: no attempt is used up, and without waiting it ends with 4',
    async () => {
      on.project = await projectWithRepos(['one', 'two', 'three']);
      await writePolicy(on.project);
      let isGone = true;
      on.server = await startApiServer({
        turns: (request) => (isGone ? status(402, 'Your credit balance is too low') : fileWritingModel(request)),
      });
      const waiting = await on.run('write it', '--over', 'repos/*', '-j', '2', '--no-wait', ...model);
      expect(waiting.code).toBe(4);
      expect(waiting.stdout).toContain('the credit is used up (402)');
      expect(on.server.requests().length).toBeLessThanOrEqual(2);
      isGone = false;
      await on.run('resume', idOf(waiting.stdout));
      expect(await on.run('write it', '--over', 'repos/*', '-j', '2', ...model)).toMatchObject({ code: 0 });
      const { stdout } = await on.run('status', '--json');
      expect(JSON.parse(stdout)).toMatchObject({ counts: { done: 3, failed: 0 } });
    },
  );

  whole('a machine without a key leaves with a sentence, and no attempt is used up', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    const { code, stderr, stdout } = await on.run('write it', '--over', 'repos/one', '-j', '1', '--yes');
    expect(code).toBe(4);
    expect(stderr).toContain('This worker stops: No API key.');
    expect(JSON.parse((await on.run('status', idOf(stdout), '--json')).stdout)).toMatchObject({
      tasks: [{ tries: 0, state: 'waiting' }],
    });
  });

  longTest('a killed worker is paid for to the last request, and its task continues in the same session', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project, { leaseSeconds: 4 });
    const held = gate();
    on.server = await startApiServer({
      turns: (request, index) =>
        index === 0
          ? fileWritingModel(request)
          : index === 1
            ? { kind: 'later', until: held.closed, turn: says('late') }
            : says('Went on.'),
    });
    const settings = { env: { OURO_RETRY_BASE_MS: '1', ...on.env } };
    const first = startOuro(
      on.project,
      ['batch', 'write it', '--over', 'repos/one', ...model],
      on.server.url,
      settings,
    );
    await on.server.waitForRequest(2);
    await first.kill();
    const second = await on.run('write it', '--over', 'repos/one', ...model);
    held.open();
    expect(second).toMatchObject({ code: 0 });
    expect(JSON.stringify(on.server.requests()[2]?.body.messages)).toContain('write it');
    const status = JSON.parse((await on.run('status', '--json')).stdout);
    const one = JSON.parse((await on.run('show', status.id, 'one', '--json')).stdout);
    // Each reply is 25 tokens in and 12 out, at 2 and 10 dollars a million: nobody got the second one.
    expect({ tries: one.tries, spent: status.spent }).toEqual({ tries: 2, spent: 2 * (25 * 2 + 12 * 10) });
  });

  test('a paused batch is not reported as done', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    const { stdout } = await on.run('write it', '--over', 'repos/one', '--detach', ...model);
    await on.run('pause', stdout.trim());
    const { code, stdout: said } = await on.run('write it', '--over', 'repos/one', ...model);
    expect(code).toBe(4);
    expect(said).toContain(': paused');
    expect(on.server.all()).toEqual([]);
  });

  whole('another prompt is another batch', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    await on.run('write it', '--over', 'repos/*', ...model);
    await on.run('write something else', '--over', 'repos/*', ...model);
    expect(on.server.requests()).toHaveLength(4);
    expect((await on.run('--json')).stdout.match(/"id"/g)).toHaveLength(2);
  });

  whole('--reuse sends only what is new when a repository was added', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    await on.run('write it', '--over', 'repos/*', ...model);
    await addRepo(on.project, 'two', { 'a.txt': 'beta\n' });
    const { code, stderr } = await on.run('write it', '--over', 'repos/*', '--reuse', ...model);
    expect(code).toBe(0);
    expect(stderr).toContain('Reused 1 result');
    expect(on.server.requests()).toHaveLength(4);
  });

  whole('--try where nobody can be asked says what is left', async () => {
    on.project = await projectWithRepos(['one', 'two']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    const tried = await on.run('write it', '--over', 'repos/*', '--try', '1', ...model);
    expect(tried.stderr).toContain('1 task not started');
    expect(on.server.requests()).toHaveLength(2);
  });

  whole('three that fail are named, and the batch is not called done', async () => {
    on.project = await projectWithRepos(['one', 'two']);
    await addRepo(on.project, 'bad', { 'a.txt': 'bad\n' });
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    const { code, stdout } = await on.run('write it', '--over', 'repos/*', '--verify', 'grep -q alpha a.txt', ...model);
    expect(code).toBe(1);
    expect(stdout).toContain('1 failed');
    expect(stdout).toMatch(/failed {2}bad-\w+ {2}not verified after 2 of 2 tries/);
    expect(stdout).not.toMatch(/: done$/m);
  });

  whole('the budget stops what has not begun, with 3, and more of it goes on', async () => {
    on.project = await projectWithRepos(['one', 'two']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    const stopped = await on.run(
      'write it',
      '--over',
      'repos/*',
      '--each',
      '0.01',
      '--all',
      '0.0102',
      '-j',
      '1',
      ...model,
    );
    expect(stopped.code).toBe(3);
    expect(stopped.stdout).toContain('1 of 2 done');
    await on.run('budget', idOf(stopped.stdout), '+1');
    expect(await on.run('write it', '--over', 'repos/*', '--each', '0.01', '--all', '0.0102', ...model)).toMatchObject({
      code: 0,
    });
  });

  whole('a machine without git leaves with a sentence, and no attempt is used up', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    const { stdout } = await on.run('write it', '--over', 'repos/one', '--detach', ...model);
    const without = { env: { ...on.env, PATH: on.project.home } };
    const { code, stderr } = await runHere(on.project, ['worker', '--until-empty', '-j', '1'], on.server.url, without);
    expect(code).toBe(4);
    expect(stderr).toMatch(/This worker stops: .*git/);
    expect(on.server.all()).toEqual([]);
    expect(JSON.parse((await on.run('status', stdout.trim(), '--json')).stdout)).toMatchObject({
      tasks: [{ tries: 0, state: 'waiting' }],
    });
  });

  whole(
    'a summary reads what all others came to, the failed ones too, and counts once though its worker is killed',
    async () => {
      on.project = await projectWithRepos(['one', 'two']);
      await addRepo(on.project, 'bad', { 'a.txt': 'bad\n' });
      await writePolicy(on.project, { leaseSeconds: 4 });
      await on.project.write(
        'fleet.yaml',
        'name: sum\nprompt: write it\nover: { repos: [repos/*] }\nmodel: claude-sonnet-5-5\n' +
          'verify: { run: grep -q alpha a.txt, tries: 1 }\ncollect: { summary: What differs? }\n',
      );
      const held = gate();
      let summaries = 0;
      on.server = await startApiServer({
        turns(request) {
          if (!JSON.stringify(request.body.messages).includes('What differs?')) return fileWritingModel(request);
          summaries += 1;
          return summaries === 1
            ? { kind: 'later', until: held.closed, turn: says('Too late.') }
            : says('Nothing differs.');
        },
      });
      const first = startOuro(on.project, ['batch', 'run', 'fleet.yaml', '--yes'], on.server.url, { env: on.env });
      await on.server.waitForRequest(7);
      await first.kill();
      held.open();
      const { code } = await on.run('run', 'fleet.yaml', '--yes');
      expect(code).toBe(1);
      const shown = JSON.parse((await on.run('show', 'sum', 'summary', '--json')).stdout);
      expect(shown).toMatchObject({ state: 'done', tries: 2, result: { answer: 'Nothing differs.' } });
      expect([summaries, on.server.requests().length]).toEqual([2, 8]);
      const { tasks } = JSON.parse((await on.run('status', '--json')).stdout);
      const states = tasks.map((task: { readonly state: string }) => task.state).toSorted();
      expect(states).toEqual(['done', 'done', 'done', 'failed']);
    },
  );

  whole('what has failed begins again when somebody says so, with the session it had', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    on.server = await startApiServer({
      turns: (request) =>
        JSON.stringify(request.body.messages).includes('interrupted')
          ? fileWritingModel(request)
          : says('I did nothing.'),
    });
    const args = ['write it', '--over', 'repos/one', '--verify', 'test -f done.txt', ...model];
    const failed = await on.run(...args);
    expect(failed.code).toBe(1);
    expect(failed.stdout).toMatch(/Retry failed tasks with: ouro batch retry \S+ --failed/);
    expect(await on.run('retry', idOf(failed.stdout))).toMatchObject({ code: 2 });
    const before = on.server.requests().length;
    expect((await on.run('retry', idOf(failed.stdout), '--failed')).stdout).toContain('retrying 1 task');
    expect(await on.run(...args)).toMatchObject({ code: 0 });
    expect(JSON.stringify(on.server.requests()[before]?.body.messages)).toMatch(/I did nothing.*interrupted/);
  });

  whole(
    'a cancel ends what runs within seconds; nothing has failed, and resume goes on with the sessions',
    async () => {
      on.project = await projectWithRepos(['one', 'two', 'three', 'four']);
      await writePolicy(on.project, { leaseSeconds: 6 });
      let isHanging = true;
      on.server = await startApiServer({
        turns: (request) => (isHanging && isAfterCall(request) ? { kind: 'hang' } : fileWritingModel(request)),
      });
      const running = startOuro(
        on.project,
        ['batch', 'write it', '--over', 'repos/*', '-j', '4', ...model],
        on.server.url,
        {
          env: on.env,
        },
      );
      await on.server.waitForRequest(8);
      const id = JSON.parse((await on.run('--json')).stdout)[0].id;
      await on.run('cancel', id);
      expect((await running.ended).code).toBe(1);
      await expectNoChildren();
      expect(JSON.parse((await on.run('status', id, '--json')).stdout)).toMatchObject({
        counts: { cancelled: 4, failed: 0 },
      });
      for (const { key, endedMs } of JSON.parse((await on.run('status', id, '--json')).stdout).tasks) {
        const { attempts } = JSON.parse((await on.run('show', id, key, '--json')).stdout);
        expect(attempts[0].endedMs - endedMs).toBeLessThan(20_000);
      }
      isHanging = false;
      await on.run('resume', id);
      expect(await on.run('write it', '--over', 'repos/*', ...model)).toMatchObject({ code: 0 });
      const [before, after] = [on.server.requests().slice(0, 8), on.server.requests().slice(8)];
      expect([before.length, after.length]).toEqual([8, 4]);
      for (const request of after)
        expect(JSON.stringify(request.body.messages)).toMatch(/write it.*tool_result.*interrupted/);
    },
  );

  whole('an interrupt gives back what runs, with the code of the signal', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: () => ({ kind: 'hang' }) });
    const running = startOuro(on.project, ['batch', 'write it', '--over', 'repos/one', ...model], on.server.url, {
      env: on.env,
    });
    await on.server.waitForRequest(1);
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    const { counts, tasks } = JSON.parse((await on.run('status', '--json')).stdout);
    expect(counts).toMatchObject({ waiting: 1 });
    expect(tasks).toMatchObject([{ tries: 0, reason: 'its worker was stopped' }]);
  });

  whole(
    'a worker that is asked to end gives back what it runs, and its children are gone; another machine goes on',
    async () => {
      on.project = await projectWithRepos(['one']);
      await writePolicy(on.project);
      let isHanging = true;
      on.server = await startApiServer({
        turns: (request) => (isHanging && isAfterCall(request) ? { kind: 'hang' } : fileWritingModel(request)),
      });
      const { stdout } = await on.run('write it', '--over', 'repos/one', '--detach', ...model);
      const worker = startOuro(on.project, ['worker', '-j', '2'], on.server.url, { env: on.env });
      await on.server.waitForRequest(2);
      worker.child.kill('SIGTERM');
      expect((await worker.ended).code).toBe(143);
      await expectNoChildren();
      const status = async () => JSON.parse((await on.run('status', stdout.trim(), '--json')).stdout);
      expect((await status()).tasks).toMatchObject([{ state: 'waiting', tries: 0, reason: 'its worker was stopped' }]);
      isHanging = false;
      expect(await on.run('write it', '--over', 'repos/one', ...model)).toMatchObject({ code: 0 });
      expect((await status()).tasks).toMatchObject([{ state: 'done', result: { stat: { files: 1 } } }]);
    },
  );

  /** No ouro of a task is left. */
  async function expectNoChildren(): Promise<void> {
    const left = (await processesMarked(on.project.marker)).filter(({ command }) => command.includes('stream-json'));
    expect(left).toEqual([]);
  }
});

/** Every status begins with the name of its batch. */
function idOf(stdout: string): string {
  return /^([\w-]+-[0-9a-f]{6}): /m.exec(stdout)?.[1] ?? '';
}

whole('the first batch of docs/fleet.md works as it is written, without a key', async () => {
  await using project = await createTempProject();
  await writePolicy(project);
  const page = await readFile(join(import.meta.dirname, '../../../../docs/fleet.md'), 'utf8');
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? [];
  const lines = block.trim().split('\n');
  expect(lines).toHaveLength(4);
  for (const line of lines) {
    const { code, stderr } = await runHere(project, line.split(' ').slice(1), undefined, {
      env: { PATH: process.env.PATH },
    });
    expect(code, stderr).toBe(0);
  }
  expect(await readdir(join(project.dir, 'fleet-demo/patches'))).toHaveLength(3);
});
