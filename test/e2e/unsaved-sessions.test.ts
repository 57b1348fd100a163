import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, rmdir, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { client, ndJsonStream, type SessionUpdate } from '@agentclientprotocol/sdk';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSession, readMessages } from '../../src/sdk/session.ts';
import { getProjectDir } from '../../src/session/paths.ts';
import { getUnsavedPath } from '../../src/session/unsaved-lines.ts';
import { says } from '../support/api/reply.ts';
import { type ApiServer, gate, type Script, startApiServer } from '../support/api/server.ts';
import { bareEnvironment } from '../support/environment.ts';
import { startJsonHost } from '../support/json-host.ts';
import { longTest } from '../support/long-test.ts';
import { runHere, startHere } from '../support/run-here.ts';
import { LAUNCHER, runOuro, startOuro } from '../support/run-ouro.ts';
import { isWholeRun } from '../support/runs.ts';
import { storedFile, storedFiles } from '../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { toWebStream } from '../support/web-stream.ts';

const run = promisify(execFile);

/** The folder with the lines of refused session files, one for each user. */
const UNSAVED = join(tmpdir(), `ouro-unsaved-${process.getuid?.() ?? 'user'}`);

let project: TempProject;
let server: ApiServer;
let dir: string;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
  server = await startApiServer({ turns: () => says('The walrus was Paul.') });
  dir = getProjectDir(project.ouroHome, project.dir);
});

afterEach(async () => {
  await server.close();
  await project.remove();
  // The leftovers of a test that failed.
  await rm(dirname(dirname(getUnsavedPath(UNSAVED, join(dir, 'x')))), { recursive: true, force: true });
  await rmdir(UNSAVED).catch(() => undefined);
});

const ouro = (...args: readonly string[]) => runHere(project, args, server.url);
const aside = () => join(project.home, 'aside');

/** Refuses every write to the sessions of the folder, whoever writes: a file is in the place of their folder. */
async function refuse(): Promise<void> {
  await mkdir(dirname(dir), { recursive: true });
  if (existsSync(dir)) await rename(dir, aside());
  await writeFile(dir, 'in the way');
}

async function accept(): Promise<void> {
  await rm(dir);
  if (existsSync(aside())) await rename(aside(), dir);
}

async function serve(turns: Script['turns']): Promise<void> {
  await server.close();
  server = await startApiServer({ turns });
}

const lastSaid = () => JSON.stringify(server.requests().at(-1)?.body.messages);

/** Lists the unsaved files of this home, by their names. */
const listUnsaved = async () =>
  (await readdir(dirname(getUnsavedPath(UNSAVED, join(dir, 'x')))).catch(() => [])).toSorted();

async function listIds(): Promise<readonly string[]> {
  return JSON.parse((await ouro('sessions', 'list', '--json')).stdout).map(({ id }: { readonly id: string }) => id);
}

test('a first session that could not be saved is known to every command, and is saved by the next one', async () => {
  await refuse();
  expect((await ouro('-p', 'who was the walrus?')).stderr).toMatch(/could not be saved .* is kept in /);
  const [id = ''] = await listIds();
  expect(await listUnsaved()).toEqual([`${id}.jsonl`, 'last-heard']);
  expect((await ouro('sessions', 'search', 'was paul')).stdout).toContain('The walrus was Paul.');
  expect((await ouro('sessions', 'show')).stdout).toContain('# who was the walrus?');
  expect((await ouro('sessions', 'export', id, '--format', 'json')).stdout).toContain('The walrus was Paul.');
  expect(await ouro('sessions', 'check')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/sound; not saved yet: .+\.jsonl .*who was the walrus/),
  });
  expect(await ouro('replay', id)).toMatchObject({ code: 0 });
  expect((await ouro('sessions', 'rename', id, 'a title')).stderr).toMatch(/could not be saved/);
  expect((await ouro('-p', '-c', 'and then?')).stderr).toMatch(/ is kept in /);
  expect(lastSaid()).toMatch(/who was the walrus.*Paul.*and then/);
  await accept();
  expect(await ouro('sessions', 'check')).toMatchObject({ code: 0, stdout: expect.stringMatching(/ sound \(/) });
  const { id: stored, path } = await storedFile(project);
  expect([stored, await listUnsaved()]).toEqual([id, []]);
  expect(await readFile(path, 'utf8')).toMatch(/^[^\0]*who was the walrus[^\0]*and then[^\0]*\n$/);
  expect(await ouro('-p', '-c', 'and now?')).toMatchObject({ code: 0, stderr: '' });
  expect(lastSaid()).toMatch(/who was the walrus.*and then.*and now/);
  expect((await storedFile(project)).id).toBe(id);
});

