import { createLazy } from '../memoize.ts';
import { runProgram } from './run-program.ts';

/** A running process of Windows. */
export type WindowsProcess = { readonly pid: number; readonly parentPid: number; readonly startTime: string };

/** The functions of kernel32 that list processes, as `bun:ffi` offers them. */
export type WindowsProcessFunctions = Readonly<
  Record<keyof typeof SIGNATURES, (...args: readonly Argument[]) => unknown>
>;

type Argument = Uint8Array | number;

/** Lists the running processes; a parent pid that belongs to a younger process is dropped. */
export function listWindowsProcesses(
  functions: WindowsProcessFunctions | undefined = openFunctions(),
): readonly WindowsProcess[] {
  if (functions === undefined) return [];
  const snapshot = Number(functions.CreateToolhelp32Snapshot(SNAPSHOT_OF_PROCESSES, 0));
  const entry = Buffer.alloc(ENTRY_BYTES);
  entry.writeUInt32LE(ENTRY_BYTES);
  const found: WindowsProcess[] = [];
  for (let next = functions.Process32FirstW(snapshot, entry); next !== 0; ) {
    const pid = entry.readUInt32LE(PID_OFFSET);
    found.push({ pid, parentPid: entry.readUInt32LE(PARENT_OFFSET), startTime: readStartTime(functions, pid) ?? '' });
    next = functions.Process32NextW(snapshot, entry);
  }
  functions.CloseHandle(snapshot);
  const startTimes = new Map(found.map(({ pid, startTime }) => [pid, Number(startTime)]));
  return found.map((one) => {
    const isReused = (startTimes.get(one.parentPid) ?? 0) > Number(one.startTime);
    return isReused ? { ...one, parentPid: 0 } : one;
  });
}

/** Returns the start time of a process in units of 100 ns; `undefined` if it does not run. */
export function getWindowsStartTime(
  pid: number,
  functions: WindowsProcessFunctions | undefined = openFunctions(),
): string | undefined {
  return functions === undefined ? undefined : readStartTime(functions, pid);
}

/** Returns whether this runtime can list processes: Node has no `bun:ffi`. */
export const canListWindowsProcesses = () => openFunctions() !== undefined;

type RunTaskkill = (file: string, args: readonly string[], options: { readonly timeoutMs: number }) => Promise<unknown>;

/** Ends a process and its descendants without a list of processes. */
export async function endWindowsTree(pid: number, run: RunTaskkill = runProgram): Promise<void> {
  await run('taskkill', ['/PID', String(pid), '/T', '/F'], { timeoutMs: TASKKILL_TIMEOUT_MS });
}

const TASKKILL_TIMEOUT_MS = 5_000;

function readStartTime(functions: WindowsProcessFunctions, pid: number): string | undefined {
  const handle = Number(functions.OpenProcess(QUERY_LIMITED_INFORMATION, 0, pid));
  if (handle === 0) return undefined;
  const [created, exited, kernel, user] = [Buffer.alloc(8), Buffer.alloc(8), Buffer.alloc(8), Buffer.alloc(8)];
  const isKnown = functions.GetProcessTimes(handle, created, exited, kernel, user) !== 0;
  functions.CloseHandle(handle);
  // A process that somebody holds a handle of can be opened after it has exited.
  return isKnown && exited.readBigUInt64LE() === 0n ? String(created.readBigUInt64LE()) : undefined;
}

const SNAPSHOT_OF_PROCESSES = 2;
const QUERY_LIMITED_INFORMATION = 0x10_00;
/** Size and fields of PROCESSENTRY32W on 64-bit systems. */
const ENTRY_BYTES = 568;
const PID_OFFSET = 8;
const PARENT_OFFSET = 32;

/** Opens the functions through `bun:ffi`, because Node has no API for them; `undefined` on other runtimes. */
const openFunctions = createLazy((): WindowsProcessFunctions | undefined => {
  const ffi: object = process.getBuiltinModule('bun:ffi') ?? {};
  if (!('dlopen' in ffi) || typeof ffi.dlopen !== 'function') return undefined;
  return ffi.dlopen('kernel32.dll', SIGNATURES).symbols;
});

const SIGNATURES = {
  CreateToolhelp32Snapshot: { args: ['u32', 'u32'], returns: 'ptr' },
  Process32FirstW: { args: ['ptr', 'ptr'], returns: 'i32' },
  Process32NextW: { args: ['ptr', 'ptr'], returns: 'i32' },
  OpenProcess: { args: ['u32', 'i32', 'u32'], returns: 'ptr' },
  GetProcessTimes: { args: ['ptr', 'ptr', 'ptr', 'ptr', 'ptr'], returns: 'i32' },
  CloseHandle: { args: ['ptr'], returns: 'i32' },
} as const;
