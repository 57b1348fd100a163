import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, says, text, toolUse } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { bareEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const EXECUTABLE = join(import.meta.dirname, '../../dist/ouro');

let project: TempProject;
let server: ApiServer;

beforeEach(async () => {
  project = await createTempProject({ 'a.txt': 'alpha\n' });
  server = await startApiServer({
    turns: (_request, index) =>
      index < 3 ? calls(text('x'.repeat(100_000)), toolUse('Read', { file_path: 'a.txt' })) : says('end'),
  });
});

afterEach(async () => {
  await server.close();
  await project.remove();
});

/** Runs a line of a shell in which `"$OURO"` is the program, and returns its output and its code. */
async function shell(line: string, program = LAUNCHER) {
  const env = { ...bareEnvironment(project, server.url), OURO: program };
  return new Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>((resolve) => {
    execFile('/bin/bash', ['-c', line], { cwd: project.dir, env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}

const STREAM = '--output-format stream-json --verbose';
const FORMATS = [STREAM, '', '--output-format json', '--output-format json --verbose'];
const CLOSED = 'Stdout is closed: redirect it to a file, a pipe or /dev/null.\n';
const UNREAD = 'Stdout has no reader any more: the output is incomplete.\n';

test.each(someOf(FORMATS))('without a stdout, an answer %s is not even asked for', async (format) => {
  const line = `"$OURO" -p hello ${format} </dev/null >&-`;
  const programs = someOf([LAUNCHER, EXECUTABLE].filter(existsSync));
  for (const program of programs) expect(await shell(line, program)).toEqual({ code: 1, stdout: '', stderr: CLOSED });
  expect(server.requests()).toEqual([]);
});

longTest('without stdout and stderr, the exit code alone reports it', async () => {
  expect(await shell('"$OURO" -p hello </dev/null >&- 2>&-')).toEqual({ code: 1, stdout: '', stderr: '' });
});

longTest.each(FORMATS)('an answer %s that cannot be written is a failure', async (format) => {
  expect(await shell(`"$OURO" -p hello ${format} </dev/null >/dev/full`)).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^Writing to stdout failed: ENOSPC.*\n$/),
  });
});

longTest.each(FORMATS)('an answer %s without a reader is a failure', async (format) => {
  // The reader has ended before anything is written.
  const line = `mkfifo p; : <p & exec 3>p; wait; "$OURO" -p hello ${format} </dev/null >&3`;
  expect(await shell(line)).toMatchObject({ code: 1, stderr: UNREAD });
});

longTest('a reader that closes early ends the run, which reports it', async () => {
  const line = `"$OURO" -p hello ${STREAM} </dev/null | head -c 10; exit "\${PIPESTATUS[0]}"`;
  expect(await shell(line)).toEqual({ code: 1, stdout: '{"type":"s', stderr: UNREAD });
});

test('output that is thrown away is no failure', async () => {
  expect(await shell('"$OURO" -p hello </dev/null >/dev/null')).toEqual({ code: 0, stdout: '', stderr: '' });
});

longTest.each(['--version', '--help', 'help keys', 'doctor', 'sessions', 'models', 'completion bash', 'mcp list'])(
  'ouro %s reports output that is lost',
  async (args) => {
    const ends = await Promise.all(
      ['>&-', '>/dev/full', '>/dev/null'].map((to) => shell(`"$OURO" ${args} </dev/null ${to}`)),
    );
    expect(ends).toEqual([
      { code: 1, stdout: '', stderr: expect.stringContaining(CLOSED) },
      { code: 1, stdout: '', stderr: expect.stringContaining('Writing to stdout failed: ENOSPC') },
      { code: expect.any(Number), stdout: '', stderr: expect.not.stringContaining('tdout') },
    ]);
  },
);
