import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { getProcessStartTime } from '../../src/lib/processes/process-info.ts';
import { createProcessMarkerCommand } from '../../src/lib/processes/process-markers.ts';
import { CALL_MARKER, listMarkedProcesses, RUN_MARKER } from '../../src/lib/processes/process-tree.ts';
import { listSessionsToRecover, openRunCleanupLog, reapDeadRuns } from '../../src/session/run-cleanup-log.ts';
import { longTest } from '../support/long-test.ts';
import { killMarkedProcesses, processesMarked } from '../support/processes.ts';
import { createTempFolder } from '../support/temp-folder.ts';

let home: string;
let mark: string;

beforeEach(async () => {
  home = createTempFolder();
  mark = `run-${crypto.randomUUID()}`;
});

afterEach(async () => {
  await killMarkedProcesses(`${RUN_MARKER}=${mark}`);
});

const ledgers = () => readdir(join(home, 'running')).catch(() => []);

/** Writes the ledger as a run would have left it whose process is gone. */
async function orphan(more: object = {}): Promise<void> {
  const path = join(home, 'running', `${mark}.jsonl`);
  const [first = '', ...rest] = (await readFile(path, 'utf8')).split('\n');
  const owner = { ...JSON.parse(first), startTime: '1', ...more };
  await writeFile(path, [JSON.stringify(owner), ...rest].join('\n'));
}

async function start(command: string, env: Readonly<Record<string, string>>) {
  const child = spawn('/bin/bash', ['--noprofile', '--norc', '-c', command], {
    detached: true,
    env: { PATH: '/usr/bin:/bin', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  return { pgid: child.pid ?? 0, startTime: getProcessStartTime(child.pid ?? 0) ?? '' };
}

test('processes left by a killed run are ended: children, detached ones, and those with a cleared environment', async () => {
  const ledger = openRunCleanupLog(home, mark);
  await start('setsid sleep 300 & trap "" TERM; sleep 300 & echo up; wait; sleep 300', { [RUN_MARKER]: mark });
  const bare = await start('echo up; sleep 300', { [CALL_MARKER]: 'gone' });
  ledger.recordStart({ ...bare, marker: 'gone' });
  await orphan();
  expect(await reapDeadRuns(home, 20)).toBe(1);
  expect(await processesMarked(`${RUN_MARKER}=${mark}`)).toEqual([]);
  expect(getProcessStartTime(bare.pgid)).toBeUndefined();
  expect(await ledgers()).toEqual([]);
});

test('a run that is aborted kills all that it has started, even what it did not record', async () => {
  const ledger = openRunCleanupLog(home, mark);
  await start('trap "" TERM; echo up; sleep 300', { [RUN_MARKER]: mark });
  ledger.close('all');
  expect(await processesMarked(`${RUN_MARKER}=${mark}`)).toEqual([]);
  expect(await ledgers()).toEqual([]);
});

test('the ledger of a killed run stays while its session holds the workspace for a command', async () => {
  const session = join(home, 'a-session');
  openRunCleanupLog(home, mark).recordSession(session);
  await mkdir(join(session, 'checkpoints'), { recursive: true });
  await writeFile(join(session, 'checkpoints', 'pack'), 'contents');
  expect(await listSessionsToRecover(home)).toEqual([]);
  await orphan();
  expect([await reapDeadRuns(home), await listSessionsToRecover(home)]).toEqual([1, [session]]);
  await rm(join(session, 'checkpoints', 'pack'));
  expect([await listSessionsToRecover(home), await reapDeadRuns(home), await ledgers()]).toEqual([[], 1, []]);
});

longTest('orphaned processes with a cleared environment are found by their marker limit', async () => {
  openRunCleanupLog(home, mark);
  const env = { [RUN_MARKER]: mark, [CALL_MARKER]: 'a call' };
  await start(`${createProcessMarkerCommand(env)}(env -i setsid -f sleep 300 >/dev/null 2>&1 &); echo up`, env);
  await expect.poll(() => listMarkedProcesses('a call')).toHaveLength(1);
  await orphan();
  expect(await reapDeadRuns(home)).toBe(1);
  expect(await listMarkedProcesses('a call')).toEqual([]);
});

longTest('processes of a run in another container or on another machine are not touched', async () => {
  const ledger = openRunCleanupLog(home, mark);
  const bare = await start('echo up; sleep 300; true', { [RUN_MARKER]: mark });
  ledger.recordStart({ ...bare, marker: 'theirs' });
  await orphan({ host: 'elsewhere' });
  expect(await reapDeadRuns(home)).toBe(0);
  expect(getProcessStartTime(bare.pgid)).toBe(bare.startTime);
  expect(await ledgers()).toEqual([`${mark}.jsonl`]);
  await utimes(join(home, 'running', `${mark}.jsonl`), 1, 1);
  expect(await reapDeadRuns(home)).toBe(1);
  expect(getProcessStartTime(bare.pgid)).toBe(bare.startTime);
  expect(await ledgers()).toEqual([]);
});

test('processes of a running run are not touched', async () => {
  openRunCleanupLog(home, mark);
  await start('echo up; sleep 300; true', { [RUN_MARKER]: mark });
  expect(await reapDeadRuns(home)).toBe(0);
  expect(await processesMarked(`${RUN_MARKER}=${mark}`)).not.toEqual([]);
  expect(await ledgers()).toHaveLength(1);
});

test('an ended or reused pid is not touched', async () => {
  const ledger = openRunCleanupLog(home, mark);
  const other = await start('echo up; sleep 300', { [RUN_MARKER]: `other-${mark}` });
  ledger.recordStart({ ...other, marker: 'x' });
  ledger.recordEnd(other.pgid);
  ledger.recordStart({ ...other, startTime: '1', marker: 'x' });
  await orphan();
  expect(await reapDeadRuns(home)).toBe(1);
  expect(getProcessStartTime(other.pgid)).toBe(other.startTime);
  await killMarkedProcesses(`${RUN_MARKER}=other-${mark}`);
});

test('a damaged or foreign ledger is ignored, and none is kept where nothing can be written', async () => {
  openRunCleanupLog(home, mark);
  await writeFile(join(home, 'running', `${mark}.jsonl`), '{"run":"x","pi');
  expect(await reapDeadRuns(home)).toBe(1);
  expect(await ledgers()).toEqual([]);
  const nowhere = openRunCleanupLog('/proc/nowhere', mark);
  nowhere.recordStart({ pgid: 1, startTime: '', marker: '' });
  nowhere.close();
  expect(await reapDeadRuns('/proc/nowhere')).toBe(0);
});
