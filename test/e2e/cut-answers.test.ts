import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventsOf } from '../support/api/events.ts';
import { disconnectAt, sendPingsAt } from '../support/api/faults.ts';
import { type ApiBlock, calls, reply, type StreamFault, says, text, thinking, toolUse } from '../support/api/reply.ts';
import { type ApiServer, type Script, startApiServer } from '../support/api/server.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { LAUNCHER, runOuro, startOuro } from '../support/run-ouro.ts';
import { someOf } from '../support/runs.ts';
import { replayAll, storedFile } from '../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

const FOR_EVER = new Promise<void>(() => undefined);
const WORDS = 'The answer to this is forty';

let project: TempProject;
let server: ApiServer;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
});

afterEach(async () => {
  await server?.close();
  await project.remove();
});

/** Something happens when the words are there and their block has not ended. */
function unfinished(happens: (at: number) => StreamFault, ...before: readonly ApiBlock[]) {
  const whole = reply([...before, text(WORDS)], { chunk: 100 });
  return { ...whole, faults: [happens(eventsOf(whole, '', '').length - 3)] };
}

const stays = (...before: readonly ApiBlock[]) => unfinished((at) => sendPingsAt(at, FOR_EVER), ...before);

async function open(turns: Script['turns'], ...flags: readonly string[]) {
  server = await startApiServer({ turns });
  return again(...flags);
}

async function again(...flags: readonly string[]) {
  const env = terminalEnvironment(project, server.url);
  const terminal = openTerminal([LAUNCHER, ...flags], { cwd: project.dir, env, cols: 80, rows: 24 });
  await terminal.waitForText(/^[▌|]/m);
  return terminal;
}

/** What was sent last, without the marks of the cache. */
const lastSent = () => JSON.stringify(server.requests().at(-1)?.body.messages);

longTest(
  'ESC keeps the partial answer on screen, in the transcript, in the next request and after a resume',
  async () => {
    await using terminal = await open([stays(), says('Two.')]);
    terminal.type('how many?');
    terminal.press('enter');
    await terminal.waitForText(/is forty/);
    terminal.press('esc');
    await terminal.waitForText(/Stopped/);
    expect(
      terminal
        .logicalLines()
        .join('\n')
        .match(/is forty/g),
    ).toHaveLength(1);
    terminal.press('ctrl+o');
    await terminal.waitForText(/the reply was cut off here/);
    terminal.press('esc');
    await using resumed = await again('--continue');
    await resumed.waitForText(/Stopped\. .*press enter to continue/);
    terminal.press('enter');
    await terminal.waitForText(/Two\./);
    expect(lastSent()).toMatch(/forty[\s\S]*\[Request interrupted by user\]/);
    expect(server.requests().map(({ violation }) => violation)).toEqual([undefined, undefined]);
    expect(await replayAll(project)).toMatchObject({ different: [] });
  },
);

longTest('a host that interrupts receives the partial answer, marked as cut off', async () => {
  server = await startApiServer({ turns: [stays(thinking('hm'))] });
  const running = startOuro(project, ['-p', 'how many?', '--output-format', 'stream-json', '--verbose'], server.url);
  await expect.poll(openAnswer).toContain(WORDS);
  running.child.kill('SIGINT');
  const { stdout } = await running.ended;
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.filter(({ cut }) => cut === true)).toMatchObject([
    { type: 'assistant', message: { content: [{ type: 'text', text: WORDS }] } },
  ]);
  expect(stdout).not.toContain('"cut":true}]');
});

longTest('a connection lost for good keeps the partial answer', async () => {
  server = await startApiServer({ turns: [unfinished(disconnectAt), says('Two.')] });
  const lost = await runOuro(project, ['-p', 'how many?'], server.url, { env: { OURO_MAX_RETRIES: '0' } });
  expect(lost).toMatchObject({
    code: 1,
    stdout: `${WORDS}\n`,
    stderr: expect.stringContaining('The answer is incomplete'),
  });
  expect((await runOuro(project, ['-p', '--continue', 'and?'], server.url)).stdout).toBe('Two.\n');
  expect(lastSent()).toMatch(/forty[\s\S]*broke off here[\s\S]*and\?/);
});

/** What the file holds that is there while something is being said. */
async function openAnswer(): Promise<string | undefined> {
  const projects = join(project.ouroHome, 'projects');
  const names = await readdir(projects, { recursive: true }).catch(() => []);
  const name = names.find((each) => /answers\/[^/]+\.json$/.test(each));
  return name === undefined ? undefined : readFile(join(projects, name), 'utf8').catch(() => '');
}

test.each(
  someOf(
    [
      ['alone', []],
      ['behind thinking', [thinking('hm')]],
      ['behind a call', [text('I look.'), toolUse('Read', { file_path: 'a.txt' }, 'toolu_9')]],
    ],
    1,
  ),
)('after kill -9 during an answer, %s, its text is there, and Enter continues', async (_where, before) => {
  server = await startApiServer({ turns: [stays(...before), says('Two.')] });
  const running = startOuro(project, ['-p', 'how many?'], server.url);
  await expect.poll(openAnswer).toContain(WORDS);
  running.child.kill('SIGKILL');
  await running.ended;
  await using terminal = await again('--continue');
  await terminal.waitForText(/is forty/);
  await terminal.waitForText(/The reply was cut off here/);
  terminal.press('enter');
  await terminal.waitForText(/Two\./);
  expect(lastSent()).toMatch(/forty[\s\S]*in the middle of your reply/);
  expect(server.requests().map(({ violation }) => violation)).toEqual([undefined, undefined]);
  // The words are on the screen a moment before the end of the reply is on disk.
  await expect.poll(openAnswer).toBeUndefined();
  const { records } = await storedFile(project);
  expect(
    records.filter((record) => record.type === 'assistant' && JSON.stringify(record).includes('"cut":true')),
  ).toHaveLength(1);
});

longTest('a completed answer leaves no partial copy behind', async () => {
  server = await startApiServer({
    turns: [calls(text('I look.'), toolUse('Read', { file_path: 'a.txt' })), says('Two.', { chunk: 1, delayMs: 100 })],
  });
  expect(await runOuro(project, ['-p', 'how many?'], server.url)).toMatchObject({ code: 0, stdout: 'Two.\n' });
  expect(await openAnswer()).toBeUndefined();
});
