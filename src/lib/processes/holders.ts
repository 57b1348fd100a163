import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** On a machine with very many processes not all of them are asked. */
const MOST_MS = 100;

/** Programs that have a file open, by name and number, as far as they may be looked at; Linux alone tells it quickly. */
export function programsHolding(realPath: string): readonly string[] {
  const end = performance.now() + MOST_MS;
  const pids = namesIn('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.toReversed().flatMap((name) => {
    if (performance.now() > end) return [];
    const isHolding = namesIn(`/proc/${name}/fd`).some((fd) => linkOf(`/proc/${name}/fd/${fd}`) === realPath);
    return isHolding ? [`${programOf(name)} (process ${name})`] : [];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function programOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return 'a program';
  }
}
