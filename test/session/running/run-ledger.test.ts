import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { branding } from '../../../src/lib/processes/brand.ts';
import { startTimeOf } from '../../../src/lib/processes/process-facts.ts';
import { MARKER, marked, RUN_MARKER } from '../../../src/lib/processes/process-tree.ts';
import { openRunLedger, reapDeadRuns, waitingSessions } from '../../../src/session/running/run-ledger.ts';
import { killMarked, processesMarked } from '../../support/processes.ts';

let home: string;
let mark: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ouro-ledger-'));
  mark = `run-${crypto.randomUUID()}`;
});

afterEach(async () => {
  await killMarked(`${RUN_MARKER}=${mark}`);
  await rm(home, { recursive: true });
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
  return { pgid: child.pid ?? 0, startTime: startTimeOf(child.pid ?? 0) ?? '' };
}

test('what a killed run left is ended: children, detached ones, and those that shed their environment', async () => {
  const ledger = openRunLedger(home, mark);
  await start('setsid sleep 300 & trap "" TERM; sleep 300 & echo up; wait; sleep 300', { [RUN_MARKER]: mark });
  const bare = await start('echo up; sleep 300', { [MARKER]: 'gone' });
  ledger.started({ ...bare, marker: 'gone' });
  await orphan();
  expect(await reapDeadRuns(home)).toBe(1);
  expect(await processesMarked(`${RUN_MARKER}=${mark}`)).toEqual([]);
  expect(startTimeOf(bare.pgid)).toBeUndefined();
  expect(await ledgers()).toEqual([]);
});

test('the ledger of a killed run stays as long as its session keeps the workspace for a command', async () => {
  const session = join(home, 'a-session');
  openRunLedger(home, mark).works(session);
  await mkdir(join(session, 'checkpoints'), { recursive: true });
  await writeFile(join(session, 'checkpoints', 'pack'), 'contents');
  expect(await waitingSessions(home)).toEqual([]);
  await orphan();
  expect([await reapDeadRuns(home), await waitingSessions(home)]).toEqual([1, [session]]);
  await rm(join(session, 'checkpoints', 'pack'));
  expect([await waitingSessions(home), await reapDeadRuns(home), await ledgers()]).toEqual([[], 1, []]);
});

test('what a killed run left with no environment and no parent is ended by what it was branded with', async () => {
  openRunLedger(home, mark);
  const env = { [RUN_MARKER]: mark, [MARKER]: 'a call' };
  await start(`${branding(env)}(env -i setsid -f sleep 300 >/dev/null 2>&1 &); echo up`, env);
  await expect.poll(() => marked('a call')).toHaveLength(1);
  await orphan();
  expect(await reapDeadRuns(home)).toBe(1);
  expect(await marked('a call')).toEqual([]);
});

test('a run of another container or machine keeps everything, whoever has its number here', async () => {
  const ledger = openRunLedger(home, mark);
  const bare = await start('echo up; sleep 300; true', { [RUN_MARKER]: mark });
  ledger.started({ ...bare, marker: 'theirs' });
  await orphan({ host: 'elsewhere' });
  expect(await reapDeadRuns(home)).toBe(0);
  expect(startTimeOf(bare.pgid)).toBe(bare.startTime);
  expect(await ledgers()).toEqual([`${mark}.jsonl`]);
  await utimes(join(home, 'running', `${mark}.jsonl`), 1, 1);
  expect(await reapDeadRuns(home)).toBe(1);
  expect(startTimeOf(bare.pgid)).toBe(bare.startTime);
  expect(await ledgers()).toEqual([]);
});

test('a run that lives keeps everything it started', async () => {
  openRunLedger(home, mark);
  await start('echo up; sleep 300; true', { [RUN_MARKER]: mark });
  expect(await reapDeadRuns(home)).toBe(0);
  expect(await processesMarked(`${RUN_MARKER}=${mark}`)).not.toEqual([]);
  expect(await ledgers()).toHaveLength(1);
});

test('a number that ended, or belongs to somebody else by now, is left alone', async () => {
  const ledger = openRunLedger(home, mark);
  const other = await start('echo up; sleep 300', { [RUN_MARKER]: `other-${mark}` });
  ledger.started({ ...other, marker: 'x' });
  ledger.ended(other.pgid);
  ledger.started({ ...other, startTime: '1', marker: 'x' });
  await orphan();
  expect(await reapDeadRuns(home)).toBe(1);
  expect(startTimeOf(other.pgid)).toBe(other.startTime);
  await killMarked(`${RUN_MARKER}=other-${mark}`);
});

test('a torn or foreign ledger is forgotten, and none can be kept where nothing can be written', async () => {
  openRunLedger(home, mark);
  await writeFile(join(home, 'running', `${mark}.jsonl`), '{"run":"x","pi');
  expect(await reapDeadRuns(home)).toBe(1);
  expect(await ledgers()).toEqual([]);
  const nowhere = openRunLedger('/proc/nowhere', mark);
  nowhere.started({ pgid: 1, startTime: '', marker: '' });
  nowhere.close();
  expect(await reapDeadRuns('/proc/nowhere')).toBe(0);
});
