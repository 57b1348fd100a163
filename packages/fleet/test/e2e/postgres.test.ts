import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { says } from '../../../../test/support/api/reply.ts';
import { type ApiServer, gate, startApiServer } from '../../../../test/support/api/server.ts';
import { NO_POSTGRES, startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startOuro } from '../../../../test/support/run-ouro.ts';
import { isWholeRun } from '../../../../test/support/runs.ts';
import { createTempFolder } from '../../../../test/support/temp-folder.ts';
import type { TempProject } from '../../../../test/support/temp-project.ts';
import { fileWritingModel, projectWithRepos, writePolicy } from '../support/fleet.ts';

describe.skipIf(NO_POSTGRES !== undefined || !isWholeRun)('a queue on Postgres', () => {
  let postgres: TestPostgres;
  let url: string;
  let project: TempProject;
  let server: ApiServer | undefined;
  const others: string[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.close());
  afterEach(async () => {
    await server?.close();
    server = undefined;
    await project.remove();
    for (const folder of others.splice(0)) await rm(folder, { recursive: true, force: true });
  });

  async function begin(names: readonly string[]): Promise<void> {
    url = await postgres.database();
    project = await projectWithRepos(names);
    await writePolicy(project, { leaseSeconds: 3 });
  }

  const batch = (...args: readonly string[]) =>
    runHere(project, ['batch', ...args], server?.url, { env: { OURO_QUEUE: url } });
  const worker = (env: Readonly<Record<string, string>> = {}) =>
    startOuro(project, ['worker', '--until-empty', '-j', '2'], server?.url, { env: { OURO_QUEUE: url, ...env } });

  /** Another machine: a home of its own, with the same policy. */
  async function otherMachine(): Promise<Readonly<Record<string, string>>> {
    const folder = createTempFolder();
    others.push(folder, `${folder}-work`);
    return { OURO_HOME: folder };
  }

  test('tasks submitted on one machine are run by others and collected by any', async () => {
    await begin(['one', 'two', 'three']);
    server = await startApiServer({ turns: fileWritingModel });
    const submitted = await batch('write it', '--over', 'repos/*', '--detach', '--model', 'claude-sonnet-5-5');
    expect(submitted).toMatchObject({ code: 0 });
    const workers = [worker(), worker(await otherMachine())];
    for (const one of workers) expect(await one.ended).toMatchObject({ code: 0 });
    const { stdout, code } = await batch('status', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ counts: { done: 3 } });
    await batch('collect', submitted.stdout.trim(), '--patches', 'out');
    expect(await readdir(join(project.dir, 'out'))).toHaveLength(3);
    expect(server.requests()).toHaveLength(6);
  });

  test('an unreachable queue is reported in a sentence by every command', async () => {
    await begin(['one']);
    const gone = { env: { OURO_QUEUE: 'postgres://ouro:hidden-word-1@127.0.0.1:1/none' } };
    for (const args of [
      ['batch', 'list'],
      ['batch', 'write it', '--over', 'repos/one', '--yes'],
      ['worker', '--until-empty'],
    ]) {
      const { code, stderr } = await runHere(project, args, server?.url, gone);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^The queue cannot be reached: .*ouro worker doctor\n$/);
      expect(stderr).not.toContain('hidden-word-1');
    }
    const doctor = await runHere(project, ['worker', 'doctor'], server?.url, gone);
    expect(doctor.stdout).toMatch(/FAILED {2}queue .*cannot be reached/);
    const argv = await runHere(project, ['batch', 'list', '--queue', 'postgres://me:hidden@localhost/db']);
    expect(argv).toMatchObject({ code: 2 });
    expect(argv.stderr).toContain('can read a password on the command line');
  });

  test('a killed worker loses nothing: another machine continues its session', async () => {
    await begin(['one']);
    const held = gate();
    let requests = 0;
    server = await startApiServer({
      turns(request) {
        requests += 1;
        if (requests === 1) return fileWritingModel(request);
        return requests === 2 ? { kind: 'later', until: held.closed, turn: says('too late') } : says('Went on.');
      },
    });
    await batch('write it', '--over', 'repos/one', '--detach', '--model', 'claude-sonnet-5-5');
    const first = worker();
    await server.waitForRequest(2);
    await stored('unfinished');
    await first.kill();
    held.open();
    const second = worker(await otherMachine());
    expect(await second.ended).toMatchObject({ code: 0 });
    const third = JSON.stringify(server.requests()[2]?.body.messages);
    expect(third).toContain('write it');
    expect(third).toContain('interrupted');
    const { stdout } = await batch('status', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ tasks: [{ state: 'done', tries: 2, result: { stat: { files: 1 } } }] });
  });

  /** Waits until an attempt that runs has handed something in. */
  async function stored(kind: string): Promise<void> {
    for (;;) {
      const count = await postgres.query(url, `SELECT count(*) FROM fleet_files WHERE kind = '${kind}'`);
      if (Number(count) > 0) return;
    }
  }

  test('a deleted batch leaves nothing on any machine as soon as its worker runs again', async () => {
    await begin(['one']);
    server = await startApiServer({ turns: fileWritingModel });
    const submit = ['write it', '--name', 'old', '--over', 'repos/one', '--detach', '--model', 'claude-sonnet-5-5'];
    const { stdout: id } = await batch(...submit);
    const there = await otherMachine();
    const { OURO_HOME: home = '' } = there;
    await worker(there).ended;
    const mirrors = async () => (await readdir(`${home}-work/.mirrors`)).filter((name) => name.endsWith('.git'));
    const sessions = () => readdir(join(home, 'projects'));
    expect([await mirrors(), await sessions()]).toMatchObject([{ length: 1 }, { length: 1 }]);
    const deleted = await batch('delete', 'old', '--yes');
    const pending = new RegExp(`^${id.trim()}: files not deleted yet on \\S+ \\(`, 'm');
    expect(deleted.stdout).toMatch(pending);
    expect((await batch('list')).stdout).toMatch(pending);
    expect(JSON.parse((await batch('status', id.trim(), '--json')).stdout)).toMatchObject({
      deleted: true,
      pending: [{ machine: expect.any(String) }],
    });
    // The same batch again: that machine cleans up before it claims anything of it.
    await batch(...submit);
    const again = await worker(there).ended;
    expect(again).toMatchObject({ code: 0, stderr: `Deleted the files of batch ${id.trim()} on this machine.\n` });
    expect(server.requests()).toHaveLength(4);
    expect(JSON.parse((await batch('status', '--json')).stdout)).toMatchObject({ counts: { done: 1 } });
    expect(await batch('list')).not.toMatchObject({ stdout: expect.stringMatching(pending) });
    await batch('delete', 'old', '--yes');
    await worker(there).ended;
    expect([await mirrors(), await sessions(), await readdir(`${home}-work`)]).toEqual([[], [], ['.mirrors']]);
    // A machine that does not come back is forgotten by name.
    await batch(...submit);
    await worker(there).ended;
    await batch('delete', 'old', '--yes');
    expect((await batch('delete', id.trim(), '--yes')).stdout).toMatch(/Forgot the files on \S+\.\n$/);
    expect((await batch('list')).stdout).toBe(
      'No batches yet. Start one with: ouro batch "<prompt>" --over <folders>\n',
    );
  });

  test('the address of a queue is stored in a private file', async () => {
    await begin(['one']);
    await project.write('../home/.ouro/queues.json', JSON.stringify({ team: url }));
    const listed = await runHere(project, ['batch', 'list', '--queue', 'team']);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect((await runHere(project, ['batch', 'list', '--queue', 'other'])).stderr).toContain('Known queues: team.');
    expect(await readFile(join(project.ouroHome, 'queues.json'), 'utf8')).toContain(url);
  });
});
