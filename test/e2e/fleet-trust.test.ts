import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../src/fleet/stores/open-store.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { gate, startApiServer } from '../support/api/server.ts';
import {
  addRepo,
  isAfterCall,
  projectWithRepos,
  STORES_OF_A_RUN,
  writePolicy,
  writingModel,
} from '../support/fleet.ts';
import { fleetBench } from '../support/fleet-bench.ts';
import { processesMarked } from '../support/processes.ts';
import { runHere } from '../support/run-here.ts';
import { startOuro } from '../support/run-ouro.ts';
import { isWholeRun } from '../support/runs.ts';

const whole = test.skipIf(!isWholeRun);
const MODEL = ['--model', 'claude-sonnet-5-5', '--yes'];

describe.each(STORES_OF_A_RUN)('trust over %s', (kind) => {
  const on = fleetBench(kind);

  test('a hostile repository runs nothing', async () => {
    on.project = await projectWithRepos([]);
    const mark = join(on.project.dir, 'ran');
    const repo = await addRepo(on.project, 'evil', {
      '.env': `X=$(touch ${mark})\n`,
      'bunfig.toml': 'preload = ["./evil.ts"]\n',
      'evil.ts': `require('node:fs').writeFileSync('${mark}', '');\n`,
      '.ouro/settings.json': JSON.stringify({
        hooks: { SessionStart: [{ hooks: [{ type: 'command', command: `touch ${mark}` }] }] },
      }),
      '.gitattributes': '* filter=evil\n',
      'a.txt': 'alpha\n',
    });
    await on.project.git('-C', repo, 'config', 'filter.evil.smudge', `sh -c 'touch ${mark}; cat'`);
    await on.project.git('-C', repo, 'config', 'uploadpack.packObjectsHook', `sh -c 'touch ${mark}; exec "$@"'`);
    await on.project.write('repos/evil/.git/hooks/post-checkout', `#!/bin/sh\ntouch ${mark}\n`);
    await chmod(join(repo, '.git/hooks/post-checkout'), 0o755);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: writingModel });
    expect(await on.run('write it', '--over', 'repos/evil', ...MODEL)).toMatchObject({ code: 0 });
    expect(existsSync(mark)).toBe(false);
  });

  whole('only tasks that somebody who may has signed are run, and only as they were signed', async () => {
    on.project = await projectWithRepos(['one']);
    const [key, stranger] = [join(on.project.dir, 'key'), join(on.project.dir, 'stranger')];
    for (const file of [key, stranger])
      await promisify(execFile)('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
    const allowedSigners = join(on.project.dir, 'allowed');
    await writeFile(allowedSigners, `me@here ${await readFile(`${key}.pub`, 'utf8')}`);
    await writePolicy(on.project, { allowedSigners });
    on.server = await startApiServer({ turns: writingModel });
    const batch = (words: string, ...more: readonly string[]) =>
      on.run(words, '--over', 'repos/one', ...MODEL, ...more);
    const unsigned = await batch('unsigned');
    expect(unsigned.code).toBe(1);
    expect(unsigned.stdout).toContain('it is not signed, and this machine runs signed tasks only');
    const wrong = await batch('by a stranger', '--sign', stranger);
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toContain(`nobody in ${allowedSigners} has signed it`);
    const { stdout: id } = await batch('changed later', '--sign', key, '--detach');
    await change("UPDATE fleet_tasks SET spec = replace(spec, 'changed later', 'rm -rf it all')");
    const changed = await runHere(on.project, ['worker', '--until-empty'], on.server.url, { env: on.env });
    expect(changed).toMatchObject({ code: 0 });
    expect((await on.run('status', id.trim())).stdout).toContain('it was changed after it was signed');
    expect(on.server.all()).toEqual([]);
    expect(await batch('signed', '--sign', key)).toMatchObject({ code: 0 });
    expect(on.server.requests()).toHaveLength(2);
  });

  whole('what somebody wrote into the queue leads nowhere else, and runs no command', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project);
    on.server = await startApiServer({ turns: writingModel });
    const mark = join(on.project.dir, 'ran');
    const places = [
      { url: `ext::sh -c touch% ${mark}`, commit: 'a'.repeat(40), folder: '' },
      { url: `--upload-pack=touch ${mark}`, commit: 'a'.repeat(40), folder: '' },
      { url: '../../one', commit: 'a'.repeat(40), folder: '' },
      { url: join(on.project.dir, 'repos/one'), commit: '--all', folder: '' },
      { url: join(on.project.dir, 'repos/one'), commit: 'a'.repeat(40), folder: '../..' },
    ];
    for (const [at, place] of places.entries()) {
      const { stdout } = await on.run(`write ${at}`, '--name', `n${at}`, '--over', 'repos/one', '--detach', ...MODEL);
      const spec = { ...(await specOf(stdout.trim())), place };
      await change(
        `UPDATE fleet_tasks SET spec = '${JSON.stringify(spec).replaceAll("'", "''")}' WHERE batch = '${stdout.trim()}'`,
      );
    }
    expect(await runHere(on.project, ['worker', '--until-empty'], on.server.url, { env: on.env })).toMatchObject({
      code: 0,
    });
    const failed = JSON.parse((await on.run('--json')).stdout);
    expect(failed.map(({ counts }: { readonly counts: object }) => counts)).toEqual(
      places.map(() => expect.objectContaining({ failed: 1, done: 0 })),
    );
    expect(existsSync(mark)).toBe(false);
    expect(on.server.all()).toEqual([]);
  });

  whole('no key is on a command line, in the queue, in what it keeps, or in what is printed', async () => {
    on.project = await projectWithRepos(['one']);
    await writePolicy(on.project, { env: ['DEPLOY_TOKEN'] });
    const secret = 'sk-ant-marked-0123456789abcdef';
    const token = 'without-a-shape-4711';
    const held = gate();
    on.server = await startApiServer({
      turns(request) {
        if (!isAfterCall(request))
          return calls(toolUse('Write', { file_path: 'note.txt', content: `it is ${token}\n` }));
        return { kind: 'later', until: held.closed, turn: says(`It says ${token} and ${secret}.`) };
      },
    });
    await on.project.write(
      'fleet.yaml',
      'name: secret\nprompt: read it\nover: { repos: [repos/one] }\nmodel: claude-sonnet-5-5\n' +
        'env: [DEPLOY_TOKEN]\n',
    );
    await on.run('run', 'fleet.yaml', '--detach', '--yes');
    const secrets = { ANTHROPIC_API_KEY: secret, DEPLOY_TOKEN: token, PGPASSWORD: 'queue-password-1' };
    const worker = startOuro(on.project, ['worker', '--until-empty'], on.server.url, {
      env: { ...on.env, ...secrets },
    });
    await on.server.waitForRequest(2);
    const marked = await processesMarked(on.project.marker);
    const lines = marked.map(({ pid }) => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).join('\n');
    expect(lines).toContain('stream-json');
    held.open();
    const { stdout, stderr } = await worker.ended;
    const printed = await Promise.all(
      [
        ['status', '--json'],
        ['show', 'secret', 'one', '--json'],
        ['logs', 'secret', 'one', '--json'],
      ].map((args) => on.run(...args)),
    );
    expect(printed[0]?.stdout).toContain('its patch holds a key or a token of the machine it ran on');
    expect(printed[2]?.stdout).toContain('[secret]');
    const everything = [lines, stdout, stderr, ...printed.flatMap((one) => [one.stdout, one.stderr]), await stored()];
    for (const hidden of Object.values(secrets)) expect(everything.filter((text) => text.includes(hidden))).toEqual([]);
  });

  /** Somebody who can write to the queue does so. */
  async function change(text: string): Promise<void> {
    const { OURO_QUEUE: url } = on.env;
    if (url !== undefined) return void (await on.queue.server().query(url, text));
    const database = new DatabaseSync(join(on.project.ouroHome, 'fleet', 'fleet.db'));
    database.exec(text);
    database.close();
  }

  async function specOf(id: string): Promise<object> {
    return JSON.parse((await on.run('show', id, 'one', '--json')).stdout).spec;
  }

  /** All there is in the queue, byte for byte, and the files it keeps as they were handed in. */
  async function stored(): Promise<string> {
    const { OURO_QUEUE: url } = on.env;
    const folder = join(on.project.ouroHome, 'fleet');
    const store = await openStore(url === undefined ? { kind: 'here', folder } : { kind: 'postgres', url });
    const texts: string[] = [];
    for (const { id } of await store.batches())
      for (const { key } of await store.tasks(id))
        for (const name of ['patch', 'transcript', 'unfinished'] as const)
          texts.push(Buffer.from((await store.file(id, key, name)) ?? []).toString('utf8'));
    await store.close();
    expect(texts.join('')).not.toBe('');
    if (url !== undefined) return `${texts.join('\n')}${await on.queue.server().dump(url)}`;
    const files = readdirSync(folder).filter((file) => file.startsWith('fleet.db'));
    return [...texts, ...files.map((file) => readFileSync(join(folder, file), 'latin1'))].join('\n');
  }
});
