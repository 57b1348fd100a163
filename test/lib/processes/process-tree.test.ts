import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { getProcessStartTime } from '../../../src/lib/processes/process-info.ts';
import {
  CALL_MARKER,
  killLeftovers,
  killProcessTree,
  listMarkedProcesses,
  listRemainingProcesses,
} from '../../../src/lib/processes/process-tree.ts';
import { longTest } from '../../support/long-test.ts';

const markers: string[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const marker of markers.splice(0)) {
    await killProcessTree({ groupId: -1, marker }, () => true);
    expect(await listMarkedProcesses(marker)).toEqual([]);
  }
});

/** Starts a group of its own and waits until it says that it stands. */
async function start(command: string) {
  const marker = `tree-${crypto.randomUUID()}`;
  markers.push(marker);
  const child = spawn('/bin/bash', ['--noprofile', '--norc', '-c', command], {
    detached: true,
    env: { PATH: '/usr/bin:/bin', [CALL_MARKER]: marker },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  const groupId = child.pid ?? 0;
  return { child, groupId, marker, startTime: getProcessStartTime(groupId) ?? '' };
}

test('processes left by a run are ended at the next start', async () => {
  const { groupId, marker, startTime } = await start('setsid sleep 300 & sleep 300 & echo up; sleep 300');
  expect(await killLeftovers([{ pgid: groupId, startTime, marker }])).toBe(1);
  expect(await listMarkedProcesses(marker)).toEqual([]);
  expect(await killLeftovers([{ pgid: groupId, startTime, marker }])).toBe(0);
});

test('processes left by an ended leader are found by their marker', async () => {
  const { child, groupId, marker, startTime } = await start('setsid sleep 300 >/dev/null & echo up');
  if (child.exitCode === null) await once(child, 'exit');
  expect(await killLeftovers([{ pgid: groupId, startTime, marker }])).toBe(1);
});

test('a process with a reused pid is left alone', async () => {
  const { groupId, marker, startTime } = await start('echo up; sleep 300');
  expect(await killLeftovers([{ pgid: groupId, startTime: `${Number(startTime) - 1}`, marker: 'another' }])).toBe(0);
  expect(await killLeftovers([{ pgid: groupId, startTime: '', marker: 'another' }])).toBe(0);
  expect(await listMarkedProcesses(marker)).not.toEqual([]);
});

test('a process that ignores SIGTERM and forks is killed', async () => {
  const { groupId, marker } = await start("trap '' TERM; while :; do sleep 0.01 & echo up; wait; done");
  await killProcessTree({ groupId, marker }, () => true);
  expect(await listMarkedProcesses(marker)).toEqual([]);
});

test('the remaining processes of a tree do not include its first', async () => {
  const { groupId, marker } = await start('sleep 300 & sleep 300 & echo up; wait');
  expect(await listRemainingProcesses({ groupId, marker }, 0)).toHaveLength(2);
  expect(await listRemainingProcesses({ groupId, marker }, 60_000)).toHaveLength(2);
});

/** Somebody who goes on starting what carries the mark, until they are told to stop or have done it for so long. */
function storm(forMs: number) {
  const marker = `storm-${crypto.randomUUID()}`;
  markers.push(marker);
  const until = Date.now() + forMs;
  const one = () => spawn('/bin/sleep', ['60'], { env: { [CALL_MARKER]: marker }, stdio: 'ignore' });
  let isOver = false;
  const timer = setInterval(() => {
    isOver = Date.now() > until;
    if (isOver) clearInterval(timer);
    else one();
  }, 1);
  one();
  return { marker, isOver: () => isOver, stop: () => clearInterval(timer) };
}

/** All patience is over so many times as early. */
function hurryTime(times: number) {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() * times);
}

test('killing continues while new processes appear', async () => {
  hurryTime(20);
  const { marker, isOver } = storm(200);
  await killProcessTree({ groupId: -1, marker }, () => true);
  expect(isOver()).toBe(true);
  expect(await listMarkedProcesses(marker)).toEqual([]);
});

longTest('and gives up when they never end', async () => {
  hurryTime(200);
  const { marker, isOver, stop } = storm(60_000);
  await killProcessTree({ groupId: -1, marker }, () => true);
  expect(isOver()).toBe(false);
  stop();
});
