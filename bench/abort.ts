import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { calls, says, toolUse } from '../test/support/api/reply.ts';
import { livingProcesses, processesMarked } from '../test/support/processes.ts';
import { openOuro, withApi } from './programs.ts';
import { type Measure, median, type Row } from './row.ts';

export const abort: Measure = {
  name: 'abort',
  description: 'ESC during a reply and during a command',
  run: async () => [...(await inStream()), ...(await inCommand())],
};

const ROUNDS = 5;
/** Matches the screen while a turn is running. */
const BUSY = /esc stop|stopping/;

async function inStream(): Promise<readonly Row[]> {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await stopReply());
  const closedMs = median(rounds.map((each) => each.closedMs));
  const readyMs = median(rounds.map((each) => each.readyMs));
  return [
    { name: 'ESC during a reply: socket closed', unit: 'ms', value: closedMs, must: 20 },
    { name: 'ESC during a reply: prompt ready', unit: 'ms', value: readyMs, must: 30 },
  ];
}

async function stopReply(): Promise<{ readonly closedMs: number; readonly readyMs: number }> {
  const long = says('word '.repeat(20_000), { chunk: 10, delayMs: 5 });
  return withApi({ turns: [long] }, async ({ project, api }) => {
    await using terminal = await openOuro(project, api.url);
    terminal.type('go');
    terminal.press('enter');
    await terminal.waitForText(/word word/);
    const pressedAt = performance.now();
    terminal.press('esc');
    const closedAt = api.waitForSocketClosed(1);
    await terminal.waitForScreen((rows) => !BUSY.test(rows.join('\n')));
    const readyMs = performance.now() - pressedAt;
    return { closedMs: (await closedAt) - pressedAt, readyMs };
  });
}

async function inCommand(): Promise<readonly Row[]> {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await stopCommand());
  return [
    {
      name: 'ESC during a command: processes gone',
      unit: 'ms',
      value: median(rounds.map((each) => each.goneMs)),
      must: 30,
    },
    {
      name: 'ESC during a command: processes left',
      unit: 'count',
      value: Math.max(...rounds.map((each) => each.left)),
      must: 0,
    },
  ];
}

async function stopCommand(): Promise<{ readonly goneMs: number; readonly left: number }> {
  const command = 'sleep 300 & setsid sleep 301 & echo started; wait';
  const script = [calls(toolUse('Bash', { command, description: 'Wait' })), says('Done.')];
  return withApi({ turns: script }, async ({ project, api }) => {
    await using terminal = await openOuro(project, api.url, ['--allowedTools', 'Bash']);
    const before = (await processesMarked(project.marker)).length;
    const others = new Set((await livingProcesses()).map(({ pid }) => pid));
    terminal.type('go');
    terminal.press('enter');
    // In the read-only sandbox they do not have the marker in their environment.
    const findSleepers = async () =>
      (await livingProcesses()).filter(({ pid, command }) => !others.has(pid) && /^sleep 30[01]/.test(command));
    let pids: readonly number[] = [];
    while (pids.length < 2) {
      await wait(5);
      pids = (await findSleepers()).map(({ pid }) => pid);
    }
    await terminal.waitForText(/started/);
    const pressedAt = performance.now();
    terminal.press('esc');
    // Only these two are checked: searching all of /proc would distort the measurement.
    while (pids.some(isAlive) && performance.now() - pressedAt < 10_000) await wait(0.5);
    const goneMs = performance.now() - pressedAt;
    await terminal.waitForScreen((rows) => !BUSY.test(rows.join('\n')));
    const left = (await processesMarked(project.marker)).length - before;
    return { goneMs, left };
  });
}

function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
