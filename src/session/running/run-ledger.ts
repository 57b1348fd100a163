import { appendFileSync, existsSync, mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { readdir, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { markOf, type ProcessMark, processState } from '../../lib/processes/process-mark.ts';
import { endRun, type Leftover, reapLeftovers } from '../../lib/processes/process-tree.ts';

/** What one run of ouro starts, kept where the next start finds it when this one had no time to clean up. */
export type RunLedger = {
  /** The mark that every child of this run carries in its environment. */
  readonly mark: string;
  /** What this session keeps of the workspace while commands run has to be looked after, should the run be killed. */
  works(sessionFolder: string): void;
  started(child: Leftover): void;
  ended(pgid: number): void;
  /** Everything has ended: there is nothing to be found. */
  close(): void;
};

type Owner = ProcessMark & { readonly run: string };

/** TERM first; what has not gone after this long is killed, so that nobody's first prompt waits. */
const PATIENCE_MS = 500;

const folderOf = (ouroHome: string) => join(ouroHome, 'running');

/** Written before anything is started, and at once: a process that dies has no second chance. */
export function openRunLedger(ouroHome: string, mark: string): RunLedger {
  const owner: Owner = { run: mark, ...markOf() };
  const path = join(folderOf(ouroHome), `${mark}.jsonl`);
  attempt(() => {
    mkdirSync(folderOf(ouroHome), { recursive: true, mode: 0o700 });
    writeFileSync(path, line(owner), { mode: 0o600, flag: 'wx' });
  });
  return {
    mark,
    works: (session) => attempt(() => appendFileSync(path, line({ session }))),
    started: ({ pgid, startTime, marker }) => attempt(() => appendFileSync(path, line({ pgid, startTime, marker }))),
    ended: (pgid) => attempt(() => appendFileSync(path, line({ ended: pgid }))),
    close: () => attempt(() => unlinkSync(path)),
  };
}

/** Where nothing can be written there is no ledger; that the store fails is told by the session itself. */
function attempt(write: () => void): void {
  try {
    write();
  } catch {
    // See above.
  }
}

const line = (value: object) => `${JSON.stringify(value)}\n`;

/** Ends what runs left that were killed, and forgets them. Answers how many runs had left a ledger. */
export async function reapDeadRuns(ouroHome: string): Promise<number> {
  const names = await readdir(folderOf(ouroHome)).catch(() => []);
  const dead = await Promise.all(
    names.filter((name) => name.endsWith('.jsonl')).map((name) => reapRun(join(folderOf(ouroHome), name))),
  );
  return dead.filter((was) => was === 'dead').length;
}

/** Folders of sessions whose run was killed and that still keep the workspace for a command. */
export async function waitingSessions(ouroHome: string): Promise<readonly string[]> {
  const names = await readdir(folderOf(ouroHome)).catch(() => []);
  const found = names.map(async (name) => {
    const [owner, ...rest] = await entriesOf(join(folderOf(ouroHome), name));
    return isOwner(owner) && processState(owner) === 'dead' ? rest.flatMap(waitingIn) : [];
  });
  return [...new Set((await Promise.all(found)).flat())];
}

function waitingIn({ session }: Entry): readonly string[] {
  return typeof session === 'string' && existsSync(join(session, 'checkpoints', 'pack')) ? [session] : [];
}

async function entriesOf(path: string): Promise<readonly Entry[]> {
  return (await readFile(path, 'utf8').catch(() => '')).split('\n').flatMap(parsed);
}

async function reapRun(path: string): Promise<'alive' | 'dead'> {
  const [owner, ...rest] = await entriesOf(path);
  if (isOwner(owner)) {
    const state = processState(owner);
    if (state === 'alive') return 'alive';
    // Its processes are not ours to end, nor could they be seen; a container that is gone has taken them along.
    if (state === 'elsewhere') return (await isForgotten(path)) ? forget(path) : 'alive';
    const since = performance.now();
    await endRun(owner.run, () => performance.now() - since > PATIENCE_MS);
    const ended = new Set(rest.map((entry) => entry.ended));
    await reapLeftovers(rest.filter(isLeftover).filter(({ pgid }) => !ended.has(pgid)));
  }
  // It is needed until somebody has looked after what its session keeps.
  return rest.some((entry) => waitingIn(entry).length > 0) ? 'dead' : forget(path);
}

async function forget(path: string): Promise<'dead'> {
  await unlink(path).catch(() => undefined);
  return 'dead';
}

const FORGOTTEN_MS = 7 * 86_400_000;

async function isForgotten(path: string): Promise<boolean> {
  const at = await stat(path).catch(() => undefined);
  return at === undefined || Date.now() - at.mtimeMs > FORGOTTEN_MS;
}

type Entry = { readonly [name: string]: unknown };

/** The last line may be torn. */
function parsed(text: string): readonly Entry[] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? [{ ...value }] : [];
  } catch {
    return [];
  }
}

function isOwner(entry: Entry | undefined): entry is Owner & Entry {
  return typeof entry?.run === 'string' && typeof entry.pid === 'number' && typeof entry.startTime === 'string';
}

function isLeftover(entry: Entry): entry is Leftover & Entry {
  return typeof entry.pgid === 'number' && typeof entry.startTime === 'string' && typeof entry.marker === 'string';
}