test('of sessions that could not be saved, the last one is continued, also before older ones that are saved', async () => {
  await ouro('-p', 'the old one');
  const { id: old } = await storedFile(project);
  // A clock that was wrong, or another machine's.
  const later = Date.now() / 1000 + 36_000;
  await utimes(join(dir, `${old}.jsonl`), later, later);
  await refuse();
  for (const prompt of ['the first one', 'the second one']) await ouro('-p', prompt);
  await accept();
  expect(await ouro('-p', '-c', 'and now?')).toMatchObject({ code: 0, stderr: '' });
  expect(lastSaid()).toMatch(/the second one.*and now/);
  const files = await storedFiles(project);
  expect(files).toHaveLength(3);
  const check = await ouro('sessions', 'check');
  expect([check.code, check.stdout.match(/ sound \(/g), await listUnsaved()]).toEqual([
    0,
    [' sound (', ' sound (', ' sound ('],
    [],
  ]);
  await ouro('-p', 'a new one');
  await ouro('-p', '-c', 'and then?');
  expect(lastSaid()).toMatch(/a new one.*and then/);
});

test('any start saves what an earlier one could not, and keeps the order of the list', async () => {
  await refuse();
  await ouro('-p', 'the first one');
  await ouro('-p', 'the second one');
  const before = await listIds();
  await accept();
  await ouro('-p', 'a new one');
  expect((await listIds()).slice(1)).toEqual(before);
  expect([(await storedFiles(project)).length, await listUnsaved()]).toEqual([3, []]);
});

test('a deleted session leaves nothing behind, and an id is taken by lines that could not be saved', async () => {
  await refuse();
  await ouro('-p', 'hello');
  const [id = ''] = await listIds();
  expect(await ouro('-p', 'again', '--session-id', id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('already exists'),
  });
  expect(await ouro('sessions', 'delete', id)).toMatchObject({ code: 0 });
  await accept();
  expect([await listIds(), await listUnsaved()]).toEqual([[], ['last-heard']]);
  expect((await ouro('-p', '-c', 'and now?')).stderr).toContain('This folder has no session.');
});

longTest('a copy of a session can be made while nothing can be saved', async () => {
  await refuse();
  await ouro('-p', 'one');
  await ouro('-p', '-c', '--fork-session', 'two');
  expect(lastSaid()).toMatch(/one.*two/);
  await ouro('-p', '-c', 'three');
  expect(lastSaid()).toMatch(/one.*two.*three/);
  await accept();
  expect(await ouro('sessions', 'check')).toMatchObject({ code: 0 });
  const said = (await storedFiles(project)).map(({ records }) => JSON.stringify(records).includes('"two"'));
  expect(said.toSorted()).toEqual([false, true]);
});

test('a session that is still open is not moved under its process, and its second opener gets a copy', async () => {
  await refuse();
  const host = startJsonHost(project, [], server.url);
  host.say('hello');
  await host.waitFor(({ type }) => type === 'result');
  expect((await listUnsaved()).map((name) => name.replace(/^[0-9a-f-]{36}/, 'id'))).toEqual([
    'id.jsonl',
    'id.lock',
    'last-heard',
  ]);
  await accept();
  const [id = ''] = await listIds();
  expect(await listUnsaved()).toContain(`${id}.jsonl`);
  expect(await ouro('sessions', 'delete', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('open in') });
  const second = await ouro('-p', '-r', id, 'me too');
  expect(second).toMatchObject({ code: 0, stderr: expect.stringContaining('open in another ouro') });
  expect(lastSaid()).toMatch(/hello.*me too/);
  host.say('more');
  await host.waitFor(() => host.received().filter(({ type }) => type === 'result').length === 2);
  expect(await host.end()).toBe(0);
  const check = await ouro('sessions', 'check');
  expect([check.code, check.stdout.match(/ sound \(/g)?.length, await listUnsaved()]).toEqual([0, 2, []]);
  const files = await storedFiles(project);
  const texts = files.map((file) => {
    const text = JSON.stringify(file.records);
    return [file.id === id, ...['"me too"', '"more"'].filter((prompt) => text.includes(prompt))].join();
  });
  expect(texts.toSorted()).toEqual(['false,"me too"', 'true,"more"']);
});

longTest(
  'an open one that another process resumes twice is locked although no lock can be written at its file',
  async () => {
    await refuse();
    await ouro('-p', 'hello');
    const [id = ''] = await listIds();
    const { closed, open } = gate();
    await serve([says('waits', { faults: [{ at: 1, do: 'wait', until: closed, pings: 'pings' }] }), says('copy')]);
    const env = { TMPDIR: tmpdir() };
    const holder = startOuro(project, ['-p', '-c', 'hold it'], server.url, { env });
    await server.waitForRequest(1);
    const second = await runOuro(project, ['-p', '-r', id, 'me too'], server.url, { env });
    expect(second.stderr).toContain('open in another ouro');
    open();
    expect((await holder.ended).code).toBe(0);
    await accept();
    expect((await listIds()).length).toBe(2);
    expect(await ouro('sessions', 'check')).toMatchObject({ code: 0 });
  },
);

longTest('what a killed process could not save is restored, from the beginning or from the middle', async () => {
  const env = { TMPDIR: tmpdir() };
  for (const prompts of [['first'], ['first', 'second', 'third']]) {
    const { closed, open } = gate();
    const late = says('late', { faults: [{ at: 1, do: 'wait', until: closed, pings: 'pings' }] });
    await serve((_, index) => (index === prompts.length - 1 ? late : says('fine')));
    await rm(project.ouroHome, { recursive: true, force: true });
    if (prompts.length === 1) await refuse();
    const flags = ['--output-format=stream-json', '--input-format=stream-json', '--verbose'];
    await using running = startOuro(project, [...flags, '-p'], server.url, { stdin: 'open', env });
    for (const [index, content] of prompts.entries()) {
      // The end of the first turn is still being saved when its reply has been sent.
      if (index === 1) await running.waitForOutput(/"type":"result"/).then(refuse);
      running.sendLine({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null });
      await server.waitForRequest(index + 1);
    }
    await running.kill();
    open();
    await accept();
    await serve(() => says('resumed'));
    expect(await ouro('-p', '-c', 'and now?')).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('damaged'),
    });
    expect(prompts.filter((prompt) => !lastSaid().includes(`"${prompt}"`))).toEqual([]);
    expect(await ouro('sessions', 'check')).toMatchObject({ code: 0 });
    expect([(await storedFiles(project)).length, await listUnsaved()]).toEqual([1, []]);
  }
});

