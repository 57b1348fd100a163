import { readdirSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { calls, says, status, toolUse } from '../../../../test/support/api/reply.ts';
import { startApiServer } from '../../../../test/support/api/server.ts';
import { fakeGh, gitServer } from '../../../../test/support/git-server.ts';
import { longTest } from '../../../../test/support/long-test.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { isWholeRun } from '../../../../test/support/runs.ts';
import { fileWritingModel, isAfterCall, projectWithRepos, TESTED_STORES, writePolicy } from '../support/fleet.ts';
import { fleetBench } from '../support/fleet-bench.ts';

/** What is slow besides, and the same in another order, is tried in whole runs only. */
const whole = test.skipIf(!isWholeRun);
const MODEL = ['--model', 'claude-sonnet-5-5'];

describe.each(TESTED_STORES)('results on %s', (kind) => {
  const on = fleetBench(kind);

  longTest(
    '--prs pushes a branch for each and opens a pull request through gh; a second run finds it open',
    async () => {
      on.project = await projectWithRepos(['one', 'two']);
      await writePolicy(on.project);
      on.server = await startApiServer({ turns: fileWritingModel });
      const origin = await gitServer(on.project, ['one', 'two']);
      await fakeGh(on.project);
      const withGh = { env: { ...on.env, PATH: `${on.project.dir}/bin:${process.env.PATH}` } };
      const batch = (...args: readonly string[]) => runHere(on.project, ['batch', ...args], on.server?.url, withGh);
      const urls = ['one', 'two'].map((name) => `${origin.url}/${name}.git`);
      expect(await batch('write it', '--name', 'prs', '--over', ...urls, '--yes', ...MODEL)).toMatchObject({ code: 0 });
      const collected = await batch('collect', 'prs', '--prs');
      expect(collected).toMatchObject({ code: 0, stderr: '' });
      expect(collected.stdout).toContain('https://example.com/pull/1');
      const calls = (await on.project.read('gh-calls')).trim().split('\n');
      expect(calls).toHaveLength(2);
      for (const [at, name] of ['one', 'two'].entries())
        expect(JSON.parse(calls[at] ?? '')).toEqual({
          args: ['pr', 'create', '--repo', urls[at], '--head', 'ouro/prs', '--title', `prs: ${name}`],
          body: 'It is written.',
        });
      for (const name of ['one', 'two'])
        expect(await on.project.git('--git-dir', origin.folderOf(name), 'show', 'ouro/prs:done.txt')).toBe('done\n');
      const again = await batch('collect', 'prs', '--prs');
      expect(again).toMatchObject({ code: 0 });
      expect(again.stdout).toContain('https://example.com/pull/1');
      await origin.close();
    },
  );

  longTest('a changed prompt updates its branch and pull request, but no commit by somebody else', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    on.server = await startApiServer({
      turns: (request) => {
        const text = /write (\w+)/.exec(JSON.stringify(request.body.messages))?.[1] ?? '';
        if (isAfterCall(request)) return says(`It is ${text}.`);
        return calls(toolUse('Write', { file_path: 'done.txt', content: `${text}\n` }));
      },
    });
    const origin = await gitServer(on.project, ['one']);
    await on.project.git('--git-dir', origin.folderOf('one'), 'branch', 'release', 'main');
    await fakeGh(on.project);
    const withGh = { env: { ...on.env, PATH: `${on.project.dir}/bin:${process.env.PATH}` } };
    const batch = (...args: readonly string[]) => runHere(on.project, ['batch', ...args], on.server?.url, withGh);
    const url = `${origin.url}/one.git`;
    const run = async (text: string) => {
      const collect = { draft: true, labels: ['bot'], reviewers: ['ada'], body: '{{answer}} ({{batch}})' };
      const file = {
        name: 'prs',
        prompt: `write ${text}`,
        over: { repos: url },
        ref: 'release',
        model: MODEL[1],
        collect,
      };
      await on.project.write('fleet.yaml', JSON.stringify(file));
      expect(await batch('run', 'fleet.yaml', '--yes')).toMatchObject({ code: 0 });
    };
    const bare = ['--git-dir', origin.folderOf('one')];
    const head = async () => (await on.project.git(...bare, 'rev-parse', 'ouro/prs')).trim();
    await run('alpha');
    expect(await batch('collect', 'prs', '--prs')).toMatchObject({ code: 0, stderr: '' });
    await run('beta');
    expect(await batch('collect', 'prs', '--prs')).toMatchObject({ code: 0, stderr: '' });
    expect(await on.project.git(...bare, 'show', 'ouro/prs:done.txt')).toBe('beta\n');
    const text = ['--base', 'release', '--title', 'prs: one'];
    const create = ['pr', 'create', '--repo', url, '--head', 'ouro/prs', ...text.slice(0, 2)];
    const asked = ['--draft', '--label', 'bot', '--reviewer', 'ada'];
    expect(JSON.parse((await batch('status', 'prs', '--prs', '--json')).stdout).branches).toMatchObject([
      { branch: 'ouro/prs', request: { url: 'https://example.com/pull/1', state: 'merged', checks: 'failed' } },
    ]);
    expect(
      (await on.project.read('gh-calls'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { args: [...create, ...asked, ...text.slice(2)], body: 'It is alpha. (prs)' },
      { args: ['pr', 'edit', 'https://example.com/pull/1', ...text], body: 'It is beta. (prs)' },
    ]);
    const tree = (await on.project.git(...bare, 'rev-parse', 'ouro/prs^{tree}')).trim();
    const byHand = (await on.project.git(...bare, 'commit-tree', tree, '-p', await head(), '-m', 'By hand')).trim();
    await on.project.git(...bare, 'update-ref', 'refs/heads/ouro/prs', byHand);
    await run('gamma');
    const refused = await batch('collect', 'prs', '--prs');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('commits that ouro did not make') });
    expect(await head()).toBe(byHand);
    await origin.close();
  });

  longTest('completed batches are deleted with everything they left, after showing which', async () => {
    on.project = await projectWithRepos(['one', 'two']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: fileWritingModel });
    await on.run('write it', '--name', 'old', '--over', 'repos/one', '--yes', ...MODEL);
    await on.run('write it', '--name', 'open', '--over', 'repos/two', '--detach', '--yes', ...MODEL);
    const listed = async () =>
      JSON.parse((await on.run('--json')).stdout).map(({ name }: { readonly name: string }) => name);
    expect(await on.run('delete')).toMatchObject({ code: 2 });
    expect(await on.run('delete', 'old')).toMatchObject({ code: 2 });
    expect((await on.run('delete', 'open', '--yes')).stderr).toContain('has not ended. Stop it first');
    expect((await on.run('delete', '--older-than', '1', '--yes')).stdout).toBe('Would delete 0 batches.\n');
    const preview = await on.run('delete', '--older-than', '0', '--dry-run');
    expect(preview.stdout).toMatch(/^old-\w+ +done +1 of 1 done[^\n]*\nWould delete 1 batch\.\n$/);
    const answered = (answer: string) =>
      runHere(on.project, ['batch', 'delete', 'old'], on.server?.url, { env: on.env, answers: [answer] });
    expect((await answered('n')).stderr).toContain('Delete 1 batch with all patches and transcripts? [y/N]');
    expect(await listed()).toEqual(['open', 'old']);
    expect((await answered('y')).stdout).toContain('Deleted 1 batch.');
    expect(await listed()).toEqual(['open']);
    const left = readdirSync(join(`${on.project.ouroHome}-work`, '.mirrors')).filter((name) => name.endsWith('.git'));
    expect(left).toEqual([]);
    expect(readdirSync(`${on.project.ouroHome}-work`)).toEqual(['.mirrors']);
    expect(readdirSync(join(on.project.ouroHome, 'projects'))).toEqual([]);
    await on.run('write it', '--name', 'old', '--over', 'repos/one', '--yes', ...MODEL);
    expect(on.server.requests()).toHaveLength(4);
  });

  test('a worker reports what its machine lacks, and starts with a careful policy', async () => {
    on.project = await projectWithRepos([]);
    const worker = (...args: readonly string[]) => runHere(on.project, ['worker', ...args], undefined, { env: on.env });
    expect(await worker('doctor')).toMatchObject({ code: 0 });
    expect(await worker('init')).toMatchObject({ code: 0 });
    const file = join(on.project.ouroHome, 'worker.json');
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ sandbox: true, env: [] });
    expect(await worker('init')).toMatchObject({ code: 1 });
    await on.project.write('../home/.ouro/worker.json', '{');
    await chmod(file, 0o600);
    const doctor = await worker('doctor');
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/FAILED {2}policy .*is damaged/);
    expect(await worker('--once', '--until-empty')).toMatchObject({ code: 2 });
  });

  test('a full disk is reported, and the worker ends', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project, { freeMegabytes: 1_000_000_000 });
    on.server = await startApiServer({ turns: fileWritingModel });
    const { code, stderr } = await on.run('write it', '--over', 'repos/one', '--model', 'claude-sonnet-5-5', '--yes');
    expect(code).toBe(4);
    expect(stderr).toMatch(/This worker stops: only .* are free/);
    expect(on.server.all()).toEqual([]);
    expect(JSON.parse((await on.run('status', '--json')).stdout)).toMatchObject({
      tasks: [{ tries: 0, state: 'waiting' }],
    });
  });

  whole('a judge in a session of its own decides, and its reason reaches the work', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    await on.project.write(
      'fleet.yaml',
      'name: judged\nprompt: write it\nover: { repos: [repos/one] }\nmodel: claude-sonnet-5-5\nverify: { ask: Is it nice?, tries: 2 }\n',
    );
    let judgements = 0;
    on.server = await startApiServer({
      turns(request) {
        if (!JSON.stringify(request.body.messages).includes('Is it nice?')) return fileWritingModel(request);
        judgements += 1;
        return calls(toolUse('StructuredOutput', { accepted: judgements > 1, reason: 'It is not nice yet.' }));
      },
    });
    const { code, stdout, stderr } = await on.run('run', 'fleet.yaml', '--yes');
    expect(code, `${stdout}${stderr}`).toBe(0);
    expect(judgements).toBe(2);
    const goesOn = on.server
      .requests()
      .find(({ body }) => JSON.stringify(body.messages?.at(-1)).includes('not accepted yet'));
    expect(JSON.stringify(goesOn?.body.messages)).toContain('It is not nice yet.');
    expect((await on.run('show', 'judged', 'one')).stdout).toContain('verified: yes');
  });

  whole(
    'branches are made only where nobody else’s stand, and pull requests only where there is a place for them',
    async () => {
      on.project = await projectWithRepos(['one', 'two']);
      await writePolicy(on.project);
      on.server = await startApiServer({ turns: fileWritingModel });
      await on.run('write it', '--name', 'prs', '--over', 'repos/*', '--model', 'claude-sonnet-5-5', '--yes');
      const refused = await on.run('collect', 'prs', '--prs');
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain('has no remote "origin" to open a pull request at');
      expect(await on.run('collect', 'prs', '--branches')).toMatchObject({ code: 0, stderr: '' });
      const log = await on.project.git(
        '-C',
        join(on.project.dir, 'repos/one'),
        'log',
        '--format=%an %s',
        'ouro/prs',
        '--',
      );
      expect(log.split('\n')).toContain('Test Start');
      expect(log).toContain('prs: one');
      const two = join(on.project.dir, 'repos/two');
      await on.project.git('-C', two, 'branch', '-f', 'ouro/prs', 'HEAD');
      const clash = await on.run('collect', 'prs', '--branches');
      expect(clash.code).toBe(1);
      expect(clash.stderr).toContain('the branch ouro/prs already exists with commits that ouro did not make');
    },
  );

  whole('results are JSON for programs, with an answer in the form that was asked for', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    await on.project.write(
      'fleet.yaml',
      'name: form\nprompt: how many?\nover: { repos: [repos/one] }\nmodel: claude-sonnet-5-5\nschema: { type: object, properties: { n: { type: number } }, required: [n] }\n',
    );
    on.server = await startApiServer({ turns: () => calls(toolUse('StructuredOutput', { n: 7 })) });
    expect(await on.run('run', 'fleet.yaml', '--yes')).toMatchObject({ code: 0 });
    const results = JSON.parse((await on.run('collect', 'form', '--json')).stdout);
    expect(results).toMatchObject([{ title: 'one', state: 'done', patch: '', result: { structured: { n: 7 } } }]);
  });

  longTest('a patch that is not UTF-8 survives --json byte for byte', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    await on.project.write(
      'fleet.yaml',
      `name: latin\nprompt: write it\nover: { repos: [repos/one] }\nmodel: claude-sonnet-5-5\nverify: { run: "printf 'caf\\\\351\\\\n' > latin.txt" }\n`,
    );
    on.server = await startApiServer({ turns: () => says('It is written.') });
    expect(await on.run('run', 'fleet.yaml', '--yes')).toMatchObject({ code: 0 });
    const [result] = JSON.parse((await on.run('collect', 'latin', '--json')).stdout);
    expect(result.patchEncoding).toBe('base64');
    await on.run('collect', 'latin', '--patches', 'out');
    const file = await readFile(join(on.project.dir, 'out', `${result.key}.patch`));
    expect(Buffer.from(result.patch, 'base64')).toEqual(file);
    expect(file.includes(Buffer.from('+caf\xe9\n', 'latin1'))).toBe(true);
  });

  whole('what takes longer than its minutes has failed, and is not tried again by itself', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: () => ({ kind: 'hang' }) });
    const args = ['write it', '--over', 'repos/one', '--minutes', '0.02', '--model', 'claude-sonnet-5-5', '--yes'];
    const { code, stdout } = await on.run(...args);
    expect(code).toBe(1);
    expect(stdout).toContain('its time limit was reached');
  });

  whole('a check that hangs is ended after the minutes of its task, and counts as not passed', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: () => says('Done.') });
    const args = [
      'write it',
      '--over',
      'repos/one',
      '--minutes',
      '0.03',
      '--verify',
      'sleep 60',
      '--model',
      'claude-sonnet-5-5',
      '--yes',
    ];
    const { code, stdout } = await on.run(...args);
    expect(code).toBe(1);
    expect(stdout).toMatch(/failed {2}one-\w+ {2}(?:not verified|its time limit)/);
  });

  whole('a provider that asks for patience now and then gets it, and everything is done in the end', async () => {
    on.project = await projectWithRepos(['one', 'two', 'three']);
    await writePolicy(on.project);
    on.server = await startApiServer({
      turns: (request, index) =>
        index % 3 === 1 ? status(429, undefined, { 'retry-after': '0.1' }) : fileWritingModel(request),
    });
    const end = await on.run('write it', '--over', 'repos/*', '--model', 'claude-sonnet-5-5', '--yes', '-j', '3');
    expect(end).toMatchObject({ code: 0 });
    expect(end.stdout).toContain('3 of 3 done');
  });
});
