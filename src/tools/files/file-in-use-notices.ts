import { readFileSync, readlinkSync } from 'node:fs';
import { listFolderNames } from '../../lib/files/read-or-default.ts';

/** Time in which changed files are collected for one scan, which reads every descriptor of the system. */
const SCAN_DELAY_MS = 1000;

/** Returns a function to call after each change of a file; a notice names the programs that have the file open. */
export function createOpenFileNotices(emit: (text: string) => void): (realPath: string) => void {
  let changed: ReadonlySet<string> = new Set();
  function scan(): void {
    const programs = listProgramsUsingFiles(changed);
    changed = new Set();
    for (const [realPath, holders] of programs)
      emit(
        `${realPath} is open in ${holders.join(', ')}, which may use the old content until it opens the file again.`,
      );
  }
  return (realPath) => {
    // A notice does not keep the process running.
    if (changed.size === 0) setTimeout(scan, SCAN_DELAY_MS).unref();
    changed = new Set([...changed, realPath]);
  };
}

/** Time limit: with very many processes some are not checked. */
const MAX_SCAN_MS = 100;
/** Suffix of a link to a file that was replaced or removed while it was open. */
const REPLACED = ' (deleted)';

/**
 * Lists the programs that have each of the files open, or an older version of it, as name and pid. Only on Linux, and
 * only processes that ouro may inspect. One scan covers all files, because it reads every descriptor of the system.
 * @internal Exported for tests.
 */
export function listProgramsUsingFiles(realPaths: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const end = performance.now() + MAX_SCAN_MS;
  const programs = new Map<string, readonly string[]>();
  const pids = listFolderNames('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  for (const pid of pids.toReversed()) {
    if (performance.now() > end) break;
    const open = new Set(listFolderNames(`/proc/${pid}/fd`).map((fd) => readLink(`/proc/${pid}/fd/${fd}`)));
    for (const realPath of realPaths) {
      if (!open.has(realPath) && !open.has(`${realPath}${REPLACED}`)) continue;
      programs.set(realPath, [...(programs.get(realPath) ?? []), `${readProgramName(pid)} (process ${pid})`]);
    }
  }
  return programs;
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