test('an editor lists, loads and deletes sessions that could not be saved', async () => {
  await refuse();
  await ouro('-p', 'who was the walrus?');
  await ouro('-p', 'another one');
  const [another = '', id = ''] = await listIds();
  const child = startHere(['acp'], { cwd: '/', env: bareEnvironment(project, server.url) });
  const updates: SessionUpdate[] = [];
  const { agent } = client({ name: 'editor' })
    .onNotification('session/update', ({ params }) => void updates.push(params.update))
    .connect(ndJsonStream(Writable.toWeb(child.stdin), toWebStream(child.stdout)));
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const { sessions } = await agent.request('session/list', { cwd: project.dir });
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual([another, id]);
  await agent.request('session/delete', { sessionId: another });
  await agent.request('session/load', { sessionId: id, cwd: project.dir, mcpServers: [] });
  expect(JSON.stringify(updates)).toContain('The walrus was Paul.');
  await accept();
  await agent.request('session/prompt', { sessionId: id, prompt: [{ type: 'text', text: 'and now?' }] });
  child.stdin.end();
  await once(child, 'exit');
  expect([(await storedFile(project)).id, await listUnsaved()]).toEqual([id, []]);
});

test('a host of stream-json continues a session that could not be saved', async () => {
  await refuse();
  await ouro('-p', 'who was the walrus?');
  const [id] = await listIds();
  await accept();
  const host = startJsonHost(project, ['--continue'], server.url);
  host.say('and now?');
  expect(await host.waitFor(({ type }) => type === 'result')).toMatchObject({ session_id: id });
  expect(await host.end()).toBe(0);
  expect(lastSaid()).toMatch(/walrus.*Paul.*and now/);
  expect((await storedFile(project)).id).toBe(id);
});

