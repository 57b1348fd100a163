import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { getProcessStartTime } from '../../../src/lib/processes/process-info.ts';
import {
  CALL_MARKER,
  killLeftoverProcessGroups,
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
  expect(await killLeftoverProcessGroups([{ pgid: groupId, startTime, marker }])).toBe(1);
  expect(await listMarkedProcesses(marker)).toEqual([]);
  expect(await killLeftoverProcessGroups([{ pgid: groupId, startTime, marker }])).toBe(0);
});

longTest('processes left by an ended leader are found by their marker', async () => {
  const { child, groupId, marker, startTime } = await start('setsid sleep 300 >/dev/null & echo up');
  if (child.exitCode === null) await once(child, 'exit');
  expect(await killLeftoverProcessGroups([{ pgid: groupId, startTime, marker }])).toBe(1);
});

test('a process with a reused pid is left alone', async () => {
  const { groupId, marker, startTime } = await start('echo up; sleep 300');
  expect(
    await killLeftoverProcessGroups([{ pgid: groupId, startTime: `${Number(startTime) - 1}`, marker: 'another' }]),
  ).toBe(0);
  expect(await killLeftoverProcessGroups([{ pgid: groupId, startTime: '', marker: 'another' }])).toBe(0);
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

/**
 * Starts a process with the marker each time the clock is read, and lets time pass only then: `count` times, for a long
 * time in all. Afterwards the time stands still, so that a busy machine is given all the time it needs.
 */
function storm(count: number) {
  const marker = `storm-${crypto.randomUUID()}`;
  markers.push(marker);
  let started = 0;
  const start = () => {
    started += 1;
    spawn('/bin/sleep', ['60'], { env: { [CALL_MARKER]: marker }, stdio: 'ignore' });
  };
  start();
  const since = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => {
    if (started < count) start();
    return since + started * 1_000;
  });
  return { marker, started: () => started };
}

test('killing continues while new processes appear', async () => {
  const { marker, started } = storm(10);
  await killProcessTree({ groupId: -1, marker }, () => true);
  vi.restoreAllMocks();
  expect(started()).toBe(10);
  expect(await listMarkedProcesses(marker)).toEqual([]);
});

longTest('and gives up when they never end', async () => {
  const { marker, started } = storm(10_000);
  await killProcessTree({ groupId: -1, marker }, () => true);
  vi.restoreAllMocks();
  expect(started()).toBeLessThan(10_000);
});
