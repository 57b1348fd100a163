import { describe, expect, test } from 'vitest';
import { says } from '../../../../test/support/api/reply.ts';
import { startApiServer } from '../../../../test/support/api/server.ts';
import { longTest } from '../../../../test/support/long-test.ts';
import { fileWritingModel, projectWithRepos, TESTED_STORES, writePolicy } from '../support/fleet.ts';
import { fleetBench } from '../support/fleet-bench.ts';

describe.each(TESTED_STORES)('an edited task file on %s', (kind) => {
  const on = fleetBench(kind);
  const write = (prompt: string, limits: string, more = '') =>
    on.project.write(
      'fleet.yaml',
      `name: edits\nprompt: ${prompt}\nover: { repos: ["repos/*"] }\nmodel: claude-sonnet-5-5\nlimits: ${limits}\n${more}`,
    );
  const run = (...args: readonly string[]) => on.run('run', 'fleet.yaml', ...args);
  const status = async (id = 'edits') => JSON.parse((await on.run('status', id, '--json')).stdout);

  test('has no effect until it is confirmed; then its limits are in force', async () => {
    on.project = await projectWithRepos(['one', 'two']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    await write('write it', '{ each: 5, all: 20 }');
    expect(await run('--detach')).toMatchObject({ code: 0 });
    await write('write it', '{ each: 0.001, all: 0.001, minutes: 3, turns: 7 }', 'env: [NPM_TOKEN]\n');
    const refused = await run('--detach');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/limits\.all\n\s+- \$20\.00\n\s+\+ \$0\.001/);
    for (const field of ['limits.each', 'minutes (2 tasks)', 'turns (2 tasks)', 'env (2 tasks)'])
      expect(refused.stderr).toContain(field);
    expect(await status()).toMatchObject({ version: 1, limits: { all: 20_000_000 } });
    expect(await run('--detach', '--yes')).toMatchObject({ code: 0 });
    expect(await status()).toMatchObject({ version: 2, limits: { each: 1_000, all: 1_000 } });
    const { spec } = JSON.parse((await on.run('show', 'edits', 'one', '--json')).stdout);
    expect(spec).toMatchObject({ minutes: 3, turns: 7, env: ['NPM_TOKEN'] });
    // The same file once more is no change.
    expect(await run('--detach')).toMatchObject({ code: 0 });
    expect(await status()).toMatchObject({ version: 2 });
  });

  longTest('moves its tasks to another account, and lines to another priority', async () => {
    on.project = await projectWithRepos(['one', 'two']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    await write('write it', '{ each: 5 }');
    expect(await run('--detach')).toMatchObject({ code: 0 });
    await write('write it', '{ each: 5 }', 'account: team\npriority: 3\n');
    expect((await run('--detach')).stderr).toMatch(/account \(2 tasks\)\n\s+- anthropic\n\s+\+ anthropic:team/);
    expect(await run('--detach', '--yes')).toMatchObject({ code: 0 });
    const moved = { lane: 'anthropic:team', priority: 3 };
    expect(await status()).toMatchObject({ version: 2, tasks: [moved, moved] });
    const lines = (priority: number) =>
      on.project.write(
        'lines.jsonl',
        `{"repo":"repos/one","prompt":"a"}\n{"repo":"repos/two","prompt":"b","priority":${priority}}\n`,
      );
    await lines(0);
    expect(await on.run('run', 'lines.jsonl', '--detach', '--yes')).toMatchObject({ code: 0 });
    await lines(5);
    expect((await on.run('run', 'lines.jsonl', '--detach')).stderr).toContain('priority (1 task)');
    expect(await on.run('run', 'lines.jsonl', '--detach', '--yes')).toMatchObject({ code: 0 });
    expect(await status('lines')).toMatchObject({ tasks: [{ priority: 0 }, { priority: 5 }] });
  });

  longTest('is what a retry runs, and a budget raised by command stays in force and is shown', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: () => says('I did nothing.') });
    await write('write it', '{ each: 5, all: 20 }', 'verify: { run: test -f done.txt, tries: 1 }\n');
    expect(await run()).toMatchObject({ code: 1 });
    await on.run('budget', 'edits', '+7');
    expect((await run()).stderr).toContain('$5.00 in total');
    expect(await status()).toMatchObject({ version: 1, limits: { all: 27_000_000 } });
    await write('write it', '{ each: 5, all: 20, turns: 1 }', 'verify: { run: test -f done.txt, tries: 1 }\n');
    expect(await run('--yes', '--detach')).toMatchObject({ code: 0 });
    expect(await status()).toMatchObject({ version: 2, limits: { all: 27_000_000 } });
    await on.server.close();
    on.server = await startApiServer({ turns: fileWritingModel });
    await on.run('retry', 'edits', '--failed');
    expect((await run()).stdout).toContain('its limit of turns was reached');
  });

  longTest('with another prompt replaces the batch of that name, and the old prompt continues it', async () => {
    on.project = await projectWithRepos(['one', 'two']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    await write('write it', '{ each: 5 }');
    const { stdout: first } = await run('--detach');
    await write('write it well', '{ each: 5 }');
    expect(await run('--detach')).toMatchObject({ code: 2, stderr: expect.stringContaining('prompt (2 tasks)') });
    const { stdout: second } = await run('--detach', '--yes');
    expect(second).not.toBe(first);
    expect(await status(first.trim())).toMatchObject({
      replacedBy: second.trim(),
      counts: { cancelled: 2, waiting: 0 },
    });
    expect(await status()).toMatchObject({ id: second.trim(), version: 2, counts: { waiting: 2 } });
    expect(await on.run('retry', first.trim(), '--failed')).toMatchObject({ code: 2 });
    await write('write it', '{ each: 5 }');
    expect(await run('--yes')).toMatchObject({ code: 0 });
    expect(await status()).toMatchObject({ id: first.trim(), counts: { done: 2 } });
    expect(await status(second.trim())).toMatchObject({ counts: { cancelled: 2 } });
    expect(on.server.requests()).toHaveLength(4);
  });

  longTest(
    'with another ref or other targets replaces the batch of that name, too; a later commit only runs it again',
    async () => {
      on.project = await projectWithRepos(['one', 'two']);
      await writePolicy(on.project);
      on.server = await startApiServer({ turns: fileWritingModel });
      const commit = () =>
        on.project.git('-C', `${on.project.dir}/repos/one`, 'commit', '--allow-empty', '-q', '-m', 'More');
      const writeOver = (over: string, more = '') =>
        on.project.write(
          'fleet.yaml',
          `name: edits\nprompt: write it\nover: ${over}\nmodel: claude-sonnet-5-5\nlimits: { each: 5, all: 20 }\n${more}`,
        );
      await writeOver('{ repos: ["repos/*"] }');
      const { stdout: first } = await run('--detach');
      await commit();
      expect(await run('--detach')).toMatchObject({ code: 2, stderr: expect.stringContaining('commit (1 task)') });
      await writeOver('{ repos: ["repos/*"] }', 'ref: HEAD~1\n');
      await on.project.git('-C', `${on.project.dir}/repos/two`, 'commit', '--allow-empty', '-q', '-m', 'More');
      expect((await run('--detach')).stderr).toMatch(/collect\n.*\n.*HEAD~1/);
      await writeOver('{ repos: [repos/one] }');
      expect((await run('--detach')).stderr).toMatch(/targets\n\s+- two\n\s+\+ \(none\)/);
      expect(await run('--yes')).toMatchObject({ code: 0 });
      expect(await status(first.trim())).toMatchObject({ counts: { cancelled: 2, waiting: 0, done: 0 } });
      expect(await status()).toMatchObject({ version: 2, counts: { done: 1 } });
      await commit();
      expect(await run('--detach')).toMatchObject({ code: 0 });
      await writeOver('{ repos: ["repos/*"] }');
      const grown = await run('--detach');
      expect(grown).toMatchObject({ code: 2, stderr: expect.stringMatching(/targets\n\s+- \(none\)\n\s+\+ two/) });
    },
  );
});
