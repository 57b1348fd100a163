import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, says, text, toolUse } from '../support/api/reply.ts';
import { type ApiServer, gate, startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { runOuro, startOuro } from '../support/run-ouro.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

let project: TempProject;
let server: ApiServer | undefined;

beforeEach(async () => {
  project = await createTempProject({ 'hello.txt': 'the answer is 42\n' });
});

afterEach(async () => {
  await server?.close();
  server = undefined;
  await project.remove();
});

/** The one transcript of the project, as lines. */
async function transcript(): Promise<readonly string[]> {
  const root = join(project.ouroHome, 'projects');
  const [dir = ''] = await readdir(root);
  const file = (await readdir(join(root, dir))).find((name) => name.endsWith('.jsonl')) ?? '';
  return (await readFile(join(root, dir, file), 'utf8')).trim().split('\n');
}

test('a prompt runs through the loop with a tool, and every step is on disk before the request that needs it', async () => {
  const onDisk: (readonly string[])[] = [];
  const path = join(project.dir, 'hello.txt');
  server = await startApiServer({
    turns: (_request, index) =>
      index === 0 ? calls(text('I look.'), toolUse('Read', { file_path: path }, 'toolu_1')) : says('It is 42.'),
    side: () => undefined,
  });
  const running = startOuro(project, ['-p', 'what is the answer?', '--output-format', 'json'], server.url);
  await server.waitForRequest(1);
  onDisk.push(await transcript());
  await server.waitForRequest(2);
  onDisk.push(await transcript());
  const { stdout, stderr, code } = await running.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'It is 42.',
    num_turns: 2,
  });
  expect(onDisk[0]?.join()).toContain('what is the answer?');
  expect(onDisk[1]?.join()).toContain('the answer is 42');
  expect(onDisk[1]?.join()).toContain('toolu_1');
  const last = server.requests()[1]?.body.messages?.at(-1);
  expect(JSON.stringify(last)).toContain('the answer is 42');
  expect(server.all().map((request) => request.violation)).toEqual([undefined, undefined]);
});

test('--continue continues where the session stopped, and repeats its bytes', async () => {
  server = await startApiServer({ turns: [says('Hello, Ann.'), says('Ann.')] });
  await runHere(project, ['-p', 'I am Ann'], server.url);
  const { stdout } = await runHere(project, ['-p', '--continue', 'who am I?'], server.url);
  expect(stdout).toBe('Ann.\n');
  const [first, second] = server.requests();
  expect(second?.body.messages).toHaveLength(3);
  const plain = (value: unknown) => JSON.stringify(value).replaceAll(/,"cache_control":\{[^}]*\}/g, '');
  expect(plain(second?.body.messages?.[0])).toBe(plain(first?.body.messages?.[0]));
  expect(plain(second?.body.system)).toBe(plain(first?.body.system));
  expect(plain(second?.body.tools)).toBe(plain(first?.body.tools));
});

longTest.each(
  someOf(
    [
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ] as const,
    1,
  ),
)('%s stops a running request and ends with %d', async (signal, code) => {
  const { closed, open } = gate();
  server = await startApiServer({
    turns: [says('never heard', { faults: [{ at: 3, do: 'wait', until: closed, pings: 'pings' }] })],
  });
  const running = startOuro(project, ['-p', 'wait for me'], server.url);
  const request = await server.waitForRequest(1);
  running.child.kill(signal);
  const ended = await running.ended;
  open();
  expect(ended.code).toBe(code);
  await request.closed;
  expect((await transcript()).join()).toContain('Request interrupted by user');
});

longTest('session files are private', async () => {
  server = await startApiServer({ turns: [says('ok')] });
  await runOuro(project, ['-p', 'hi'], server.url);
  const root = join(project.ouroHome, 'projects');
  const [dir = ''] = await readdir(root);
  const [file = ''] = (await readdir(join(root, dir))).filter((name) => name.endsWith('.jsonl'));
  expect((await stat(join(root, dir))).mode & 0o777).toBe(0o700);
  expect((await stat(join(root, dir, file))).mode & 0o777).toBe(0o600);
});

longTest('only the configured base URL is contacted', async () => {
  server = await startApiServer({ turns: [says('ok')] });
  const { code } = await runHere(project, ['-p', 'hi'], server.url);
  expect(code).toBe(0);
  expect(server.all().map((request) => request.path.split('?')[0])).toEqual(['/v1/messages']);
});
