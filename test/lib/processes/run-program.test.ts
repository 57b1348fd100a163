import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CALL_MARKER } from '../../../src/lib/processes/process-tree.ts';
import { runForOutput, runProgram } from '../../../src/lib/processes/run-program.ts';
import { expectNoProcessesLeft } from '../../support/processes.ts';
import { someOf } from '../../support/runs.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

const sh = (command: string, more: Partial<Parameters<typeof runProgram>[2]> = {}) =>
  runProgram('/bin/sh', ['-c', command], { timeoutMs: 60_000, ...more });

const marked = (mark: string) => ({ env: { PATH: process.env.PATH ?? '', [CALL_MARKER]: mark } });

test('returns output and exit code', async () => {
  const end = await sh('cat; echo trouble >&2; exit 3', { input: 'words' });
  expect({ ...end, stdout: String(end.stdout), stderr: String(end.stderr) }).toEqual({
    code: 3,
    stdout: 'words',
    stderr: 'trouble\n',
    timedOut: false,
    problem: undefined,
  });
});

test('a file that is no program is a problem, not an exception', async () => {
  const folder = createTempFolder();
  const file = join(folder, 'text');
  await writeFile(file, 'no program', { mode: 0o755 });
  const { code, problem } = await runProgram(file, [], { timeoutMs: 60_000 });
  expect([code, typeof problem]).toEqual([null, 'string']);
});

test('only the given environment is set', async () => {
  expect(String((await sh('echo $HOME-$ONLY', { env: { ONLY: 'this' } })).stdout)).toBe('-this\n');
});

test.each(
  someOf(
    [
      ['an end', 'sleep 60 & echo over', {}],
      ['a timeout', 'sleep 60 & sleep 60', { timeoutMs: 100 }],
      ['an abort', 'sleep 60 & sleep 60', { signal: AbortSignal.timeout(100) }],
      ['a timeout that is not heeded', 'trap "" TERM; sleep 60 & while :; do sleep 1; done', { timeoutMs: 100 }],
    ],
    2,
  ),
)('after %s no process of its group is left', async (_, command, more) => {
  const mark = randomUUID();
  const { timedOut } = await sh(command, { ...more, ...marked(mark) });
  expect(timedOut).toBe('timeoutMs' in more);
  await expectNoProcessesLeft(`${CALL_MARKER}=${mark}`);
});

test('a process that left the group and holds the pipes is not waited for', async () => {
  const end = await sh('setsid sleep 3 & echo here');
  expect([end.code, String(end.stdout)]).toEqual([0, 'here\n']);
});

test('output over the limit is dropped, and the program continues', async () => {
  const { code, stdout } = await sh('head -c 300000 /dev/zero; exit 4', { maxBytes: 1_000 });
  expect([code, stdout.length]).toEqual([4, 1_000]);
});

test('an unread input is no error', async () => {
  expect((await sh('exit 0', { input: 'x'.repeat(1_000_000) })).code).toBe(0);
});

test('a missing program is an error message, and output of a failing one is not returned', async () => {
  const end = await runProgram('/no/such/program', [], { timeoutMs: 60_000 });
  expect([end.code, end.problem]).toEqual([null, expect.stringContaining('ENOENT')]);
  await expect(runForOutput('/bin/sh', ['-c', 'echo why >&2; exit 2'], { timeoutMs: 60_000 })).rejects.toThrow('why');
  expect(await runForOutput('/bin/echo', ['hi'], { timeoutMs: 60_000 })).toBe('hi\n');
});

test('lines of both outputs are reported as they arrive', async () => {
  const received: string[] = [];
  const end = await sh('echo one; echo two >&2; printf three', { onLine: (line) => void received.push(line) });
  expect(received.toSorted()).toEqual(['one', 'three', 'two']);
  expect(String(end.stdout)).toBe('one\nthree');
});
