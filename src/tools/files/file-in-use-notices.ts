import { readFileSync, readlinkSync } from 'node:fs';
import { listFolderNames } from '../../lib/files/read-or-default.ts';
import { createEventLoopYielder } from '../../lib/promises.ts';

/** Time in which changed files are collected for one scan, which reads every descriptor of the system. */
const SCAN_DELAY_MS = 1000;

/** Returns a function to call after each change of a file; a notice names the programs that have the file open. */
export function createOpenFileNotices(
  emit: (text: string) => void,
  maxScanMs = MAX_SCAN_MS,
): (realPath: string) => void {
  let changed: ReadonlySet<string> = new Set();
  let wasCutReported = false;
  async function scan(): Promise<void> {
    const scanned = changed;
    changed = new Set();
    const { programs, checked, total } = await findProgramsUsingFiles(scanned, maxScanMs);
    for (const [realPath, holders] of programs)
      emit(
        `${realPath} is open in ${holders.join(', ')}, which may use the old content until it opens the file again.`,
      );
    if (checked === total || wasCutReported) return;
    wasCutReported = true;
    emit(
      `Changed files may be open in programs that are not named: only ${checked} of ${total} processes were checked within ${maxScanMs / 1000} s.`,
    );
  }
  return (realPath) => {
    // A notice does not keep the process running.
    if (changed.size === 0) setTimeout(() => void scan(), SCAN_DELAY_MS).unref();
    changed = new Set([...changed, realPath]);
  };
}

/** Time limit of a scan: a system can have tens of thousands of processes. */
const MAX_SCAN_MS = 2_000;
/** Suffix of a link to a file that was replaced or removed while it was open. */
const REPLACED = ' (deleted)';

/** The programs that have each file open, as name and pid, and how many of all processes were checked. */
type FileUsers = {
  readonly programs: ReadonlyMap<string, readonly string[]>;
  readonly checked: number;
  readonly total: number;
};

/**
 * Finds the programs that have each of the files open, or an older version of it. Only on Linux, and only processes
 * that ouro may inspect. One scan covers all files, because it reads every descriptor of the system.
 * @internal Exported for tests.
 */
export async function findProgramsUsingFiles(realPaths: ReadonlySet<string>, maxMs: number): Promise<FileUsers> {
  const end = performance.now() + maxMs;
  const yieldToLoop = createEventLoopYielder();
  const programs = new Map<string, readonly string[]>();
  const pids = listFolderNames('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const total = pids.length;
  for (const [checked, pid] of pids.toReversed().entries()) {
    if (performance.now() > end) return { programs, checked, total };
    await yieldToLoop();
    const open = new Set(listFolderNames(`/proc/${pid}/fd`).map((fd) => readLink(`/proc/${pid}/fd/${fd}`)));
    for (const realPath of realPaths) {
      if (!open.has(realPath) && !open.has(`${realPath}${REPLACED}`)) continue;
      programs.set(realPath, [...(programs.get(realPath) ?? []), `${readProgramName(pid)} (process ${pid})`]);
    }
  }
  return { programs, checked: total, total };
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function readProgramName(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return 'a program';
  }
}
