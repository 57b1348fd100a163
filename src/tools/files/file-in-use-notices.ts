import { listProgramsUsingFiles } from '../../lib/processes/open-files.ts';

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
