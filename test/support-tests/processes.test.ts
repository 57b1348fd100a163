import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import {
  descendantsOf,
  expectNoProcessesLeft,
  killMarkedProcesses,
  livingProcesses,
  processesInGroup,
  processesInSession,
  processesMarked,
} from '../support/processes.ts';

const marker = `OURO_TEST_MARK=${crypto.randomUUID()}`;
const [name = '', value = ''] = marker.split('=');

afterEach(() => killMarkedProcesses(marker));

/** Runs a shell script and waits for the words it says when everything has started. */
async function shell(script: string) {
  const child = spawn('sh', ['-c', script], { detached: true, env: { PATH: '/usr/bin:/bin', [name]: value } });
  const [pid = ''] = await once(createInterface(child.stdout), 'line');
  return { child, pid: child.pid ?? 0, said: Number(pid) };
}

test('descendants, groups and sessions are distinguished', async () => {
  const { pid, said } = await shell('sleep 60 & setsid sh -c "echo \\$\\$; sleep 60" & wait');
  // The shell has said its number before its sleep has a name of its own.
  const sleepers = async () => (await descendantsOf(pid)).filter(({ command }) => command === 'sleep 60');
  while ((await sleepers()).length < 2) await new Promise(setImmediate);
  expect((await processesInGroup(pid)).some((one) => one.pid === said)).toBe(false);
  expect((await processesInSession(said)).length).toBeGreaterThan(0);
});

test('a daemon that left its parent, group and session is found by its marker', async () => {
  const { child, said } = await shell('(setsid sh -c "echo \\$\\$; exec sleep 60" >&1 2>/dev/null &) ; exit 0');
  if (child.exitCode === null) await once(child, 'exit');
  expect((await processesMarked(marker)).map((one) => one.pid)).toContain(said);
  await expect(expectNoProcessesLeft(marker, 30)).rejects.toThrow(`Still alive after 30 ms with ${marker}`);
  process.kill(said, 'SIGKILL');
  await expectNoProcessesLeft(marker);
  expect((await livingProcesses()).some((one) => one.pid === said)).toBe(false);
});
