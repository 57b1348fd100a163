import { expect, test } from 'vitest';
import {
  endWindowsTree,
  getWindowsStartTime,
  listWindowsProcesses,
  type WindowsProcessFunctions,
} from '../../../src/lib/processes/windows-processes.ts';

/** Pid, parent, start time, and whether the process has exited while somebody holds a handle of it. */
type Row = readonly [pid: number, parent: number, start: bigint, end?: bigint];

const HANDLE_OF_SNAPSHOT = 9_000;

function createKernel(rows: readonly Row[]) {
  let next = 0;
  const open = new Set<unknown>();
  const writeNext = (entry: unknown) => {
    const row = rows[next];
    next += 1;
    if (row === undefined || !Buffer.isBuffer(entry) || entry.readUInt32LE() !== entry.length) return 0;
    entry.writeUInt32LE(row[0], 8);
    entry.writeUInt32LE(row[1], 32);
    return 1;
  };
  const functions: WindowsProcessFunctions = {
    CreateToolhelp32Snapshot() {
      open.add(HANDLE_OF_SNAPSHOT);
      return HANDLE_OF_SNAPSHOT;
    },
    Process32FirstW: (_, entry) => writeNext(entry),
    Process32NextW: (_, entry) => writeNext(entry),
    OpenProcess(_access, _inherit, pid) {
      if (!rows.some(([id]) => id === pid)) return 0;
      open.add(pid);
      return pid;
    },
    GetProcessTimes(handle, created, exited) {
      const row = rows.find(([pid]) => pid === handle);
      if (row === undefined || !Buffer.isBuffer(created) || !Buffer.isBuffer(exited)) return 0;
      created.writeBigUInt64LE(row[2]);
      exited.writeBigUInt64LE(row[3] ?? 0n);
      return 1;
    },
    CloseHandle(handle) {
      open.delete(handle);
      return 1;
    },
  };
  return { functions, open };
}

test('processes are listed with their parents, and every handle is closed', () => {
  const { functions, open } = createKernel([
    [4, 0, 100n],
    [10, 4, 200n],
    [12, 10, 300n],
  ]);
  expect(listWindowsProcesses(functions)).toEqual([
    { pid: 4, parentPid: 0, startTime: '100' },
    { pid: 10, parentPid: 4, startTime: '200' },
    { pid: 12, parentPid: 10, startTime: '300' },
  ]);
  expect(open).toEqual(new Set());
});

test('a process that has the pid of an exited parent is no parent', () => {
  const { functions } = createKernel([
    [10, 4, 500n],
    [12, 10, 300n],
  ]);
  expect(listWindowsProcesses(functions).map(({ parentPid }) => parentPid)).toEqual([4, 0]);
});

test('a process has a start time until it exits', () => {
  const { functions } = createKernel([
    [10, 4, 200n],
    [12, 10, 300n, 400n],
  ]);
  expect([10, 12, 14].map((pid) => getWindowsStartTime(pid, functions))).toEqual(['200', undefined, undefined]);
});

test('without a list of processes, taskkill ends a whole tree', async () => {
  const runs: unknown[] = [];
  await endWindowsTree(42, async (file, args) => runs.push([file, ...args]));
  expect(runs).toEqual([['taskkill', '/PID', '42', '/T', '/F']]);
});
