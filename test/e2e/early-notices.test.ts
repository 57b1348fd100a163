import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readAll } from 'node:stream/consumers';
import { afterEach, beforeEach, expect } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { bareEnvironment, terminalEnvironment } from '../support/environment.ts';
import { HOST_FLAGS } from '../support/json-host.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { cutAfter, storedFile } from '../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

/** No file of ouro's may become longer than it is: what a resume settles cannot be written, while it still begins. */
const ON_A_FULL_DISK = ['/bin/bash', '-c', `trap '' XFSZ; ulimit -f 1; exec '${LAUNCHER}' "$@"`, 'ouro'];
const SAID = /The session could not be saved \(EFBIG/;

let project: TempProject;
let server: ApiServer;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n'.repeat(200) });
  server = await startApiServer({
    turns: ({ raw }) => (raw.includes('tool_result') ? says('Seen.') : calls(toolUse('Read', { file_path: 'a.txt' }))),
  });
  await runHere(project, ['-p', 'look'], server.url);
  const stored = await storedFile(project);
  const reply = stored.records.findIndex(({ type }) => type === 'result');
  // As a kill left it: a call without its result, which the next start settles.
  await cutAfter(stored, reply);
});

afterEach(async () => {
  await server.close();
  await project.remove();
});

function print(args: readonly string[], stdin: string) {
  const [file = '', ...first] = ON_A_FULL_DISK;
  const child = spawn(file, [...first, ...args], { cwd: project.dir, env: bareEnvironment(project, server.url) });
  child.stdin.end(stdin);
  return Promise.all([readAll(child.stdout), readAll(child.stderr), once(child, 'close')]);
}

longTest('notices during startup are on stderr of a print run', async () => {
  const [stdout, stderr] = await print(['-c', '-p', 'and now?'], '');
  expect([stdout, stderr]).toEqual(['Seen.\n', expect.stringMatching(SAID)]);
});

longTest('a host receives it as a line', async () => {
  const message = { type: 'user', message: { role: 'user', content: 'and now?' }, parent_tool_use_id: null };
  const [stdout] = await print(['-c', ...HOST_FLAGS], `${JSON.stringify(message)}\n`);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.filter(({ subtype }) => subtype === 'notification')).toMatchObject([
    { key: 'session_store', text: expect.stringMatching(SAID) },
  ]);
});

longTest('the screen shows it, and continues', async () => {
  const env = terminalEnvironment(project, server.url);
  const terminal = openTerminal([...ON_A_FULL_DISK, '-c', '--trust'], { cwd: project.dir, env, cols: 120, rows: 40 });
  await terminal.waitForText(SAID);
  await terminal.waitForText(/^[▌|]/m);
  await terminal.kill();
});
