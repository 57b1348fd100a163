import { spawnSync } from 'node:child_process';
import { linkSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

const RETRY_MS = 100;
/** Interval of the heartbeat, which shows other containers that the installation is alive. */
const BEAT_MS = 5_000;
const SILENT_MS = 60_000;
/** A lock that was not created by a link may be empty for a moment. */
const WRITING_MS = 1_000;

/** Runs the work while holding the lock. Takes over a lock whose owner is gone. */
export async function holdingLock(file, work) {
  const mine = JSON.stringify({ pid: process.pid, start: startOf(process.pid), host: ownHost() });
  let announced = false;
  while (!acquire(file, mine)) {
    if (!announced) process.stderr.write('ouro: waiting for another start that is installing the libraries …\n');
    announced = true;
    await wait(RETRY_MS);
  }
  const beat = setInterval(() => {
    const now = new Date();
    utimesSync(file, now, now);
  }, BEAT_MS);
  const release = () => {
    clearInterval(beat);
    rmSync(file, { force: true });
  };
  const leave = (signal) => {
    release();
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.on('SIGINT', leave);
  process.on('SIGTERM', leave);
  try {
    return await work();
  } finally {
    process.off('SIGINT', leave);
    process.off('SIGTERM', leave);
    release();
  }
}

/** Creates the lock by a link, which is atomic, so the owner is always readable. Not every disk supports links. */
function acquire(file, mine) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, mine);
  try {
    place(draft, file, mine);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    removeIfAbandoned(file, `${draft}.old`);
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

function place(draft, file, text) {
  try {
    linkSync(draft, file);
  } catch (error) {
    if (['EEXIST', 'ENOENT', 'ENOSPC', 'EROFS'].includes(error.code)) throw error;
    writeFileSync(file, text, { flag: 'wx' });
  }
}

function removeIfAbandoned(file, aside) {
  const owner = readOwner(file);
  if (owner === undefined || isAlive(owner)) return;
  try {
    renameSync(file, aside);
    // Another process may have taken it over meanwhile: then it is restored.
    const moved = readOwner(aside);
    if (moved !== undefined && isAlive(moved)) place(aside, file, readFileSync(aside));
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function readOwner(file) {
  try {
    const text = readFileSync(file, 'utf8');
    const seenMs = statSync(file).mtimeMs;
    if (text === '' && Date.now() - seenMs < WRITING_MS) return undefined;
    return { ...JSON.parse(text), seenMs };
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    return { pid: 0, start: '' };
  }
}

/** Compares pid and start time, because a pid may be reused. */
function isAlive({ pid, start, host, seenMs }) {
  if (host !== undefined && host !== ownHost()) return Date.now() - seenMs < SILENT_MS;
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code === 'ESRCH') return false;
  }
  return startOf(pid) === start;
}

/** Identifies the running system and its pid namespace, in which a pid is unique. */
function ownHost() {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name before the last bracket may contain spaces; the start time is the 20th field after it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    if (process.platform === 'win32') return '';
    return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? '';
  }
}