test('the library stores elsewhere what its folder refuses, reads it there, and moves it', async () => {
  const folder = join(project.home, 'library', 'sessions');
  const message = (id: string) => ({ role: 'user' as const, id, origin: 'prompt' as const, blocks: [] });
  const notices: string[] = [];
  const open = () =>
    openSession({ dir: folder, sessionId: 'night', onNotice: (level, text) => void notices.push(`${level}: ${text}`) });
  const first = await open();
  await rename(folder, aside());
  await writeFile(folder, 'in the way');
  await first.record({ type: 'message_end', message: message('one') });
  await first.close();
  expect(notices).toEqual([expect.stringMatching(/^error: .* is kept in /)]);
  const ids = async () =>
    (await readMessages({ dir: folder, sessionId: 'night' })).map((stored) => 'id' in stored && stored.id);
  expect(await ids()).toEqual(['one']);
  await rm(folder);
  const second = await open();
  expect(second.messages).toMatchObject([{ id: 'one' }]);
  const copy = await second.fork();
  await second.record({ type: 'message_end', message: message('two') });
  await second.close();
  expect(await ids()).toEqual(['one', 'two']);
  expect(await readMessages({ dir: folder, sessionId: copy })).toMatchObject([{ id: 'one' }]);
  expect((await readFile(join(folder, 'night.jsonl'), 'utf8')).trim().split('\n')).toHaveLength(2);
  expect(existsSync(dirname(getUnsavedPath(UNSAVED, join(folder, 'night.jsonl'))))).toBe(false);
});

longTest(
  'what version 0.2 could not save is restored: a first session, and the end of one that has a file',
  async () => {
    await ouro('-p', 'with a file');
    await ouro('-p', 'without a file');
    const files = await storedFiles(project);
    await mkdir(UNSAVED, { mode: 0o700, recursive: true });
    for (const { path, records } of files) {
      const lines = (await readFile(path, 'utf8')).split('\n');
      const kept = JSON.stringify(records).includes('with a file') ? 5 : 0;
      await writeFile(join(UNSAVED, basename(path)), lines.slice(kept).join('\n'));
      if (kept > 0) await writeFile(path, `${lines.slice(0, kept).join('\n')}\n`);
      else await rm(path);
    }
    await rm(join(dir, 'last-heard'));
    expect((await listIds()).toSorted()).toEqual(files.map(({ id }) => id).toSorted());
    expect(await storedFiles(project)).toEqual(expect.arrayContaining([...files]));
    expect(await ouro('sessions', 'check')).toMatchObject({ code: 0 });
    expect(files.filter(({ path }) => existsSync(join(UNSAVED, basename(path))))).toEqual([]);
  },
);

