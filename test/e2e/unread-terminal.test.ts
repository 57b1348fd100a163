import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { says } from '../support/api/reply.ts';
import { gate, startApiServer } from '../support/api/server.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { killNow, livingProcesses } from '../support/processes.ts';
import { runHere } from '../support/run-here.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { someOf } from '../support/runs.ts';
import { storedFiles } from '../support/stored-sessions.ts';
import { createTempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

const HELPER = join(import.meta.dirname, '../support/terminal/unread-terminal.mjs');
/** Much more than a terminal holds. */
const LONG = Array.from({ length: 8_000 }, (_, index) => `Line ${index} of a long answer.`).join('\n\n');

longTest.each(
  someOf([
    ['SIGTERM', '143', []],
    ['SIGHUP', '129', ['--a11y']],
    ['SIGINT', '130', []],
    ['SIGTERM', '143', ['--a11y']],
    ['SIGINT', '130', ['--a11y']],
  ] as const),
)('a terminal that reads nothing blocks neither the reply nor %s', async (signal, code, flags) => {
  await using project = await createTempProject();
  const { closed, open } = gate();
  await using server = await startApiServer({
    turns: () => says(LONG, { chunk: 2_000, faults: [{ at: 3, do: 'wait', until: closed, pings: 'silence' }] }),
  });
  const env = terminalEnvironment(project, server.url);
  const helper = spawn(process.execPath, [HELPER, LAUNCHER, ...flags, 'go'], { cwd: project.dir, env });
  const lines = createInterface(helper.stdout)[Symbol.asyncIterator]();
  const pid = Number((await lines.next()).value);
  await server.waitForRequest(1);
  helper.kill('SIGSTOP');
  open();
  // The whole reply is read and recorded, although nothing of it can be shown.
  await expect
    .poll(async () => JSON.stringify((await storedFiles(project)).map(({ records }) => records)))
    .toContain('Line 7999 of a long answer.');
  process.kill(pid, signal);
  await expect.poll(() => isRunning(pid)).toBe(false);
  helper.kill('SIGCONT');
  expect((await lines.next()).value).toBe(code);
  killNow(helper.pid ?? 0);
});

longTest('a frame of more than a megabyte is shown whole, such as the last reply of a resumed session', async () => {
  const reply = Array.from({ length: 1_200 }, (_, index) => `${index} ${'and so on '.repeat(100)}`).join('\n\n');
  await using project = await createTempProject();
  await using server = await startApiServer({ turns: [says(`${reply}\n\nThe very end.`, { chunk: 50_000 })] });
  expect((await runHere(project, ['-p', 'go'], server.url)).code).toBe(0);
  const env = terminalEnvironment(project, server.url);
  await using terminal = openTerminal([LAUNCHER, '--trust', '--continue'], { cwd: project.dir, env });
  await terminal.waitForText(/The very end\./);
  expect(terminal.bytes().length).toBeGreaterThan(1_000_000);
});

/** Returns whether a process runs; one that has ended is a zombie until the helper goes on. */
async function isRunning(pid: number): Promise<boolean> {
  return (await livingProcesses()).some((one) => one.pid === pid);
}