test('empty files and locks that a killed process left are deleted', async () => {
  await ouro('-p', 'hello');
  const { id } = await storedFile(project);
  const left = ['empty.jsonl', 'empty.lock', 'gone.lock', 'empty.lock.0123456789ab'].map((name) => join(dir, name));
  const old = new Date(Date.now() - 120_000);
  for (const path of left) {
    await writeFile(path, path.endsWith('.lock') ? JSON.stringify({ pid: 2 ** 22 + 1, startTime: '1' }) : '');
    await utimes(path, old, old);
  }
  expect(await listIds()).toEqual([id]);
  await ouro('-p', '-c', 'and now?');
  expect((await readdir(dir)).filter((name) => /empty|gone/.test(name))).toEqual([]);
});

/** A disk that is really full, on kernels that let a user have mounts of their own. */
const ownMounts = isWholeRun && (await mayMount());

function mayMount(): Promise<boolean> {
  return run('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs -o size=64k none /mnt']).then(
    () => true,
    () => false,
  );
}

const FILL = 'head -c 4m /dev/zero >"$HOME/fill" 2>/dev/null';
const FREE = 'rm -f "$HOME"/fill*';

describe.runIf(ownMounts)('on a disk that is really full', () => {
  test.each([
    ['without room', 'size=1m', FILL, FREE],
    ['with room for a part of a line', 'size=1m', `${FILL}; truncate -s -4096 "$HOME/fill"`, FREE],
    ['with room for a lock, but not for the lines', 'size=1m', `${FILL}; truncate -s -8192 "$HOME/fill"`, FREE],
    [
      'without inodes',
      'size=9m,nr_inodes=60',
      'i=0; while touch "$HOME/fill$i"; do i=$((i+1)); done 2>/dev/null',
      FREE,
    ],
    ['that is read-only', 'size=9m', 'mount -o remount,bind,ro "$HOME"', 'mount -o remount,bind,rw "$HOME"'],
  ])('%s, the session is continued there, and saved afterwards', async (_, limits, fill, free) => {
    await mkdir(join(project.home, 'mount'));
    const line = `mount -t tmpfs -o ${limits} none "$HOME" && mkdir -p "$TMPDIR"
      ask() { "$0" -p "$@" </dev/null; }
      ask 'the old one' >/dev/null; ${fill}; ask 'the first one' >/dev/null; ask -c 'the second one' >/dev/null
      "$0" sessions list; ${free}; "$0" sessions check; ask -c 'the third one' >/dev/null; "$0" sessions check
      echo left; find "$TMPDIR" "$OURO_HOME/projects" -type f | grep -v '/[0-9a-f-]*\\.jsonl$'; find "$TMPDIR"`;
    const env = {
      ...bareEnvironment(project, server.url),
      HOME: join(project.home, 'mount'),
      OURO_HOME: join(project.home, 'mount', '.ouro'),
      TMPDIR: join(project.home, 'tmp'),
    };
    const { stdout, stderr } = await run('unshare', ['-rm', 'sh', '-c', line, LAUNCHER], { cwd: project.dir, env });
    expect(stderr.match(/could not be saved .* is kept in /g)).toHaveLength(2);
    expect(lastSaid()).toMatch(/the first one.*the second one.*the third one/);
    expect(lastSaid()).not.toContain('the old one');
    const [listed = '', left = ''] = stdout.split('left\n');
    expect(listed.match(/the first one/g)).toHaveLength(3);
    expect(listed.match(/ sound \(/g)).toHaveLength(4);
    expect(left.trim().split('\n')).toEqual([expect.stringMatching(/last-heard$/), env.TMPDIR]);
  });
});
